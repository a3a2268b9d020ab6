"""The folder of one evaluation: all that its shards need, their results, and what the planner alone may know."""

import compileall
import fcntl
import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.shards import STAGES
from ingest.shards.names import CUT, DONE, PLAN, PLANNED, WORK, identity, shard_key

from bundle_tools.codabench.archive import copy_tree, extract, place
from bundle_tools.codabench.competition import Task
from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.docker import DockerEngine
from bundle_tools.codabench.worker.engine import Container, Engine, ProcessEngine
from bundle_tools.errors import BundleError
from ingest.clips.table import hash_file
from ingest.record.seal import KEY_FILE

MADE, SECRET = "made.json", "secret.key"
Shard = tuple[str, int]
"""Stage and index."""


@dataclass(frozen=True)
class Plan:
    """One evaluation of one submission."""

    folder: Path
    """Where everything of it lies; programs and workers, which see it too, are at home elsewhere."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", self.folder.absolute())

    @property
    def shards(self) -> Path:
        """What is frozen, the works of all shards, and their results; the only part that the planner's program sees."""
        return self.folder / "shards"

    @property
    def done(self) -> Path:
        """Where the results of shards are expected."""
        return self.shards / DONE

    @property
    def merged(self) -> Path:
        """The record of the whole run, once it is there."""
        return self.folder / "merged"

    @property
    def made(self) -> dict[str, Any]:
        """How it was made: image, network, sources."""
        made: dict[str, Any] = self._read(MADE)
        return made

    @property
    def name(self) -> str:
        """Hash of all that it freezes."""
        return identity(self._read(f"shards/{PLAN}"))

    def engine(self) -> Engine:
        """Return what runs its programs."""
        made = self.made
        return ProcessEngine() if made["image"] is None else DockerEngine(made["image"], made["network"])

    def facts(self) -> dict[str, Any]:
        """Return what the programs freeze and check, but cannot know themselves."""
        return {"program_sha256": hash_tree(self.folder / "program"), "image": self.made["image"]}

    @property
    def has_secret(self) -> bool:
        """Whether the keys of all shards can be told here; raises BundleError where there is no plan."""
        return bool(self.made) and (self.folder / SECRET).is_file()

    def key(self, stage: str, index: int) -> bytes:
        """Return the key of one shard."""
        name = self.name
        try:
            secret = bytes.fromhex((self.folder / SECRET).read_text("ascii"))
        except OSError:
            raise BundleError(f"{self.folder}: no {SECRET} here. Pass the shard's key on standard input.") from None
        return shard_key(secret, name, stage, index)

    def cut(self) -> list[Shard]:
        """Return all shards so far, the longest of a stage first."""
        stages = [stage for stage in STAGES if self._cut(stage).is_file()]
        return [(stage, index) for stage in stages for index in range(len(json.loads(self._cut(stage).read_bytes())))]

    def missing(self) -> list[Shard]:
        """Return the shards without a result."""
        return [(stage, index) for stage, index in self.cut() if not (self.done / f"{stage}-{index}").exists()]

    def step(self, task: Task) -> None:
        """Plan the next stage, or merge all results.

        Raises
        ------
        BundleError
            When the plan is of something else, or a result is refused.
        """
        made = self.made
        secret = (self.folder / SECRET).read_text("ascii")
        told = json.dumps({"key": secret, "facts": self.facts(), "workers": made["workers"], "clips": made["clips"]})
        with tempfile.TemporaryDirectory(prefix=".step-", dir=self.folder) as scratch:
            work = Path(scratch)
            program = source(task.ingestion_program, "ingestion program")
            place(program, work / "program", work / "program.zip")  # for its seal key
            copy_tree(self.folder / "program", work / "program")
            (work / "output").mkdir()
            mounts = {
                "/app/program": work / "program",
                "/app/plan": self.shards,
                "/app/input_data": self.folder / "input_data",
                "/app/output": work / "output",
                "/app/ingested_program": self.folder / "submission",
            }
            where = ("plan", "input_data", "output", "program", "ingested_program")
            ended = run_quietly(self.engine(), "plan", f"{self.name_or_new}-plan", mounts, where, told, work / "logs")
            if (work / "output" / "manifest.json").is_file():
                (work / "output").rename(self.merged)
            elif ended[0] != PLANNED:
                raise BundleError(f"{self.folder.name}: {ended[1]}")

    @property
    def name_or_new(self) -> str:
        """The plan's name for containers, also before it is frozen."""
        return self.name if (self.shards / PLAN).is_file() else "new"

    @contextmanager
    def held(self, *, sweep: bool = False) -> Iterator[None]:
        """Keep a second driver away and, with `sweep`, remove what an earlier one left behind."""
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BundleError(f"{self.folder}: another `bundle evaluate` is at work here.") from None
            if sweep:
                left = [*self.folder.glob(".*-*"), *self.done.glob(".*"), *(self.shards / WORK).glob(".*")]
                for folder in left:
                    shutil.rmtree(folder, ignore_errors=True)
                engine = self.engine()
                if isinstance(engine, DockerEngine) and self.name_or_new != "new":
                    engine.sweep(self.name)
            yield

    def _cut(self, stage: str) -> Path:
        return self.shards / WORK / stage / CUT

    def _read(self, name: str) -> Any:  # noqa: ANN401 - from JSON
        try:
            return json.loads((self.folder / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BundleError(f"{self.folder}: expected a folder of `bundle shard plan`; {name}: {error}.") from None


def make(folder: Path, task: Task, submission: Path, made: dict[str, Any], data: Path | None = None) -> Plan:
    """Copy what an evaluation needs into a new folder, or return the plan that is already there.

    Parameters
    ----------
    made
        Image (None for processes), network, workers and clips.
    data
        A copy of the phase's input data in the folder beside, to use in place of a copy of its own.

    Raises
    ------
    BundleError
        When there is another plan, or other files.
    """
    program = source(task.ingestion_program, "ingestion program")
    input_data = source(task.input_data, "input data")
    sources = {
        "submission": hash_source(submission),
        "ingestion program": hash_source(program),
        "input data": hash_source(input_data, deep=False),
        "image": made["image"],
    }
    plan = Plan(folder)
    if (folder / MADE).is_file():
        other = [what for what, sha256 in sources.items() if plan.made["sources"].get(what) != sha256]
        if other:
            raise BundleError(f"{folder}: a plan of another {' and another '.join(other)}. Choose another folder.")
        return plan
    if folder.exists() and any(folder.iterdir()):
        raise BundleError(f"{folder}: contains files of something else. Choose another folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        place(program, unfinished / "program", unfinished / "program.zip")
        place(submission, unfinished / "submission", unfinished / "submission.zip")
        (unfinished / "program" / KEY_FILE).unlink(missing_ok=True)
        # Else every shard compiles its copy, which takes longer than loading the program.
        compileall.compile_dir(unfinished / "program", quiet=2)
        if data is None:
            copy_data(input_data, unfinished / "input_data")
        else:
            (unfinished / "input_data").symlink_to(Path("..") / data.name)
        (unfinished / "shards" / DONE).mkdir(parents=True)
        for archive in unfinished.glob("*.zip"):
            archive.unlink()
        (unfinished / SECRET).touch(mode=0o600)
        (unfinished / SECRET).write_text(secrets.token_hex(32), "ascii")
        (unfinished / MADE).write_text(json.dumps({**made, "sources": sources}, indent=1) + "\n", "utf-8")
        unfinished.chmod(0o755)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return plan


def run_quietly(
    engine: Engine, what: str, name: str, mounts: dict[str, Path], where: tuple[str, ...], told: str, logs: Path
) -> tuple[int, str]:
    """Run a step of `ingest.shards`; return its exit code and the last thing it said."""
    words = ["python3", "-m", "ingest.shards", what, *(f"/app/{folder}" for folder in where)]
    try:
        outcome = engine.run(Container(name, mounts, words, told, quiet=True), logs)
    except CannotStart as error:
        return -1, str(error)
    said = [
        line.partition("] ")[2] or line
        for stream in ("stderr", "stdout")
        for line in (logs / f"{name}_{stream}.txt").read_text("utf-8", "replace").splitlines()
        if line.strip()
    ]
    return outcome.exit_code, said[-1] if said else f"ended with exit code {outcome.exit_code}, and said nothing"


def copy_data(data: Path, folder: Path) -> None:
    """Copy a folder or a zip of input data."""
    if data.is_dir():
        copy_tree(data, folder)
    else:
        extract(data, folder)


def source(path: Path | None, what: str) -> Path:
    """Return a part of the bundle; raise BundleError if it has none."""
    if path is None or not path.exists():
        raise BundleError(f"the bundle has no {what} for this phase: nothing can be evaluated.")
    return path


def hash_source(path: Path, *, deep: bool = True) -> str:
    """Return the hash of a zip, of all files of a folder, or of those at its top."""
    if not path.exists():
        raise BundleError(f"{path}: expected the folder or the zip of a submission, found nothing there.")
    return hash_tree(path, deep=deep) if path.is_dir() else hash_file(path)


def hash_tree(folder: Path, *, deep: bool = True) -> str:
    """Return a hash of the names and contents of a folder's files, but for compiled ones and the seal's key."""
    look: Callable[[str], Iterator[Path]] = folder.rglob if deep else folder.glob
    whole = hashlib.sha256()
    for path in sorted(path for path in look("*") if path.is_file()):
        if "__pycache__" not in path.parts and path.name != KEY_FILE:
            whole.update(f"{path.relative_to(folder).as_posix()}\0{hash_file(path)}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()
