"""The two jobs of a submission, as the worker runs them: predict (ingestion), then score."""

import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from bundle_tools.codabench.archive import copy_tree, place, printable
from bundle_tools.codabench.competition import Competition, Phase, Task
from bundle_tools.codabench.worker import CannotStart, RunFailed
from bundle_tools.codabench.worker import command as commands
from bundle_tools.codabench.worker.engine import WORKER_DATA, Container, Engine, Outcome
from bundle_tools.console import say
from bundle_tools.errors import BundleError

# The worker's names for the logs of each container.
LOG_NAMES = {"submission": "prediction", "ingestion": "prediction_ingestion", "scoring": "scoring"}
# If zipping and sending take longer, the scoring job may start before the predictions arrive.
LARGE_BYTES = 200_000_000
# MAX_EXECUTION_TIME_LIMIT of the site's own workers.
DEFAULT_QUEUE_CAP_S = 600


@dataclass(frozen=True)
class Limit:
    """Time limit of each job, and what happens at the limit."""

    seconds: int
    """Wall clock of one job; its containers share it."""
    kill: bool
    """True: the job is removed and the submission fails. False: it runs to its end, as usual in this release."""
    origin: str
    """The origin of the number, in words."""


def limit_of(competition: Competition, phase: Phase, *, kill: bool, override_s: int | None = None) -> Limit:
    """Return the limit that the worker would get for a phase."""
    if override_s is not None:
        return Limit(override_s, kill, "--time-limit")
    if not competition.own_queue and phase.time_limit_s > DEFAULT_QUEUE_CAP_S:
        origin = f"the cap of the default queue, although the phase says {phase.time_limit_s} s"
        return Limit(DEFAULT_QUEUE_CAP_S, kill, origin)
    return Limit(phase.time_limit_s, kill, "execution_time_limit")


@dataclass(frozen=True)
class Worker:
    """The machine that runs the jobs."""

    engine: Engine
    """The engine that runs the containers."""
    limit: Limit
    """Time of each job."""
    data: Path
    """The worker's own data, mounted read-only at `/app/data`."""
    logs: Path
    """Folder of the log files."""


@dataclass
class Job:
    """One job: its containers, one after the other, with one clock and one output, and how they ended."""

    worker: Worker
    """What runs it."""
    work: Path
    """An empty folder of this job."""
    notes: list[str]
    """Collects remarks in addition to the platform's."""
    program: Outcome | None = None
    """How the submission's own command (first job) or the scoring program (second job) ended; None if it never ran."""
    ingestion: Outcome | None = None
    """How ingestion ended; None if it never ran."""
    _started: float | None = None

    def __post_init__(self) -> None:
        self.app = self.work / "app"
        self.output = self.app / "output"
        """The program's `/app/output`, at the end with the worker's own `metadata` in it."""
        self.output.mkdir(parents=True)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first container started, without downloads and image pull."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    def fetch(self, source: Path | None, name: str) -> Path:
        """Download and extract one part of the job; does nothing if the task has no such part."""
        folder = self.app / name
        if source is not None:
            try:
                place(source, folder, self.work / "bundles" / f"{folder.name}.zip")
            except BundleError as error:
                raise RunFailed(f"bad or empty zip file, after about three minutes of trying: {error}") from error
        return folder

    def run(self, role: commands.Role, command: str, mounts: dict[str, Path]) -> Outcome:
        """Run one container to its end; raise CannotStart if it never ran, RunFailed at the time limit."""
        container = Container(
            LOG_NAMES[role], {**mounts, WORKER_DATA: self.worker.data}, commands.arguments(command, role)
        )
        if self._started is None:
            self._started = time.monotonic()
        limit = self.worker.limit
        left_s = max(0.0, limit.seconds - self.elapsed_s) if limit.kill else None
        try:
            outcome = self.worker.engine.run(container, self.worker.logs, left_s)
        finally:
            self._restore_output(role)
        if outcome.killed:
            raise RunFailed(f"execution time limit exceeded: {role} was removed at {limit.seconds} s ({limit.origin}).")
        return outcome

    def _restore_output(self, role: commands.Role) -> None:
        # In a container it is a mount, which no program can remove.
        if not self.output.is_dir() or self.output.is_symlink():
            self.output.unlink(missing_ok=True)
            self.output.mkdir(parents=True)
            self.notes.append(
                f"{role}: it removed or replaced /app/output, which is impossible in a container; treated as empty."
            )

    def try_to_run(self, role: commands.Role, command: str, mounts: dict[str, Path]) -> Outcome | None:
        """Run one container; if it cannot run, report that and continue, as the worker does."""
        try:
            return self.run(role, command, mounts)
        except CannotStart as error:
            self.swallow(f"{role}: {error}")
            return None

    def swallow(self, problem: str) -> None:
        """Report why a container cannot run, and continue."""
        said = f"{problem.rstrip('.')}. The platform runs nothing here and continues with scoring."
        say(said)
        self.notes.append(said)

    def finish(self) -> None:
        """Write the worker's `metadata` into the output; raise RunFailed if a program has written such a file."""
        path = self.output / "metadata"
        if path.exists() or path.is_symlink():
            raise RunFailed(
                "metadata: the output already contains it; the worker writes this file itself. "
                "A program must not create it."
            )
        main = self.program or self.ingestion
        content = {
            "elapsedTime": main.elapsed_s if main else None,
            "exitCode": self.program.exit_code if self.program else None,
            "ingestionElapsedTime": self.ingestion.elapsed_s if self.ingestion else None,
            "ingestionExitCode": self.ingestion.exit_code if self.ingestion else None,
        }
        path.write_text(yaml.safe_dump(content), encoding="utf-8")


def predict(job: Job, task: Task, submission: Path) -> None:
    """Run the ingestion program on a submission's zip (job 1).

    Raises
    ------
    RunFailed
        If the platform would not continue with scoring.
    """
    ingested = job.fetch(submission, "ingested_program")
    input_data = job.fetch(task.input_data, "input_data")
    input_data.mkdir(exist_ok=True)
    program = job.fetch(task.ingestion_program, "program")

    data = {"/app/output": job.output, "/app/input_data": input_data}
    own = commands.read_metadata(ingested)
    if own.command is not None:
        # The submission brings its own command: it runs first, in its own container, on the same output.
        job.program = job.try_to_run("submission", own.command, {"/app/program": ingested, **data})
        job.notes.append("submission: its own command ran before ingestion, on the same output.")
    elif not own.present:
        # All submitted files are in the output before ingestion starts, and later in the results that scoring reads.
        copy_tree(ingested, job.output)

    if task.ingestion_program is not None:
        metadata = commands.read_metadata(program)
        if metadata.command is None:
            job.swallow(f"Ingestion program: {metadata.problem}")
        else:
            mounts = {"/app/program": program, "/app/ingested_program": ingested, **data}
            job.ingestion = job.try_to_run("ingestion", metadata.command, mounts)
    if own.present and own.command is None and job.ingestion is None:
        raise RunFailed(
            "Metadata file not found: the submission holds a metadata file, so its files do not count as results, "
            "and no program made an output. Leave that file out of the zip."
        )
    job.finish()
    if job.ingestion is not None and job.ingestion.exit_code != 0:
        job.notes.append(f"ingestion: exit code {job.ingestion.exit_code} is ignored; scoring runs anyway.")
    job.notes.extend(_output_notes(job.output, ingested))


def score(job: Job, task: Task, predictions: Path) -> None:
    """Run the scoring program on the zip of job 1's output (job 2); it never sees the input data.

    Raises
    ------
    RunFailed
        If the platform would stop before reading scores.
    """
    program = job.fetch(task.scoring_program, "program")
    for name in ("shared", "input/ref", "input/res"):
        (job.app / name).mkdir(parents=True)
    job.fetch(task.reference_data, "input/ref")
    job.fetch(predictions, "input/res")

    metadata = commands.read_metadata(program)
    if not metadata.present:
        # The worker treats such a program as results.
        copy_tree(program, job.output)
        job.notes.append(f"scoring program: {metadata.problem}; its files became the output.")
        return
    if metadata.command is None:
        raise RunFailed(f"could not find scores file: scoring program: {metadata.problem}, so nothing ran.")
    mounts = {
        "/app/program": program,
        "/app/output": job.output,
        "/app/input": job.app / "input",
        "/app/shared": job.app / "shared",
    }
    try:
        job.program = job.run("scoring", metadata.command, mounts)
    except CannotStart as error:
        raise RunFailed(f"scoring program: {error}") from error


def _output_notes(output: Path, submission: Path) -> list[str]:
    notes = []
    files = [path for path in output.rglob("*") if path.is_file()]
    links = sorted(printable(path.relative_to(output)) for path in output.rglob("*") if path.is_symlink())
    if links:
        notes.append(f"predictions: the worker follows links into its own disk: {', '.join(links[:5])}.")
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
