"""The scoring program: compares the records of ingestion with the reference data."""

from pathlib import Path

__version__ = "0.1.0"

DEFAULTS = ("/app/input/", "/app/output/")
"""Where Codabench mounts the input of scoring, and where it looks for the scores."""
PROGRAM = Path(__file__).resolve().parent.parent
"""The folder of the program: what was uploaded."""
