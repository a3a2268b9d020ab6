"""The first steps of a run, which need no packages: folders, packages, and a record if packages are missing."""

import ctypes
import os
import sys
from pathlib import Path

from ingest import DEFAULTS
from ingest.causes import CAUSES
from ingest.clock import Clock
from ingest.errors import Problem
from ingest.keeper import KeyKeeper
from ingest.log import Log, say, speak_utf8
from ingest.packages import PackagesMissing, provide
from ingest.record import empty_folder, run_record, write_manifest, write_run
from ingest.stats import RunStats

# What the program needs; pandas and scikit-learn are for the participants' models.
MODULES = ("av", "cv2", "numpy", "pandas", "pydantic", "sklearn", "yaml")
PROGRAM = Path(__file__).resolve().parent.parent
ORGANISER_ERROR = 2
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3
"""Options of glibc's mallopt(3): how many heaps there may be, and from which size memory lies outside of them."""
LARGEST_ON_HEAP = 1 << 18
"""Bytes. Frames of a decoder, which are larger, would leave holes in the heaps."""


def main(arguments: list[str], usage: str) -> int:
    """Run ingestion on the folders named by `arguments`, each falling back to its default; return the exit code."""
    if len(arguments) > len(DEFAULTS) or any(argument in {"-h", "--help"} for argument in arguments):
        sys.stdout.write(usage)
        return ORGANISER_ERROR
    speak_utf8()
    # By default each thread that decodes has a heap of its own, which keeps what it once needed.
    if hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(M_ARENA_MAX, 2)
        library.mallopt(M_MMAP_THRESHOLD, LARGEST_ON_HEAP)
    # Whatever umask the worker set, it must be able to read the output.
    os.umask(0o022)
    clock = Clock()
    input_data, output, program, submission = (Path(p) for p in (*arguments, *DEFAULTS[len(arguments) :]))
    try:
        empty_folder(output)
        return _run(input_data, output, program, submission, clock, KeyKeeper(program))
    except OSError as error:  # all other errors are recorded
        found = f"{error.strerror}" + (f": {error.filename}" if error.filename else "")
        say(f"[ingestion] {CAUSES['output'].as_problem('run', str(output), found=found).line()}")
        return ORGANISER_ERROR


def _run(input_data: Path, output: Path, program: Path, submission: Path, clock: Clock, keeper: KeyKeeper) -> int:
    try:
        packages = provide(PROGRAM, MODULES)
    except PackagesMissing as error:
        return _leave_record(output, keeper, clock, str(error))
    from ingest.pipeline import run  # noqa: PLC0415 - it imports the packages

    return run(
        input_data=input_data,
        output=output,
        program=program,
        submission=submission,
        packages=packages,
        clock=clock,
        keeper=keeper,
    )


def _leave_record(output: Path, keeper: KeyKeeper, clock: Clock, advice: str) -> int:
    """Tell scoring, and with it the report, that the image lacks packages."""
    log, stats = Log(output / "log.txt"), RunStats()
    expected, fix = "the packages of requirements.lock", "organisers: follow log.txt"
    problem = Problem("packages_missing", "run", "the image", "no such packages", expected, fix)
    stats.end("organiser_error", [problem, *keeper.problems])
    log.line(advice, summary=True)
    log.close()
    write_run(output, run_record(stats, clock, None, Path("task.yaml"), (None, (), None)))
    write_manifest(output, keeper.sign if keeper.keyed else None)
    return ORGANISER_ERROR
