"""One submission from its folder or zip to its leaderboard row, for every task of a phase."""

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.competition import Competition, Phase, Task
from bundle_tools.codabench.worker import RunFailed, jobs
from bundle_tools.codabench.worker.engine import Engine
from bundle_tools.codabench.worker.verdict import Verdict, failed, judge
from bundle_tools.console import say
from bundle_tools.errors import BundleError

# A folder that carries this file was made by `bundle run` and may be replaced by it.
MARKER = ".bundle-run"
Predict = Callable[[jobs.Job, Task, Path], None]
"""Fills the output of a job with the predictions of a submission's zip; see `jobs.predict`."""
JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "__pycache__"})


def run_submission(
    competition: Competition,
    phase: Phase,
    submission: Path,
    out: Path,
    engine: Engine,
    limit: jobs.Limit,
    given_data: Path | None = None,
    predict: Predict = jobs.predict,
) -> list[tuple[str, Verdict]]:
    """Run both jobs of every task, and leave `ingestion_output/`, `scoring_output/` and `logs/` in `out`.

    A phase with several tasks gets a folder with these for each.

    Parameters
    ----------
    engine
        The engine that runs the containers.
    limit
        Time of each job.
    given_data
        The worker's own data, for `/app/data`; None gives an empty folder.
    predict
        What fills the output of the first job.

    Returns
    -------
    list
        Name of each task, and the submission's verdict there.

    Raises
    ------
    BundleError
        When nothing can be run here.
    """
    if not submission.is_dir() and not submission.is_file():
        raise BundleError(f"{submission}: expected the folder or the zip of a submission, found nothing there.")
    if given_data is not None and not given_data.is_dir():
        raise BundleError(f"--data {given_data}: expected a folder, found none.")
    _refuse_what_is_elsewhere(phase)
    _fresh(out, submission)
    notes = engine.prepare()
    with tempfile.TemporaryDirectory(prefix=".work-", dir=out, ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        packed = submission
        if submission.is_dir():
            packed = work / "submission.zip"
            zip_folder(submission, packed)
        data = work / "data" if given_data is None else given_data.resolve()
        data.mkdir(exist_ok=True)
        notes += _look_over(packed)
        worker = jobs.Worker(engine, limit, data, out / "logs")
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
            verdict = _run_task(
                competition, task, packed, place, work / str(number), own, notes, alone=alone, predict=predict
            )
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
    predict: Predict,
) -> Verdict:
    notes = list(said)
    predictions = work / "predictions.zip"
    worker.logs.mkdir()
    try:
        say("Ingestion" if task.ingestion_program is not None else "No ingestion program: a submission of results")
        job = jobs.Job(worker, work / "1", notes)
        try:
            predict(job, task, submission)
        finally:
            _keep(job, out / "ingestion_output")
        _compare_with_limit("ingestion", job)
        try:
            zip_folder(job.output, predictions)
        except BundleError as error:
            raise RunFailed(f"the predictions cannot be packed: {error}") from error
        say("Scoring")
        job = jobs.Job(worker, work / "2", notes)
        try:
            jobs.score(job, task, predictions)
        finally:
            _keep(job, out / "scoring_output")
        _compare_with_limit("scoring", job)
        return judge(competition, job, computed=alone)
    except RunFailed as error:
        return failed(str(error), notes)
    except PermissionError as error:
        # The worker is root and would continue; here, the program has locked this user out of a folder.
        raise BundleError(
            f"a program removed permissions that this command needs: {error}. Run this as root."
        ) from error


def _refuse_what_is_elsewhere(phase: Phase) -> None:
    """Refuse a bundle without all parts that a run needs, and name what is missing."""
    wrong = [] if phase.tasks else [f"phase {phase.name}: expected a task, found none."]
    for task in phase.tasks:
        wrong += [
            f"task {task.name}: its {key} is stored on the server, not in the bundle. Download it, and name its path."
            for key in task.on_server
        ]
        if task.ingestion_only_during_scoring:
            wrong.append(
                f"task {task.name}: ingestion_only_during_scoring is not supported. Codabench advises against it."
            )
        parts = (task.scoring_program, task.ingestion_program, task.input_data, task.reference_data)
        wrong += [f"{path}: expected a folder or a zip, found nothing." for path in parts if path and not path.exists()]
    if wrong:
        raise BundleError(" ".join(wrong))


def _compare_with_limit(name: str, job: jobs.Job) -> None:
    """Note where the platform might have ended a job; it does not always do so."""
    limit = job.worker.limit
    if job.elapsed_s > limit.seconds:
        note = (
            f"{name}: it took {job.elapsed_s:.1f} s, more than the limit of {limit.seconds} s ({limit.origin}). "
            "Release 1.25 lets it run on; a worker that keeps the limit fails it (--over-limit kill)."
        )
        say(f"WARNING: {note}")
        job.notes.append(note)


def _look_over(archive: Path) -> list[str]:
    """Note oddities of a submission's zip that the platform accepts; a file that is not a zip gets no notes."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [PurePosixPath(info.filename) for info in opened.infolist() if not info.is_dir()]
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        return []
    junk = sorted({part for name in names for part in name.parts if part in JUNK})
    own = [name for name in names if not JUNK.intersection(name.parts)]
    notes = []
    if junk:
        notes.append(f"submission: it contains {', '.join(junk)}. Leave these out of the zip.")
    if own and len({name.parts[0] for name in own}) == 1 and all(len(name.parts) > 1 for name in own):
        folder = own[0].parts[0]
        notes.append(
            f"submission: all files are in the folder {folder!r}, and the platform leaves them there. "
            "Zip what is inside the folder."
        )
    return notes


def _fresh(out: Path, submission: Path) -> None:
    """Make `out` an empty folder; never delete files of others."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BundleError(f"--out {out}: expected a folder, found something else. Choose another folder.")
    if submission.is_dir() and out.resolve().is_relative_to(submission.resolve()):
        raise BundleError(f"--out {out}: is inside the submission. Choose a folder elsewhere.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise BundleError(f"--out {out}: contains files that `bundle run` did not write. Choose another folder.")
        try:
            shutil.rmtree(out)
        except OSError as error:
            raise BundleError(
                f"--out {out}: cannot be replaced: {error}. Delete it, or choose another folder."
            ) from error
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("Made by `bundle run`; the next run into this folder replaces it.\n", encoding="utf-8")


def _keep(job: jobs.Job, target: Path) -> None:
    """Move a job's output to its final place."""
    shutil.move(job.output, target)
    job.output = target
