"""One submission from its folder or zip to its leaderboard row, for every task of a phase."""

import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from bundle_tools.codabench.archive import UNREADABLE, leads_out, zip_folder
from bundle_tools.codabench.competition import BundleTask, Competition, Phase
from bundle_tools.codabench.trust import code_of, ensure_trusted
from bundle_tools.codabench.worker import RunFailed, engine, jobs
from bundle_tools.codabench.worker.engine import Docker
from bundle_tools.codabench.worker.jobs import Job, Limit
from bundle_tools.codabench.worker.verdict import JobResult, job_result
from bundle_tools.console import say
from bundle_tools.errors import BundleError

MARKER = ".bundle-run"
"""A folder with this file was made by `bundle run` and may be replaced by it."""
JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "__pycache__"})


def run_submission(
    competition: Competition,
    phase: Phase,
    submission: Path,
    out: Path,
    docker: Docker | None,
    limit: Limit,
    given_data: Path | None = None,
) -> list[tuple[str, JobResult]]:
    """Run both jobs of every task, and leave `ingestion_output/`, `scoring_output/` and `logs/` in `out`.

    A phase with several tasks gets a folder with these for each. `docker`: what runs the containers; None for
    processes. `limit`: time of each job. `given_data`: the worker's own data, for `/app/data`; None gives an empty
    folder.
    Returns the name of each task, and the submission's verdict there. Raises BundleError when nothing can be run here,
    or when the user does not trust the programs.
    """
    if not submission.is_dir() and not submission.is_file():
        raise BundleError(f"{submission}: expected the folder or the zip of a submission, found nothing there.")
    if given_data is not None and not given_data.is_dir():
        raise BundleError(f"--data {given_data}: expected a folder, found none.")
    refuse_what_is_elsewhere(competition.root, phase)
    ensure_trusted(code_of(phase.tasks))
    _make_empty(out, submission)
    notes = engine.prepare(docker)
    with tempfile.TemporaryDirectory(prefix=".work-", dir=out, ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        packed = submission
        if submission.is_dir():
            packed = work / "submission.zip"
            zip_folder(submission, packed, small=False)
        data = work / "data" if given_data is None else given_data.resolve()
        data.mkdir(exist_ok=True)
        notes += note_zip(packed)
        say(f"{submission.name} on phase {phase.name}")
        slugs = [task.slug for task in phase.tasks]
        verdicts = []
        for number, task in enumerate(phase.tasks):
            results = out
            if len(slugs) > 1:
                say(f"Task {task.name}")
                results = out / (f"{task.slug}-{number}" if task.slug in slugs[:number] else task.slug)
                results.mkdir()
            first, second = (
                Job(work / str(number) / name, results / "logs", data, docker, limit, []) for name in ("1", "2")
            )
            first.notes = second.notes = [*notes]
            verdict = _run_task(competition, task, packed, results, first, second, computed=len(slugs) == 1)
            verdicts.append((task.name, verdict))
        return verdicts


def _run_task(
    competition: Competition,
    task: BundleTask,
    submission: Path,
    out: Path,
    first: Job,
    second: Job,
    *,
    computed: bool,
) -> JobResult:
    """Run two jobs, whose remarks are one list, and keep their outputs."""
    predictions = first.work / "predictions.zip"
    first.logs.mkdir()
    try:
        say("Ingestion" if task.ingestion_program is not None else "No ingestion program: a submission of results")
        try:
            jobs.predict(first, task, submission)
        finally:
            first.output = Path(shutil.move(first.output, out / "ingestion_output"))
        warn_over_limit("ingestion", first)
        try:
            zip_folder(first.output, predictions, small=False)
        except BundleError as error:
            raise RunFailed(f"the predictions cannot be packed: {error}") from error
        say("Scoring")
        try:
            jobs.score(second, task, predictions, first.app / "ingested_program")
        finally:
            second.output = Path(shutil.move(second.output, out / "scoring_output"))
        warn_over_limit("scoring", second)
        return job_result(competition, second, computed=computed)
    except RunFailed as error:
        return JobResult("Failed", str(error), {}, None, tuple(first.notes))
    except RecursionError:
        return JobResult("Failed", "too many folders in one another to be copied.", {}, None, tuple(first.notes))
    except PermissionError as error:
        # The worker is root and would continue; here, the program has locked this user out of a folder.
        raise BundleError(
            f"a program removed permissions that this command needs: {error}. Run this as root."
        ) from error


def refuse_what_is_elsewhere(root: Path, phase: Phase) -> None:
    """Refuse a bundle in whose folder not all parts are that a run needs, and name what is missing or elsewhere."""
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
        for path in (path for path in parts if path is not None):
            if not path.exists():
                wrong.append(f"{path}: expected a folder or a zip, found nothing.")
            elif leads_out(path, root):
                wrong.append(f"{path}: leads out of the bundle. Replace the link with what it names.")
    if wrong:
        raise BundleError(" ".join(wrong))


def warn_over_limit(name: str, job: Job) -> None:
    """Note where the platform might have ended a job; it does not always do so."""
    limit = job.limit
    if job.elapsed_s > limit.seconds:
        note = (
            f"{name}: it took {job.elapsed_s:.1f} s, more than the limit of {limit.seconds} s ({limit.origin}). "
            "Release 1.25 lets it run on; a worker that keeps the limit fails it (--over-limit kill)."
        )
        say(f"WARNING: {note}")
        job.notes.append(note)


def note_zip(archive: Path) -> list[str]:
    """Note what the platform accepts in a submission's zip: files of an operating system, and a folder around all."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [PurePosixPath(info.filename) for info in opened.infolist() if not info.is_dir()]
    except UNREADABLE:
        return []
    junk = sorted({part for name in names for part in name.parts if part in JUNK})
    notes = [f"submission: it contains {', '.join(junk)}. Leave these out of the zip."] if junk else []
    own = [name for name in names if not JUNK.intersection(name.parts)]
    folders = {name.parts[0] for name in own if len(name.parts) > 1}
    if len(folders) == 1 and all(len(name.parts) > 1 for name in own):
        notes.append(
            f"submission: all files are in the folder {folders.pop()!r}, and the platform leaves them there. "
            "Zip what is inside the folder."
        )
    return notes


def _make_empty(out: Path, submission: Path) -> None:
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
