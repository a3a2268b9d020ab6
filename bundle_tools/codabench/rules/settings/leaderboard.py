"""Rules about the leaderboard and its columns."""

from collections.abc import Iterator
from typing import Any

from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.rules.document import Draft, Key
from bundle_tools.codabench.rules.findings import IGNORED, REFUSED, Finding, shown

DECIMALS_KEPT = 10
# Servers since spring 2026 know it; older ones refuse the bundle.
NEWER = "avg_rank"


def check_leaderboards(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the leaderboard."""
    boards = draft.entries("leaderboards")
    for position, board in boards[1:]:
        what = f"Expected one leaderboard; found {shown(board.get('title'))} as well."
        yield Finding("board-many", "warning", draft.at("leaderboards", position), what, IGNORED, "Keep one.")
    for position, board in boards[:1]:
        yield from _check_board(draft, ("leaderboards", position), board)


def columns_of(draft: Draft) -> list[tuple[tuple[Key, ...], dict[str, Any]]]:
    """Give the columns of the leaderboard with their places in the file."""
    for position, board in draft.entries("leaderboards")[:1]:
        columns = board.get("columns")
        if isinstance(columns, list):
            return [
                (("leaderboards", position, "columns", rank), column)
                for rank, column in enumerate(columns)
                if isinstance(column, dict)
            ]
    return []


def _check_board(draft: Draft, path: tuple[Key, ...], board: dict[str, Any]) -> Iterator[Finding]:
    if "index" in board:
        what = "A leaderboard's index does nothing."
        yield Finding("board-index", "note", draft.at(*path, "index"), what, IGNORED, "Delete it.")
    columns = columns_of(draft)
    if not columns:
        yield Finding(
            "columns-none", "error", draft.at(*path), "It has no columns.", REFUSED, "Add one for each score."
        )
        return
    indexes = [column.get("index") for _, column in columns]
    for place, column in columns:
        yield from _check_computation(draft, place, column, indexes)
        precision = column.get("precision")
        if isinstance(precision, int) and precision > DECIMALS_KEPT:
            what = f"precision: found {precision}."
            effect = f"Codabench keeps {DECIMALS_KEPT} decimals and fills up with zeros."
            fix = f"Write {DECIMALS_KEPT} or less."
            yield Finding("column-precision", "warning", draft.at(*place, "precision"), what, effect, fix)
    for key in ("index", "key"):
        values = [column.get(key) for _, column in columns if column.get(key) is not None]
        twice = sorted({str(value) for value in values if values.count(value) > 1})
        if twice:
            what = f"Columns share the {key} {', '.join(twice)}."
            yield Finding(f"column-{key}-twice", "error", draft.at(*path, "columns"), what, REFUSED, "Make it unique.")
    primary = board.get("primary_index", 0)
    if primary not in indexes:
        what = f"No column has the primary index {shown(primary)}."
        effect = "The leaderboard's page ends in an error."
        yield Finding(
            "board-primary", "error", draft.at(*path, "primary_index"), what, effect, "Start the indexes at 0."
        )
    yield from _check_hidden(draft, path, columns)
    for place, column in columns:
        if "sorting" not in column:
            what = f"The column {shown(column.get('key'))} has no sorting."
            effect = "Codabench takes desc: higher is better."
            yield Finding("column-sorting", "warning", draft.at(*place), what, effect, "Say asc or desc.")


def _check_hidden(
    draft: Draft, path: tuple[Key, ...], columns: list[tuple[tuple[Key, ...], dict[str, Any]]]
) -> Iterator[Finding]:
    hidden = [(place, column) for place, column in columns if is_on(column.get("hidden"))]
    if not hidden:
        return
    if len(hidden) == len(columns):
        what = "Every column is hidden."
        effect = "The leaderboard's page ends in an error."
        yield Finding("columns-hidden", "error", draft.at(*path, "columns"), what, effect, "Show one.")
    indexes = [column["index"] for _, column in columns if isinstance(column.get("index"), int)]
    for place, column in hidden:
        if indexes and column.get("index") == min(indexes):
            what = f"The hidden column {shown(column.get('key'))} has the lowest index."
            effect = "Participants see its score in their list of submissions anyway."
            where = draft.at(*place, "hidden")
            yield Finding(
                "column-first-hidden", "warning", where, what, effect, "Give another column the lowest index."
            )


def _check_computation(
    draft: Draft, path: tuple[Key, ...], column: dict[str, Any], indexes: list[Any]
) -> Iterator[Finding]:
    where = draft.at(*path, "computation_indexes")
    chosen = column.get("computation_indexes")
    effect = "No submission ever gets a score."
    if column.get("computation") is None:
        if chosen is not None:
            what = "computation_indexes without computation."
            yield Finding("column-computation", "error", where, what, REFUSED, "Add computation, or delete it.")
    elif not isinstance(chosen, list) or not chosen or any(type(index) is not int for index in chosen):
        what = f"computation_indexes: expected a list of other columns' indexes; found {shown(chosen)}."
        yield Finding("column-computation", "error", where, what, effect, "List them: [0, 1].")
    elif column.get("index") in chosen or any(index not in indexes for index in chosen):
        what = "computation_indexes: expected indexes of other columns."
        yield Finding("column-computation", "error", where, what, REFUSED, "Correct the list.")
    if column.get("computation") == NEWER:
        what = f"computation: {NEWER} is known to newer servers only."
        effect = "Servers of March 2026 and before refuse the bundle."
        where = draft.at(*path, "computation")
        yield Finding("column-newer", "warning", where, what, effect, "Ask which release the server runs.")
