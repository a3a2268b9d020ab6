"""A bundle as the runner and the builder see it: `competition.yaml` read into frozen records.

It reads only what running needs and trusts it; what is wrong with a bundle is for `bundle_tools.check` to say.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.errors import BundleError

DEFAULT_TIME_LIMIT_S = 600
DEFAULT_PRECISION = 2


@dataclass(frozen=True)
class Column:
    """One column of the leaderboard."""

    key: str
    """The key in `scores.json`."""
    title: str
    """What the leaderboard shows above the column."""
    precision: int
    """Decimals shown."""
    computed: bool
    """Whether the platform computes it from other columns; then `scores.json` must not hold it."""


@dataclass(frozen=True)
class Task:
    """The programs and data of one task; None where the bundle leaves one out."""

    name: str
    """Shown to participants."""
    scoring_program: Path
    """Folder or zip."""
    ingestion_program: Path | None
    """Folder or zip; None for a competition of results."""
    input_data: Path | None
    """Folder or zip."""
    reference_data: Path | None
    """Folder or zip."""


@dataclass(frozen=True)
class Phase:
    """One phase with its only task."""

    name: str
    """As in `competition.yaml`, e.g. "Practice"."""
    task: Task
    """What the phase runs."""
    time_limit_s: int
    """`execution_time_limit`, seconds per job."""

    @property
    def slug(self) -> str:
        """The name on the command line, e.g. "practice"."""
        return self.name.strip().lower().replace(" ", "-")


@dataclass(frozen=True)
class Competition:
    """The parts of `competition.yaml` that running needs."""

    root: Path
    """The folder that holds `competition.yaml`."""
    docker_image: str
    """The image of both programs."""
    detailed_results: bool
    """Whether the platform shows `detailed_results.html`."""
    phases: tuple[Phase, ...]
    """In the order of their index."""
    columns: tuple[Column, ...]
    """In the order of their index."""

    def phase(self, name: str) -> Phase:
        """Find a phase by its name, in any case."""
        for phase in self.phases:
            if name.lower() in {phase.slug, phase.name.lower()}:
                return phase
        known = ", ".join(phase.slug for phase in self.phases)
        raise BundleError(f"--phase: expected one of {known}; found {name!r}.")


def find_root(start: Path | None = None) -> Path:
    """Give the bundle's folder: `start`, else the current folder, else the checkout this package lies in."""
    for folder in [start] if start is not None else [Path.cwd(), Path(__file__).resolve().parent.parent]:
        if (folder / "competition.yaml").is_file():
            return folder.resolve()
    where = start if start is not None else Path.cwd()
    raise BundleError(f"{where}: expected a bundle (a folder with competition.yaml), found none. Use --bundle DIR.")


def load(root: Path) -> Competition:
    """Read `competition.yaml`.

    Raises
    ------
    BundleError
        When it cannot be read; `bundle check` then tells everything that is wrong.
    """
    path = root / "competition.yaml"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
        tasks = {task["index"]: _task(root, task) for task in content["tasks"]}
        return Competition(
            root=root,
            docker_image=content.get("docker_image", "codalab/codalab-legacy:py37"),
            detailed_results=bool(content.get("enable_detailed_results", False)),
            phases=tuple(_phase(entry, tasks) for entry in sorted(content["phases"], key=lambda p: p.get("index", 0))),
            columns=tuple(
                _column(entry)
                for entry in sorted(content["leaderboards"][0]["columns"], key=lambda column: column["index"])
            ),
        )
    except (OSError, ValueError, yaml.YAMLError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise BundleError(f"{path}: cannot be used ({type(error).__name__}: {error}). Run `bundle check`.") from error


def _task(root: Path, entry: dict[str, Any]) -> Task:
    def path(key: str) -> Path | None:
        return root / entry[key] if entry.get(key) else None

    return Task(
        name=str(entry["name"]),
        scoring_program=root / entry["scoring_program"],
        ingestion_program=path("ingestion_program"),
        input_data=path("input_data"),
        reference_data=path("reference_data"),
    )


def _phase(entry: dict[str, Any], tasks: dict[Any, Task]) -> Phase:
    if len(entry["tasks"]) != 1:
        raise BundleError(f"phase {entry['name']!r}: expected one task, found {len(entry['tasks'])}.")
    return Phase(
        name=str(entry["name"]),
        task=tasks[entry["tasks"][0]],
        time_limit_s=int(entry.get("execution_time_limit") or DEFAULT_TIME_LIMIT_S),
    )


def _column(entry: dict[str, Any]) -> Column:
    return Column(
        key=str(entry["key"]),
        title=str(entry["title"]),
        precision=int(entry.get("precision", DEFAULT_PRECISION)),
        computed=bool(entry.get("computation")),
    )
