"""The whole of ingestion: check settings, data and submission, run the clips, write the record of the run."""

import hashlib
import os
import platform
import traceback
from importlib import metadata
from pathlib import Path
from typing import Any

from ingest import VERSION
from ingest.clock import Clock
from ingest.data import read_clips
from ingest.errors import IngestionError, Problem
from ingest.log import Log
from ingest.results import FORMAT_VERSION, Results, empty_folder, write_manifest, write_run, write_text
from ingest.runner import Runner
from ingest.settings import Task, read_task
from ingest.submission import check_submission, hash_submission
from ingest.tally import CLIP_STATUSES, RunStatus, Tally

EXIT_CODES: dict[RunStatus, int] = {"complete": 0, "partial": 0, "invalid": 1, "organiser_error": 2}
SETTINGS = "task.yaml"
PACKAGES = ("numpy", "pandas", "PyYAML", "scikit-learn", "opencv-python-headless", "av", "torch")


def run(*, input_data: Path, output: Path, program: Path, submission: Path) -> int:
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
    """
    clock = Clock()
    empty_folder(output)
    log = Log(output / "log.txt")
    log.line(f"version {VERSION}, program in {program}")
    tally = Tally()
    task: Task | None = None
    submission_sha256: str | None = None
    try:
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
            runner = Runner(task, submission, Results(output, task.targets), clock, log, tally)
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
    write_run(output, _record(tally, task, input_data, submission_sha256, clock))
    write_manifest(output)
    return EXIT_CODES[tally.status]


def _record(
    tally: Tally, task: Task | None, input_data: Path, submission_sha256: str | None, clock: Clock
) -> dict[str, Any]:
    settings = input_data / SETTINGS
    return {
        "format_version": FORMAT_VERSION,
        "program_version": VERSION,
        "task": task and task.name,
        "data_version": task and task.data_version,
        "status": tally.status,
        "clips": {"total": tally.total, **{status: tally.clips[status] for status in CLIP_STATUSES}},
        "problems": [problem.record() for problem in tally.problems],
        "duration_s": round(clock.elapsed_s(), 3),
        "time_limit_s": task and task.limits.time_limit_s,
        "isolation": "process",
        "submission_sha256": submission_sha256,
        "settings_sha256": hashlib.sha256(settings.read_bytes()).hexdigest() if settings.is_file() else None,
        "python": platform.python_version(),
        "packages": _installed(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "load_s": round(tally.load_s, 3),
        "restarts": tally.restarts,
    }


def _installed() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
