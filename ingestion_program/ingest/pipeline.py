"""The whole of ingestion: check settings, data and submission, run the clips, write the record of the run."""

import traceback
from pathlib import Path

from ingest import VERSION
from ingest.clock import Clock
from ingest.data import read_clips
from ingest.errors import IngestionError, Problem
from ingest.folder import empty_folder, write_manifest, write_run, write_text
from ingest.guard import close_the_curtains
from ingest.log import Log
from ingest.record import run_record
from ingest.results import Results
from ingest.runner import Runner
from ingest.seal import take_key
from ingest.settings import Task, read_task
from ingest.submission import check_submission, hash_submission
from ingest.tally import RunStatus, Tally

EXIT_CODES: dict[RunStatus, int] = {"complete": 0, "partial": 0, "invalid": 1, "organiser_error": 2}
SETTINGS = "task.yaml"


def run(*, input_data: Path, output: Path, program: Path, submission: Path, packages: Path | None, clock: Clock) -> int:
    """Run ingestion and return its exit code.

    Parameters
    ----------
    input_data
        The phase's input folder, with `task.yaml`.
    output
        Emptied first, then filled with the files of the output format.
    program
        The folder of this program.
    submission
        The participant's unzipped submission.
    packages
        Where the program's packages were installed for this run; None where they came with the image.
    clock
        Started when the program started: installing packages costs time of the same budget.
    """
    close_the_curtains()
    empty_folder(output)
    log = Log(output / "log.txt")
    log.line(f"version {VERSION}, program in {program}")
    tally = Tally()
    task: Task | None = None
    submission_sha256: str | None = None
    key: bytes | None = None
    try:
        key = take_key(program)
        task = read_task(input_data / SETTINGS)
        clock.set_limit(task.limits.time_limit_s)
        log.line(f"task {task.name}, data {task.data_version}: checking the clips")
        clips = read_clips(input_data, task)
        tally.total = len(clips)
        problems = check_submission(submission)
        submission_sha256 = hash_submission(submission)
        if problems:
            tally.end("invalid", problems)
        else:
            runner = Runner(task, submission, packages, Results(output, task.targets), clock, log, tally)
            runner.run(clips)
            if task.show_model_output and runner.model_output:
                write_text(output, "model_output.txt", runner.model_output.decode("utf-8", "backslashreplace"))
    except IngestionError as error:
        tally.end("organiser_error", error.problems)
    except Exception as error:  # noqa: BLE001 - without a record of the run scoring could not say what happened
        traceback.print_exc()
        found = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        fix = "run it again; if it happens again, report it with the log"
        problem = Problem("unexpected", "run", "ingestion", found, "no error in this program", fix, fault="organiser")
        tally.end("organiser_error", [problem])
    tally.summarise(log)
    log.line(f"{tally.status} after {clock.elapsed_s():.1f} s", summary=True)
    log.close()
    write_run(output, run_record(tally, clock, task, input_data / SETTINGS, submission_sha256))
    write_manifest(output, key)
    return EXIT_CODES[tally.status]
