"""Score one run: ``python3 scoring.py [INPUT [OUTPUT]]``; see docs/output_format.md and docs/metrics.md."""

import sys

sys.dont_write_bytecode = True  # the program folder is mounted read-only or discarded

from score.start import main  # noqa: E402 - the switch above has to come first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
