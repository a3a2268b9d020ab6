"""The record of a run that ended before it began, written without any package."""

from pathlib import Path

from ingest.clock import Clock
from ingest.errors import IngestionError, Problem
from ingest.folder import empty_folder, write_manifest, write_run
from ingest.log import Log
from ingest.record import run_record
from ingest.seal import take_key
from ingest.tally import Tally

EXIT_CODE = 2


def leave_record(output: Path, program: Path, clock: Clock, advice: str) -> int:
    """Tell scoring, and with it the report, that the image lacks packages; return the exit code."""
    empty_folder(output)
    log = Log(output / "log.txt")
    tally = Tally()
    expected, fix = "the packages of requirements.lock", "organisers: see the guide, or the message in log.txt"
    tally.end(
        "organiser_error",
        [Problem("packages_missing", "run", "the image", "missing packages", expected, fix, fault="organiser")],
    )
    for line in advice.splitlines():
        log.line(line, summary=True)
    log.close()
    try:
        key = take_key(program)
    except IngestionError as error:
        key = None
        tally.problems += error.problems
    write_run(output, run_record(tally, clock, None, Path("task.yaml"), None))
    write_manifest(output, key)
    return EXIT_CODE
