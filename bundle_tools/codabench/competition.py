"""A bundle for running and building: its tasks and phases with their files.

Parts that running does not need may be invalid; `rules` reports all mistakes of a bundle.
"""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_tools.codabench.archive import extract
from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.keys import FILES_OF_TASK, BoardColumn, KeyMistake, Keys, PhaseKeys, TaskKeys, is_key, read
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.errors import BundleError

DEFAULT_TIME_LIMIT_S: int = PhaseKeys.model_fields["execution_time_limit"].default


@dataclass(frozen=True)
class BundleTask:
    """The programs and data of one task; None if the bundle leaves one out."""

    name: str
    scoring_program: Path | None
    """Folder or zip."""
    ingestion_program: Path | None
    """Folder or zip; None for a competition of results."""
    input_data: Path | None
    """Folder or zip."""
    reference_data: Path | None
    """Folder or zip."""
    on_server: tuple[str, ...]
    """Parts that the bundle names by the key of a stored task or dataset, e.g. "input_data"; they are None here."""
    ingestion_only_during_scoring: bool
    """Whether both programs run in the second job."""
    trusted: bool
    """Whether the user has said that its programs may run here."""

    @property
    def slug(self) -> str:
        """The name for folders."""
        return slug_of(self.name)


@dataclass(frozen=True)
class Phase:
    """One phase and its tasks."""

    name: str
    """As in `competition.yaml`, e.g. "Practice"."""
    tasks: tuple[BundleTask, ...]
    """Its tasks; each runs one pair of jobs."""
    time_limit_s: int
    """`execution_time_limit`, seconds per job."""

    @property
    def slug(self) -> str:
        """The name on the command line, e.g. "practice"."""
        return slug_of(self.name)

    @property
    def task(self) -> BundleTask:
        """The only task, for callers that need exactly one."""
        if len(self.tasks) != 1:
            raise BundleError(f"phase {self.name!r}: expected one task, found {len(self.tasks)}.")
        return self.tasks[0]


@dataclass(frozen=True)
class Competition:
    """The parts of `competition.yaml` that running needs."""

    root: Path
    """The folder that holds `competition.yaml`."""
    docker_image: str
    own_queue: bool
    """Whether the competition names a queue of its own; the default queue caps the time limit."""
    detailed_results: bool
    """Whether the platform shows `detailed_results.html`."""
    phases: tuple[Phase, ...]
    """In the order of their index."""
    columns: tuple[BoardColumn, ...]
    """In the order of their index."""
    primary_index: int
    """Index of the column that ranks."""

    def phase(self, name: str) -> Phase:
        """Find a phase by its name, ignoring case."""
        for phase in self.phases:
            if name.lower() in {phase.slug, phase.name.lower()}:
                return phase
        known = ", ".join(phase.slug for phase in self.phases)
        raise BundleError(f"--phase: expected one of {known}; found {name!r}.")

    def default_phase(self) -> Phase:
        """Return the phase for tests: "practice", else the first."""
        if not self.phases:
            raise BundleError("competition.yaml: expected at least one phase, found none.")
        return next((phase for phase in self.phases if phase.slug == "practice"), self.phases[0])


@contextmanager
def opened(bundle: Path | None, *, trust: bool) -> Iterator[Competition]:
    """Read a bundle from its folder (see `find_root`) or from its zip, which is unpacked while the block runs."""
    if bundle is None or not bundle.is_file():
        yield load(find_root(bundle), trust=trust)
        return
    with tempfile.TemporaryDirectory(prefix="bundle-") as folder:
        unpack_bundle(bundle, Path(folder))
        yield load(find_root(Path(folder)), trust=trust)


def unpack_bundle(archive: Path, folder: Path) -> None:
    """Unpack the zip of a bundle.

    Raises BundleError where `bundle check` would not unpack it either.
    """
    from bundle_tools.codabench.rules.archive import check_zip  # noqa: PLC0415 - the rules import this module

    errors = [finding.what for finding in check_zip(archive) if finding.severity == "error"]
    if errors:
        raise BundleError(f"{archive}: {errors[0]} `bundle check {archive}` tells more.")
    extract(archive, folder)


def find_root(start: Path | None = None) -> Path:
    """Return the bundle's folder: `start`, else the nearest at or above the current folder, else this checkout.

    The last case is reported on standard error, so that nobody mistakes it for their own bundle.
    """
    here, checkout = Path.cwd(), Path(__file__).resolve().parents[2]
    for folder in [start] if start is not None else [here, *here.parents, checkout]:
        if (folder / "competition.yaml").is_file():
            if start is None and folder not in (here, *here.parents):
                sys.stderr.write(f"bundle: no competition.yaml at or above {here}; taking the bundle in {checkout}.\n")
            return folder.resolve()
    where = start if start is not None else here
    raise BundleError(f"{where}: expected a bundle (a folder with competition.yaml), found none. Use --bundle DIR.")


def load(root: Path, *, trust: bool = False) -> Competition:
    """Read `competition.yaml`; one of version 1 as Codabench converts it.

    `trust`: whether the user has said that its programs may run here. Raises BundleError when it cannot be read;
    `bundle check` lists all mistakes.
    """
    path = root / "competition.yaml"
    try:
        content = load_bounded(path.read_text(encoding="utf-8-sig"))
        if is_version1(content):
            content = as_version2(content)
        keys, mistakes = read(Keys, content)
        if wrong := [mistake for mistake in mistakes if _stops(mistake)]:
            raise ValueError("; ".join(f"{'.'.join(map(str, mistake.key_path))}: {mistake.what}" for mistake in wrong))
        tasks = {task.index: _task(root, task, trust) for task in keys.tasks}
        return Competition(
            root=root,
            docker_image=keys.docker_image,
            own_queue=bool(keys.queue),
            detailed_results=keys.enable_detailed_results,
            phases=tuple(_phase(phase, tasks) for phase in sorted(keys.phases, key=lambda phase: phase.index)),
            columns=in_order(keys.columns),
            primary_index=keys.leaderboards[0].primary_index,
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"{path}: cannot be used ({type(error).__name__}: {error}). Run `bundle check`.") from error


def _stops(mistake: KeyMistake) -> bool:
    """Return whether a mistake affects running: tasks, phases and columns, except dates."""
    section, key = mistake.key_path[0], mistake.key_path[-1]
    needed = section in ("tasks", "phases") or (section == "leaderboards" and "columns" in mistake.key_path)
    return needed and key != "start" and mistake.kind not in ("unknown", "null")


def in_order(columns: Iterable[BoardColumn]) -> tuple[BoardColumn, ...]:
    """Sort the columns of a leaderboard by index, as it shows them."""
    return tuple(sorted(columns, key=lambda column: column.index))


def _task(root: Path, keys: TaskKeys, trust: bool) -> BundleTask:
    paths: dict[str, Path | None] = dict.fromkeys(FILES_OF_TASK)
    on_server = ["key"] if keys.key is not None else []
    for name in [] if on_server else FILES_OF_TASK:
        value = getattr(keys, name)
        if value and not (root / value).exists() and is_key(value):
            on_server.append(name)
        elif value:
            paths[name] = root / value
    if not on_server and paths["scoring_program"] is None:
        raise ValueError(f"task {keys.name}: no scoring_program")
    return BundleTask(
        name=str(keys.name if keys.key is None else keys.key),
        on_server=tuple(on_server),
        ingestion_only_during_scoring=keys.ingestion_only_during_scoring,
        trusted=trust,
        **paths,
    )


def _phase(keys: PhaseKeys, tasks: dict[Any, BundleTask]) -> Phase:
    return Phase(
        name=keys.name,
        # A repeated index counts once on the platform, too.
        tasks=tuple(tasks[index] for index in dict.fromkeys(keys.tasks)),
        time_limit_s=keys.execution_time_limit or DEFAULT_TIME_LIMIT_S,
    )


def slug_of(name: str) -> str:
    """Return the name of a phase or task as a folder and on the command line."""
    return re.sub(r"[^\w.]+", "-", name.strip().lower()).strip("-.") or "unnamed"
