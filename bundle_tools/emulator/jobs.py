"""The two jobs of a submission, as the worker runs them: predict (ingestion), then score."""

import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from bundle_tools.archive import copy_tree, place, printable
from bundle_tools.competition import Competition, Phase, Task
from bundle_tools.console import say
from bundle_tools.emulator import CannotStart, RunFailed
from bundle_tools.emulator import command as commands
from bundle_tools.emulator.engine import WORKER_DATA, Container, Engine, Outcome
from bundle_tools.errors import BundleError

# What the worker calls the logs of each container.
LOG_NAMES = {"submission": "prediction", "ingestion": "prediction_ingestion", "scoring": "scoring"}
# Slower to zip and send than this, and the scoring job may start before the predictions are there.
LARGE_BYTES = 200_000_000
# MAX_EXECUTION_TIME_LIMIT of the site's own workers.
DEFAULT_QUEUE_CAP_S = 600


@dataclass(frozen=True)
class Limit:
    """How long each of the two jobs may take, and what happens then."""

    seconds: int
    """Wall clock of one job; its containers share it."""
    kill: bool
    """True: the job is removed and the submission fails. False: it runs to its end, as this release does mostly."""
    origin: str
    """Where the number comes from, for a person."""


def limit_of(competition: Competition, phase: Phase, *, kill: bool, override_s: int | None = None) -> Limit:
    """Give the limit that the worker would get for a phase."""
    if override_s is not None:
        return Limit(override_s, kill, "--time-limit")
    if not competition.own_queue and phase.time_limit_s > DEFAULT_QUEUE_CAP_S:
        origin = f"the cap of the default queue, although the phase says {phase.time_limit_s} s"
        return Limit(DEFAULT_QUEUE_CAP_S, kill, origin)
    return Limit(phase.time_limit_s, kill, "execution_time_limit")


class Clock:
    """Measures one job, from its first container on: downloads and the image's pull do not count."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._started = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def left_s(self) -> float | None:
        """Seconds until the job is removed; None where it never is."""
        return max(0.0, self._limit.seconds - self.elapsed_s) if self._limit.kill else None


@dataclass(frozen=True)
class Worker:
    """The machine that runs the jobs."""

    engine: Engine
    """What runs the containers."""
    limit: Limit
    """Time of each job."""
    data: Path
    """The worker's own data, mounted read-only at `/app/data`."""
    logs: Path
    """Folder of the log files."""


@dataclass(frozen=True)
class Job:
    """What a job leaves behind."""

    output: Path
    """The program's `/app/output`, with the worker's own `metadata` in it."""
    program: Outcome | None
    """How the submission's own command (first job) or the scoring program (second job) ended; None if it never ran."""
    ingestion: Outcome | None
    """How ingestion ended; None where it never ran."""
    elapsed_s: float
    """Wall-clock seconds from the first container on."""


def prediction_job(task: Task, submission: Path, work: Path, worker: Worker, notes: list[str]) -> Job:
    """Run the ingestion program on a submission (job 1).

    Parameters
    ----------
    submission
        The submission's zip.
    work
        An empty folder of this job.
    notes
        Gets what the platform does not say.

    Raises
    ------
    RunFailed
        Where the platform would not go on to scoring.
    """
    app, zips = work / "app", work / "bundles"
    ingested, output, input_data = app / "ingested_program", app / "output", app / "input_data"
    _fetch(submission, ingested, zips / "submission.zip")
    output.mkdir(parents=True)
    input_data.mkdir()
    _fetch(task.input_data, input_data, zips / "input_data.zip")
    program = app / "program"
    _fetch(task.ingestion_program, program, zips / "ingestion_program.zip")

    clock = Clock(worker.limit)
    common = {"/app/output": output, "/app/input_data": input_data, WORKER_DATA: worker.data}
    own = commands.read_metadata(ingested)
    submitted: Outcome | None = None
    if own.command is not None:
        # The submission brings its own command: it runs first, in its own container, on the same output.
        submitted = _try("submission", own.command, {"/app/program": ingested, **common}, worker, clock, notes)
        _restore(output, "submission", notes)
        notes.append("submission: it brought a command of its own, which ran before ingestion on the same output.")
    elif not own.present:
        # Everything submitted lies in the output before ingestion starts, and later in the results that scoring reads.
        copy_tree(ingested, output)

    ingestion: Outcome | None = None
    if task.ingestion_program is not None:
        metadata = commands.read_metadata(program)
        if metadata.command is None:
            _swallow(f"Ingestion program: {metadata.problem}", notes)
        else:
            mounts = {"/app/program": program, "/app/ingested_program": ingested, **common}
            ingestion = _try("ingestion", metadata.command, mounts, worker, clock, notes)
            _restore(output, "ingestion", notes)
    if own.present and own.command is None and ingestion is None:
        raise RunFailed(
            "Metadata file not found: the submission holds a metadata file, so its files are not taken over, "
            "and no program made an output. Leave that file out of the zip."
        )
    job = Job(output, submitted, ingestion, clock.elapsed_s)
    finish(job)
    if ingestion is not None and ingestion.exit_code != 0:
        notes.append(f"ingestion: exit code {ingestion.exit_code} is ignored; scoring runs all the same.")
    notes.extend(_output_notes(output, ingested))
    return job


def scoring_job(task: Task, predictions: Path, work: Path, worker: Worker, notes: list[str]) -> Job:
    """Run the scoring program on the output of job 1 (job 2); it never sees the input data.

    Parameters
    ----------
    predictions
        The zip of the first job's output.
    work
        An empty folder of this job.
    notes
        Gets what the platform does not say.

    Raises
    ------
    RunFailed
        Where the platform would end before it reads scores.
    """
    app, zips = work / "app", work / "bundles"
    program, output, results = app / "program", app / "output", app / "input" / "res"
    _fetch(task.scoring_program, program, zips / "scoring_program.zip")
    for folder in (output, app / "shared", app / "input" / "ref", results):
        folder.mkdir(parents=True)
    _fetch(task.reference_data, app / "input" / "ref", zips / "reference_data.zip")
    _fetch(predictions, results, zips / "predictions.zip")

    metadata = commands.read_metadata(program)
    if not metadata.present:
        # The worker takes such a program for results.
        copy_tree(program, output)
        notes.append(f"scoring program: {metadata.problem}; its files became the output.")
        return Job(output, None, None, 0.0)
    if metadata.command is None:
        raise RunFailed(f"could not find scores file: scoring program: {metadata.problem}, so nothing ran.")
    mounts = {
        "/app/program": program,
        "/app/output": output,
        "/app/input": app / "input",
        "/app/shared": app / "shared",
        WORKER_DATA: worker.data,
    }
    clock = Clock(worker.limit)
    try:
        outcome = _run("scoring", metadata.command, mounts, worker, clock)
    except CannotStart as error:
        raise RunFailed(f"scoring program: {error}") from error
    _restore(output, "scoring", notes)
    return Job(output, outcome, None, clock.elapsed_s)


def finish(job: Job) -> None:
    """Write the worker's `metadata` into a job's output.

    Raises
    ------
    RunFailed
        When a program has written a file of that name.
    """
    path = job.output / "metadata"
    if path.exists() or path.is_symlink():
        raise RunFailed(
            "metadata: the output already holds it; the worker writes this file itself. A program must not create it."
        )
    main = job.program or job.ingestion
    content = {
        "elapsedTime": main.elapsed_s if main else None,
        "exitCode": job.program.exit_code if job.program else None,
        "ingestionElapsedTime": job.ingestion.elapsed_s if job.ingestion else None,
        "ingestionExitCode": job.ingestion.exit_code if job.ingestion else None,
    }
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def _fetch(source: Path | None, folder: Path, scratch: Path) -> None:
    """Download and extract one part of a job; there is nothing to fetch where the task has no such part."""
    if source is None:
        return
    try:
        place(source, folder, scratch)
    except BundleError as error:
        raise RunFailed(f"bad or empty zip file, after about three minutes of trying: {error}") from error


def _try(
    role: commands.Role, command: str, mounts: dict[str, Path], worker: Worker, clock: Clock, notes: list[str]
) -> Outcome | None:
    """Run one container of job 1; one that cannot run is told, and swallowed as the worker swallows it."""
    try:
        return _run(role, command, mounts, worker, clock)
    except CannotStart as error:
        _swallow(f"{role}: {error}", notes)
        return None


def _run(role: commands.Role, command: str, mounts: dict[str, Path], worker: Worker, clock: Clock) -> Outcome:
    container = Container(LOG_NAMES[role], mounts, commands.arguments(command, role))
    outcome = worker.engine.run(container, worker.logs, clock.left_s)
    if outcome.killed:
        limit = worker.limit
        raise RunFailed(f"execution time limit exceeded: {role} was removed at {limit.seconds} s ({limit.origin}).")
    return outcome


def _restore(output: Path, role: commands.Role, notes: list[str]) -> None:
    """Give a job its output folder back: in a container it is a mount, which no program can remove."""
    if output.is_dir() and not output.is_symlink():
        return
    output.unlink(missing_ok=True)
    output.mkdir(parents=True)
    notes.append(f"{role}: it removed or replaced /app/output, which cannot be done in a container; taken as empty.")


def _swallow(problem: str, notes: list[str]) -> None:
    said = f"{problem.rstrip('.')}. The platform runs nothing here and goes on to scoring."
    say(said)
    notes.append(said)


def _output_notes(output: Path, submission: Path) -> list[str]:
    notes = []
    files = [path for path in output.rglob("*") if path.is_file()]
    links = sorted(printable(path.relative_to(output)) for path in output.rglob("*") if path.is_symlink())
    if links:
        notes.append(f"predictions: the worker follows links on its own disk: {', '.join(links[:5])}.")
    total = sum(path.stat().st_size for path in files)
    if total > LARGE_BYTES:
        notes.append(f"predictions: {total / 1e6:.0f} MB take long to send; scoring may start without them.")
    doubled = [path for path in files if _is_same(path, submission / path.relative_to(output))]
    if doubled:
        size = sum(path.stat().st_size for path in doubled)
        notes.append(
            f"predictions: {len(doubled)} of the submission's own files lie among them; "
            f"{size / 1e6:.1f} MB count twice against the participant's quota."
        )
    return notes


def _is_same(one: Path, other: Path) -> bool:
    return other.is_file() and other.stat().st_size == one.stat().st_size and other.read_bytes() == one.read_bytes()
