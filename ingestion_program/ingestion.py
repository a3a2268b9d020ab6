"""Run a submitted model over the clips of one phase and record its answers.

Usage: python3 ingestion.py [INPUT_DATA] [OUTPUT] [PROGRAM] [SUBMISSION]
The defaults are the folders that Codabench mounts. Exit codes: 0 recorded (also in part), 1 the submission cannot be
judged, 2 the organiser's settings, data or image are wrong.
"""

import sys

from ingest.start import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], usage=__doc__))
