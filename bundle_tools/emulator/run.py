"""One submission from its folder or zip to its leaderboard row, for every task of a phase."""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from bundle_tools.archive import zip_folder
from bundle_tools.competition import Competition, Phase, Task
from bundle_tools.console import say
from bundle_tools.emulator import jobs
from bundle_tools.emulator.engine import Engine
from bundle_tools.emulator.failures import RunFailed
from bundle_tools.emulator.limits import Limit
from bundle_tools.emulator.submission import look_over
from bundle_tools.emulator.verdict import Verdict, failed, judge
from bundle_tools.errors import BundleError

# A folder that carries this file was made by `bundle run` and may be replaced by it.
MARKER = ".bundle-run"


@dataclass(frozen=True)
class Options:
    """How to run."""

    engine: Engine
    """What runs the containers."""
    limit: Limit
    """Time of each job."""
    newer: bool = False
    """Whether the server is newer than 1.25."""
    data: Path | None = None
    """The worker's own data, for `/app/data`; None gives an empty folder."""


def run_submission(
    competition: Competition, phase: Phase, submission: Path, out: Path, options: Options
) -> list[tuple[str, Verdict]]:
    """Run both jobs of every task, and leave `ingestion_output/`, `scoring_output/` and `logs/` in `out`.

    A phase with several tasks gets a folder with these for each.

    Returns
    -------
    list
        Name of each task, and how the submission ends there.

    Raises
    ------
    BundleError
        When nothing can be run here at all.
    """
    if not submission.is_dir() and not submission.is_file():
        raise BundleError(f"{submission}: expected the folder or the zip of a submission, found nothing there.")
    if options.data is not None and not options.data.is_dir():
        raise BundleError(f"--data {options.data}: expected a folder, found none.")
    _refuse_what_is_elsewhere(phase)
    _fresh(out, submission)
    notes = options.engine.prepare()
    with tempfile.TemporaryDirectory(prefix=".work-", dir=out, ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        packed = submission
        if submission.is_dir():
            packed = work / "submission.zip"
            zip_folder(submission, packed)
        data = work / "data" if options.data is None else options.data.resolve()
        data.mkdir(exist_ok=True)
        notes += look_over(packed)
        worker = jobs.Worker(options.engine, options.limit, data, options.newer, out / "logs")
        say(f"{submission.name} on phase {phase.name}")
        alone = len(phase.tasks) == 1
        verdicts = []
        for number, task in enumerate(phase.tasks):
            place = out
            if not alone:
                say(f"Task {task.name}")
                twin = task.slug in [other.slug for other in phase.tasks[:number]]
                place = out / (f"{task.slug}-{number}" if twin else task.slug)
                place.mkdir()
            own = replace(worker, logs=place / "logs")
            verdict = _run_task(competition, task, packed, place, work / str(number), own, notes, alone=alone)
            verdicts.append((task.name, verdict))
        return verdicts


def _run_task(
    competition: Competition,
    task: Task,
    submission: Path,
    out: Path,
    work: Path,
    worker: jobs.Worker,
    said: list[str],
    *,
    alone: bool,
) -> Verdict:
    notes = list(said)
    predictions = work / "predictions.zip"
    worker.logs.mkdir()
    try:
        say("Ingestion" if task.ingestion_program is not None else "No ingestion program: a submission of results")
        try:
            predicted = jobs.prediction_job(task, submission, work / "1", worker, notes)
        finally:
            _keep(work / "1" / "app" / "output", out / "ingestion_output")
        _compare_with_limit("ingestion", predicted, worker.limit, notes)
        try:
            zip_folder(out / "ingestion_output", predictions)
        except BundleError as error:
            raise RunFailed(f"the predictions cannot be packed: {error}") from error
        say("Scoring")
        try:
            scored = jobs.scoring_job(task, submission, predictions, work / "2", worker, notes)
        finally:
            _keep(work / "2" / "app" / "output", out / "scoring_output")
        _compare_with_limit("scoring", scored, worker.limit, notes)
        return judge(competition, replace(scored, output=out / "scoring_output"), notes, computed=alone)
    except RunFailed as error:
        return failed(str(error), notes)
    except PermissionError as error:
        # The worker is root and goes on; the program has locked this user out of a folder of the run.
        raise BundleError(f"a program took away the permission to go on: {error}. Run this as root.") from error


def _refuse_what_is_elsewhere(phase: Phase) -> None:
    """Name everything that a run needs and that is not in the bundle."""
    wrong = [] if phase.tasks else [f"phase {phase.name}: expected a task, found none."]
    for task in phase.tasks:
        wrong += [
            f"task {task.name}: its {key} is stored on the server, not in the bundle. Download it, and name its path."
            for key in task.on_server
        ]
        if task.ingestion_only_during_scoring:
            wrong.append(
                f"task {task.name}: ingestion_only_during_scoring is not imitated. Codabench itself advises against it."
            )
        parts = (task.scoring_program, task.ingestion_program, task.input_data, task.reference_data)
        wrong += [f"{path}: expected a folder or a zip, found nothing." for path in parts if path and not path.exists()]
    if wrong:
        raise BundleError(" ".join(wrong))


def _compare_with_limit(name: str, job: jobs.Job, limit: Limit, notes: list[str]) -> None:
    """Say where the platform might have ended a job; whether it does cannot be relied on."""
    if job.elapsed_s > limit.seconds:
        note = (
            f"{name}: it took {job.elapsed_s:.1f} s, more than the limit of {limit.seconds} s ({limit.origin}). "
            "Release 1.25 lets it run on; a worker that keeps the limit fails it (--over-limit kill)."
        )
        say(f"WARNING: {note}")
        notes.append(note)


def _fresh(out: Path, submission: Path) -> None:
    """Make `out` an empty folder of ours; never delete what somebody else put there."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BundleError(f"--out {out}: expected a folder, found something else. Choose another folder.")
    if submission.is_dir() and out.resolve().is_relative_to(submission.resolve()):
        raise BundleError(f"--out {out}: lies inside the submission. Choose a folder elsewhere.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise BundleError(f"--out {out}: holds files that `bundle run` did not make. Choose another folder.")
        try:
            shutil.rmtree(out)
        except OSError as error:
            raise BundleError(
                f"--out {out}: cannot be replaced: {error}. Delete it, or choose another folder."
            ) from error
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("Made by `bundle run`; the next run into this folder replaces it.\n", encoding="utf-8")


def _keep(folder: Path, target: Path) -> None:
    # A program may have put a link in its place.
    if folder.is_dir() and not folder.is_symlink():
        shutil.move(folder, target)
    else:
        target.mkdir()
