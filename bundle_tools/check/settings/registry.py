"""The leaderboard's columns against the scoring program's own registry of score columns."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import FAILS_LATER, Finding, shown
from bundle_tools.check.settings.leaderboard import columns_of

REGISTRY = "score/columns.py"
QUESTION = """\
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from score.columns import columns
from score.settings import read_settings
print(json.dumps([[c.key, c.title, c.direction, c.decimals] for c in columns(read_settings(Path(sys.argv[2])))]))
"""
TIMEOUT_S = 60
OWN_PROGRAM = Path(__file__).resolve().parents[3] / "scoring_program"


def check_registry(draft: Draft) -> Iterator[Finding]:
    """Compare keys, titles, directions and decimals; programs without a registry are left alone."""
    for position, task in draft.entries("tasks"):
        program, reference = find(draft, task.get("scoring_program")), find(draft, task.get("reference_data"))
        if program is None or reference is None or REGISTRY not in program.names():
            continue
        where = draft.at("tasks", position, "scoring_program")
        if not draft.folder and not _is_own(program):
            what = "The scoring program is not the one of this checkout, so its columns were not asked for."
            effect = "Its code would run on this machine."
            fix = "Unpack the zip and check the folder if you trust it."
            yield Finding("columns-unchecked", "note", where, what, effect, fix)
            continue
        registry, problem = _ask(program, reference)
        if problem:
            what = f"The scoring program cannot tell its columns: {problem}"
            yield Finding("columns-unknown", "error", where, what, FAILS_LATER, "Run it: `bundle run`.")
            continue
        yield from _compare(draft, registry)
        yield from _check_primary(draft, registry)
        return


def _check_primary(draft: Draft, registry: list[list[Any]]) -> Iterator[Finding]:
    """Find a board that ranks by another column than the first of the registry, which is the primary score."""
    for position, board in draft.entries("leaderboards")[:1]:
        primary = board.get("primary_index", 0)
        chosen = [column.get("key") for _, column in columns_of(draft) if column.get("index") == primary]
        if registry and chosen and chosen[0] != registry[0][0]:
            what = (
                f"The board ranks by {shown(chosen[0])}; the primary score of the scoring program is {registry[0][0]}."
            )
            where = draft.at("leaderboards", position, "primary_index")
            effect = "Another submission ranks first than pages and reports say."
            fix = f"Write the index of {registry[0][0]} as primary_index, or mean it and change the pages."
            yield Finding("columns-primary", "warning", where, what, effect, fix)


def _compare(draft: Draft, registry: list[list[Any]]) -> Iterator[Finding]:
    declared = {str(column.get("key")): (place, column) for place, column in columns_of(draft)}
    board = draft.at("leaderboards")
    for key, title, direction, decimals in registry:
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
    known = {key for key, *_ in registry}
    for key, (place, column) in declared.items():
        if key not in known and not column.get("computation"):
            what = f"The scoring program never writes {shown(key)}."
            effect = "The column stays n/a, and rows without the primary score rank first."
            yield Finding("columns-extra", "error", draft.at(*place), what, effect, "Delete the column.")
    order = [key for key in declared if key in known]
    if order != [key for key, *_ in registry if key in declared]:
        what = "The columns stand in another order than in the scoring program."
        yield Finding("columns-order", "note", board, what, "Pages and report show another order.", "Reorder them.")


def _ask(program: Dataset, reference: Dataset) -> tuple[list[list[Any]], str | None]:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.yaml"
        if "task.yaml" not in reference.names():
            return [], "the reference data have no task.yaml."
        task.write_bytes(reference.read("task.yaml"))
        source = program.path
        if not source.is_dir():
            source = Path(folder) / "program"
            for name in program.names():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_bytes(program.read(name))
        try:
            # -B: asking must not leave caches in the folder that would be packed.
            done = subprocess.run(  # noqa: S603 - the organiser's own program
                [sys.executable, "-B", "-c", QUESTION, str(source), str(task)],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            if done.returncode == 0:
                return list(json.loads(done.stdout.splitlines()[-1])), None
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            return [], f"{error}."
        lines = done.stderr.strip().splitlines()
        return [], lines[-1] if lines else "no reason given."


def _is_own(program: Dataset) -> bool:
    own = Dataset(OWN_PROGRAM)
    names = [name for name in program.names() if name.startswith("score/")]
    return bool(names) and all(name in own.names() and own.read(name) == program.read(name) for name in names)
