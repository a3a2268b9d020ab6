"""The two jobs of a submission, as the worker runs them: predict (ingestion), then score."""

import shlex
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from bundle_tools.codabench.archive import copy_zipped, printable
from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.competition import BundleTask, Competition, Phase
from bundle_tools.codabench.trust import forget_compiled
from bundle_tools.codabench.worker import CannotStart, RunFailed, engine
from bundle_tools.codabench.worker.engine import WORKER_DATA, Command, Docker, Outcome
from bundle_tools.codabench.worker.environment import add_compiled
from bundle_tools.console import say
from bundle_tools.errors import BundleError

METADATA_NAMES = ("metadata.yaml", "metadata")
Role = Literal["ingestion", "submission", "scoring"]
"""Which container of which job a command is for."""
LOG_NAMES = {"submission": "prediction", "ingestion": "prediction_ingestion", "scoring": "scoring"}
"""The worker's names for the logs of each container."""
LARGE_BYTES = 200_000_000
"""If zipping and sending take longer, the scoring job may start before the predictions arrive."""
DEFAULT_QUEUE_CAP_S = 600
"""MAX_EXECUTION_TIME_LIMIT of the site's own workers."""


def read_command(program: Path) -> tuple[str | None, str]:
    """Read the command of a program from `metadata.yaml`, else `metadata`, at its root.

    Returns the command as written, None if it is missing or not a text; and why, in words.
    """
    path = next((program / name for name in METADATA_NAMES if (program / name).is_file()), None)
    if path is None:
        names = ", ".join(sorted(path.name for path in program.iterdir())[:5]) or "nothing"
        return None, f"no metadata.yaml at the root; found {names}"
    try:
        content = load_bounded(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        return None, f"{path.name} is not YAML: {error}"
    command = content.get("command") if isinstance(content, dict) else None
    return (command, "") if isinstance(command, str) else (None, f"{path.name} has no `command` that is one text")


def arguments(command: str, role: Role) -> list[str]:
    """Replace the variables and split like a shell, but without one: `>`, `|`, `&&` stay arguments.

    The worker replaces text in this order and knows no word boundaries: in an ingestion command, "$input_data" becomes
    "/app/input_data_data". Raises CannotStart when there is nothing to run, or a quote is not closed.
    """
    substitutions = {
        "$input": "/app/input_data" if role == "ingestion" else "/app/input",
        "$output": "/app/output",
        "$program": "/app/program",
        "$ingestion_program": "/app/program",
        "$hidden": "/app/input/ref",
        "$shared": "/app/shared",
        "$submission_program": "/app/ingested_program",
        "$tmp": "/app/output",
        "$predictions": "/app/input/res" if role == "scoring" else "/app/output",
    }
    for variable, value in substitutions.items():
        command = command.replace(variable, value)
    try:
        split = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"the command cannot be split into arguments: {error}") from error
    if not split:
        raise CannotStart("the command is empty")
    return split


@dataclass(frozen=True)
class Limit:
    """Time limit of each job, what happens at the limit, and what else bounds it."""

    seconds: int
    """Wall clock of one job; its containers share it."""
    kill: bool
    """True: the job is removed and the submission fails. False: it runs to its end, as usual in this release."""
    origin: str
    """The origin of the number, in words."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for its programs, beside the worker's."""


def limit_of(competition: Competition, phase: Phase, *, kill: bool, override_s: int | None = None) -> Limit:
    """Return the limit that the worker would get for a phase: the default queue has a cap."""
    if override_s is not None:
        return Limit(override_s, kill, "--time-limit")
    if not competition.own_queue and phase.time_limit_s > DEFAULT_QUEUE_CAP_S:
        origin = f"the cap of the default queue, although the phase says {phase.time_limit_s} s"
        return Limit(DEFAULT_QUEUE_CAP_S, kill, origin)
    return Limit(phase.time_limit_s, kill, "execution_time_limit")


@dataclass
class Job:
    """One job: its containers, one after the other, with one clock and one output, and how they ended."""

    work: Path
    """An empty folder of this job."""
    logs: Path
    """Folder of the log files."""
    data: Path
    """The worker's own data, mounted read-only at `/app/data`."""
    docker: Docker | None
    """What runs the containers; None for processes."""
    limit: Limit
    notes: list[str]
    """Collects remarks in addition to the platform's."""
    program: Outcome | None = None
    """How the submission's own command (first job) or the scoring program (second job) ended; None if it never ran."""
    ingestion: Outcome | None = None
    """How ingestion ended; None if it never ran."""
    started: float | None = None
    """Monotonic seconds when the first container started, after downloads and image pull."""

    def __post_init__(self) -> None:
        self.app = self.work / "app"
        self.output = self.app / "output"
        """The program's `/app/output`, at the end with the worker's own `metadata` in it."""
        self.output.mkdir(parents=True)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first container started."""
        return 0.0 if self.started is None else time.monotonic() - self.started

    def fetch(self, source: Path | None, name: str) -> Path:
        """Download and extract one part of the job; does nothing if the task has no such part."""
        folder = self.app / name
        if source is not None:
            try:
                copy_zipped(source, folder, self.work / "bundles" / f"{folder.name}.zip")
            except BundleError as error:
                raise RunFailed(f"bad or empty zip file, after about three minutes of trying: {error}") from error
            if name == "program":
                forget_compiled(folder)
        return folder

    def run(self, role: Role, command: str, mounts: dict[str, Path]) -> Outcome:
        """Run one container to its end; raise CannotStart if it never ran, RunFailed at the time limit."""
        if self.docker is None and role != "submission":
            add_compiled(mounts["/app/program"])
        words = Command(LOG_NAMES[role], arguments(command, role), self.limit.environment)
        if self.started is None:
            self.started = time.monotonic()
        left_s = max(0.0, self.limit.seconds - self.elapsed_s) if self.limit.kill else None
        mounts = {**mounts, WORKER_DATA: self.data}
        try:
            outcome = engine.run(words, mounts, self.logs, docker=self.docker, timeout_s=left_s)
        finally:
            if not self.output.is_dir() or self.output.is_symlink():
                # In a container it is a mount, which no program can remove.
                self.output.unlink(missing_ok=True)
                self.output.mkdir(parents=True)
                problem = "it removed or replaced /app/output, which is impossible in a container; treated as empty."
                self.notes.append(f"{role}: {problem}")
        if outcome.killed:
            at = f"{self.limit.seconds} s ({self.limit.origin})"
            raise RunFailed(f"execution time limit exceeded: {role} was removed at {at}.")
        return outcome

    def try_to_run(self, role: Role, command: str, mounts: dict[str, Path]) -> Outcome | None:
        """Run one container of the first job; if it cannot run, report that and continue, as the worker does."""
        try:
            return self.run(role, command, mounts)
        except CannotStart as error:
            self.swallow(f"{role}: {error}")
            return None

    def swallow(self, problem: str) -> None:
        """Report why a container of the first job cannot run, and continue."""
        note = f"{problem.rstrip('.')}. The platform runs nothing here and continues with scoring."
        say(note)
        self.notes.append(note)

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


def predict(job: Job, task: BundleTask, submission: Path) -> None:
    """Run the ingestion program on a submission's zip (job 1); scoring follows whatever its exit code is.

    Raises RunFailed if the platform would not continue with scoring.
    """
    ingested = job.fetch(submission, "ingested_program")
    input_data = job.fetch(task.input_data, "input_data")
    input_data.mkdir(exist_ok=True)
    program = job.fetch(task.ingestion_program, "program")
    data = {"/app/output": job.output, "/app/input_data": input_data}
    start_submission(job, ingested, data)
    if task.ingestion_program is not None:
        command, problem = read_command(program)
        if command is None:
            job.swallow(f"Ingestion program: {problem}")
        else:
            mounts = {"/app/program": program, "/app/ingested_program": ingested, **data}
            job.ingestion = job.try_to_run("ingestion", command, mounts)
    if job.program is None and job.ingestion is None and _has_metadata(ingested):
        raise RunFailed(
            "Metadata file not found: the submission holds a metadata file, so its files do not count as results, "
            "and no program made an output. Leave that file out of the zip."
        )
    job.finish()
    if job.ingestion is not None and job.ingestion.exit_code != 0:
        job.notes.append(f"ingestion: exit code {job.ingestion.exit_code} is ignored; scoring runs anyway.")
    note_output(job)


def start_submission(job: Job, ingested: Path, data: dict[str, Path]) -> None:
    """Do what the worker does with a submission before ingestion starts.

    One with a command of its own runs in a container, on ingestion's output. One without metadata is copied into that
    output, so that its files lie later among the results that scoring reads. Any other is left alone.
    """
    command, _ = read_command(ingested)
    if command is not None:
        job.program = job.try_to_run("submission", command, {"/app/program": ingested, **data})
        job.notes.append("submission: its own command ran before ingestion, on the same output.")
    elif not _has_metadata(ingested):
        shutil.copytree(ingested, job.output, dirs_exist_ok=True)


def _has_metadata(ingested: Path) -> bool:
    return any((ingested / name).is_file() for name in METADATA_NAMES)


def note_output(job: Job) -> None:
    """Note links, which the worker follows into its own disk, and predictions that take long to send."""
    paths = list(job.output.rglob("*"))
    links = sorted(printable(path.relative_to(job.output)) for path in paths if path.is_symlink())
    if links:
        job.notes.append(f"predictions: the worker follows links into its own disk: {', '.join(links[:5])}.")
    total = sum(path.stat().st_size for path in paths if path.is_file())
    if total > LARGE_BYTES:
        job.notes.append(f"predictions: {total / 1e6:.0f} MB take long to send; scoring may start without them.")


def score(job: Job, task: BundleTask, predictions: Path, ingested: Path) -> None:
    """Run the scoring program on the zip of job 1's output (job 2); it never sees the input data.

    Since pull request 2303, the files of a submission without metadata, in `ingested`, lie beside that output. Where
    both have a file, the output's is kept here; it is not known which one a server keeps.
    Raises RunFailed if the platform would stop before reading scores.
    """
    program = job.fetch(task.scoring_program, "program")
    for name in ("shared", "input/ref", "input/res"):
        (job.app / name).mkdir(parents=True)
    job.fetch(task.reference_data, "input/ref")
    results = job.fetch(predictions, "input/res")

    def taken(folder: str, names: list[str]) -> list[str]:
        there = results / Path(folder).relative_to(ingested)
        return [
            name
            for name in names
            if (there / name).exists() and not (there / name).is_dir() & Path(folder, name).is_dir()
        ]

    if not _has_metadata(ingested):
        shutil.copytree(ingested, results, ignore=taken, dirs_exist_ok=True)
    command, problem = read_command(program)
    if command is None:
        raise RunFailed(f"could not find scores file: scoring program: {problem}, so nothing ran.")
    mounts = {"/app/program": program, "/app/output": job.output}
    mounts |= {f"/app/{name}": job.app / name for name in ("input", "shared")}
    try:
        job.program = job.run("scoring", command, mounts)
    except CannotStart as error:
        raise RunFailed(f"scoring program: {error}") from error
