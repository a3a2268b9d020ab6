"""Run a submitted model over the clips of one phase and record what it answers.

Usage: python3 ingestion.py [INPUT_DATA] [OUTPUT] [PROGRAM] [SUBMISSION]
The defaults are the folders that Codabench mounts. Exit codes: 0 recorded (also in part), 1 the submission cannot be
judged, 2 the organiser's settings, data or image are wrong.
"""

import sys
from pathlib import Path

from ingest.clock import Clock
from ingest.packages import PackagesMissing, provide

DEFAULTS = ("/app/input_data/", "/app/output/", "/app/program", "/app/ingested_program")
# What the image must hold; pandas and scikit-learn are for the participants' models.
MODULES = ("av", "cv2", "numpy", "pandas", "sklearn", "yaml")


def main(arguments: list[str]) -> int:
    """Run ingestion on the folders named by `arguments`, each falling back to its default."""
    if len(arguments) > len(DEFAULTS) or any(argument in {"-h", "--help"} for argument in arguments):
        print(__doc__)  # noqa: T201 - the usage text is this script's only direct output
        return 2
    clock = Clock()
    input_data, output, program, submission = (Path(p) for p in (*arguments, *DEFAULTS[len(arguments) :]))
    try:
        packages = provide(Path(__file__).parent, MODULES)
    except PackagesMissing as error:
        from ingest.stopped import leave_record  # noqa: PLC0415 - only then

        return leave_record(output, program, clock, str(error))
    from ingest.pipeline import run  # noqa: PLC0415 - it needs the packages

    return run(
        input_data=input_data, output=output, program=program, submission=submission, packages=packages, clock=clock
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
