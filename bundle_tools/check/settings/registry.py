"""The leaderboard's columns against the scoring program's own registry of score columns."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from bundle_tools.check.clips.tables import SETTINGS
from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import FAILS_LATER, Finding, shown
from bundle_tools.check.settings.leaderboard import columns_of

REGISTRY = "score/columns.py"
QUESTION = """\
import json, sys
from dataclasses import asdict, is_dataclass
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from score.columns import columns
from score.settings import read_settings
FIELDS = ("key", "title", "direction", "decimals", "minimum", "maximum", "chance", "meaning")
try:
    from score.axes.contrast import SMALLEST_EFFECT
    from score.axes.known_causes import PART_WEIGHTS
    from score.fairness import ENOUGH_PEOPLE
    from score.language.levels import BANDS
    CONSTANTS = {
        "claims_of_causes": PART_WEIGHTS[0],
        "epsilon_least": SMALLEST_EFFECT,
        "people_a_group": ENOUGH_PEOPLE,
        **{f"level_{level}": list(limits) for level, limits in BANDS.items()},
    }
except ImportError:
    CONSTANTS = {}  # a program with other axes has its columns all the same
for path in sys.argv[2:]:
    try:
        settings = read_settings(Path(path))
        told = [{field: getattr(column, field, None) for field in FIELDS} for column in columns(settings)]
        known = asdict(settings) if is_dataclass(settings) else {}
        print(json.dumps({"columns": told, "settings": known, "constants": CONSTANTS}, default=str))
    except Exception as error:
        print(json.dumps({"problem": f"{type(error).__name__}: {error}"}))
"""
TIMEOUT_S = 60
OWN_PROGRAM = Path(__file__).resolve().parents[3] / "scoring_program"


@dataclass(frozen=True)
class Told:
    """What a scoring program says of itself, with the settings of one task."""

    columns: Sequence[dict[str, Any]]
    """Fields of its score columns, in the order of the registry."""
    settings: dict[str, Any]
    """The settings of the reference data as it reads them, what is left out included."""
    constants: dict[str, Any] = field(default_factory=dict)
    """Figures that no setting changes, by name: ``CONSTANTS`` of the question."""
    problem: str = ""
    """Why it cannot tell; empty where it can."""


def check_registry(draft: Draft) -> Iterator[Finding]:
    """Compare keys, titles, directions and decimals; programs without a registry are left alone."""
    for position, told in told_by_programs(draft).items():
        where = draft.at("tasks", position, "scoring_program")
        if told is None:
            what = "The scoring program is not the one of this checkout, so its columns were not asked for."
            effect = "Its code would run on this machine."
            fix = "Unpack the zip and check the folder if you trust it."
            yield Finding("columns-unchecked", "note", where, what, effect, fix)
            continue
        if told.problem:
            what = f"The scoring program cannot tell its columns: {told.problem}"
            yield Finding("columns-unknown", "error", where, what, FAILS_LATER, "Run it: `bundle run`.")
            continue
        yield from _compare(draft, told.columns)
        yield from _check_primary(draft, told.columns)
        return


def told_by_programs(draft: Draft) -> dict[int, Told | None]:
    """Ask the scoring programs that have a registry.

    Returns
    -------
    dict
        Position of a task -> what its program says; None where it is foreign and came in a zip: then it is not asked.
    """
    asked: dict[Path, dict[int, str]] = {}
    answers: dict[int, Told | None] = {}
    programs: dict[Path, Dataset] = {}
    for position, task in draft.entries("tasks"):
        program, reference = find(draft, task.get("scoring_program")), find(draft, task.get("reference_data"))
        if program is None or reference is None or REGISTRY not in program.names():
            continue
        answers[position] = None
        if SETTINGS not in reference.names():
            answers[position] = Told((), {}, problem=f"the reference data have no {SETTINGS}.")
        elif draft.folder or _is_own(program):
            programs[program.path] = program
            asked.setdefault(program.path, {})[position] = reference.text(SETTINGS)
    for path, texts in asked.items():
        answers |= zip(texts, _ask(path, _state(programs[path]), tuple(texts.values())), strict=True)
    return answers


def _check_primary(draft: Draft, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Find a board that ranks by another column than the first of the registry, which is the primary score."""
    for position, board in draft.entries("leaderboards")[:1]:
        primary = board.get("primary_index", 0)
        chosen = [column.get("key") for _, column in columns_of(draft) if column.get("index") == primary]
        first = registry[0]["key"] if registry else None
        if first and chosen and chosen[0] != first:
            what = f"The board ranks by {shown(chosen[0])}; the primary score of the scoring program is {first}."
            where = draft.at("leaderboards", position, "primary_index")
            effect = "Another submission ranks first than pages and reports say."
            fix = f"Write the index of {first} as primary_index, or mean it and change the pages."
            yield Finding("columns-primary", "warning", where, what, effect, fix)


def _compare(draft: Draft, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    declared = {str(column.get("key")): (place, column) for place, column in columns_of(draft)}
    board = draft.at("leaderboards")
    for told in registry:
        key, title, direction, decimals = (told[field] for field in ("key", "title", "direction", "decimals"))
        if key not in declared:
            what = f"The scoring program writes {key}, which is no column."
            yield Finding("columns-missing", "error", board, what, "Codabench drops the score.", "Add the column.")
            continue
        place, column = declared[key]
        if column.get("computation"):
            what = f"The scoring program writes {key}, and Codabench computes it as well."
            effect = "The server fails in the middle of storing the scores."
            yield Finding("columns-computed", "error", draft.at(*place), what, effect, "Delete the computation.")
        if column.get("sorting", "desc") != direction:
            what = f"{key}: expected sorting {direction} as in the scoring program; found another."
            effect = "The worst submission ranks first."
            yield Finding("columns-sorting", "error", draft.at(*place), what, effect, f"Write {direction}.")
        if column.get("title") != title:
            what = f"{key}: titled {shown(title)} in the scoring program and {shown(column.get('title'))} here."
            where = draft.at(*place, "title")
            yield Finding("columns-title", "warning", where, what, "Report and board disagree.", "Use one title.")
        precision = column.get("precision", 2)
        if isinstance(precision, int) and precision < decimals:
            what = f"{key}: the scoring program gives {decimals} decimals; found precision {precision}."
            where = draft.at(*place, "precision")
            yield Finding("columns-precision", "warning", where, what, "Differences vanish.", f"Write {decimals}.")
    known = dict.fromkeys(told["key"] for told in registry)
    for key, (place, column) in declared.items():
        if key not in known and not column.get("computation"):
            what = f"The scoring program never writes {shown(key)}."
            effect = "The column stays n/a, and rows without the primary score rank first."
            yield Finding("columns-extra", "error", draft.at(*place), what, effect, "Delete the column.")
    if [key for key in declared if key in known] != [key for key in known if key in declared]:
        what = "The columns stand in another order than in the scoring program."
        yield Finding("columns-order", "note", board, what, "Pages and report show another order.", "Reorder them.")


def _state(program: Dataset) -> tuple[tuple[str, int, int], ...]:
    """Give what changes when a program does."""
    if not program.path.is_dir():
        state = program.path.stat()
        return ((program.path.name, state.st_mtime_ns, state.st_size),)
    states = [(name, (program.path / name).stat()) for name in program.names() if name.startswith("score/")]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


# Two rules ask the same, and a program takes a while to start.
@lru_cache(maxsize=4)
def _ask(path: Path, _state: tuple[tuple[str, int, int], ...], settings: tuple[str, ...]) -> tuple[Told, ...]:
    """Start a scoring program once, and ask it about the settings of some tasks."""
    with tempfile.TemporaryDirectory() as folder:
        tasks = []
        for number, text in enumerate(settings):
            tasks.append(Path(folder) / f"{number}" / SETTINGS)
            tasks[-1].parent.mkdir()
            tasks[-1].write_text(text, encoding="utf-8")
        source = path
        if not path.is_dir():
            source = Path(folder) / "program"
            program = Dataset(path)
            for name in program.names():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_bytes(program.read(name))
        try:
            # -B: asking must not leave caches in the folder that would be packed.
            done = subprocess.run(  # noqa: S603 - the organiser's own program
                [sys.executable, "-B", "-c", QUESTION, str(source), *map(str, tasks)],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            if done.returncode == 0:
                # Whatever the program prints itself comes before.
                lines = done.stdout.splitlines()[-len(tasks) :]
                return tuple(_told(json.loads(line)) for line, _ in zip(lines, tasks, strict=True))
            problem = (done.stderr.strip().splitlines() or ["no reason given."])[-1]
        except (subprocess.TimeoutExpired, ValueError, TypeError, KeyError) as error:
            problem = f"{error}."
        return (Told((), {}, problem=problem),) * len(tasks)


def _told(answer: dict[str, Any]) -> Told:
    return Told(**answer) if "columns" in answer else Told((), {}, problem=str(answer["problem"]))


def _is_own(program: Dataset) -> bool:
    own = Dataset(OWN_PROGRAM)
    names = [name for name in program.names() if name.startswith("score/")]
    return bool(names) and all(name in own.names() and own.read(name) == program.read(name) for name in names)
