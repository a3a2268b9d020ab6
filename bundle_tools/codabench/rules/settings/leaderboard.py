"""Rules about the leaderboard and its columns."""

from collections.abc import Collection, Iterator

from bundle_tools.codabench.keys import Board, Column
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import IGNORED, REFUSED, Finding, shown

DECIMALS_KEPT = 10
# Servers since spring 2026 know it; older ones refuse the bundle.
NEWER = "avg_rank"


def check_leaderboards(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the leaderboard."""
    boards = draft.keys.leaderboards
    for board in boards[1:]:
        what = f"Expected one leaderboard; found {shown(board.title)} as well."
        yield Finding("board-many", "warning", draft.at(*board.place), what, IGNORED, "Keep one.")
    for board in boards[:1]:
        yield from _check_board(draft, board)


def _check_board(draft: Draft, board: Board) -> Iterator[Finding]:
    if "index" in board.given:
        what = "A leaderboard's index has no effect."
        yield Finding("board-index", "note", draft.at(*board.place, "index"), what, IGNORED, "Delete it.")
    columns, all_of_them = board.columns, draft.at(*board.place, "columns")
    if not columns:
        what = "It has no columns."
        yield Finding("columns-none", "error", draft.at(*board.place), what, REFUSED, "Add one for each score.")
        return
    indexes = [column.index for column in columns]
    for column in columns:
        yield from _check_column(draft, column, indexes)
    for key in ("index", "key"):
        values = [value for column in columns if (value := getattr(column, key)) is not None]
        twice = sorted({str(value) for value in values if values.count(value) > 1})
        if twice:
            what = f"Columns share the {key} {', '.join(twice)}."
            yield Finding(f"column-{key}-twice", "error", all_of_them, what, REFUSED, "Make it unique.")
    if board.primary_index not in indexes:
        what = f"No column has the primary index {board.primary_index}."
        where, effect = draft.at(*board.place, "primary_index"), "The leaderboard's page ends in an error."
        yield Finding("board-primary", "error", where, what, effect, "Start the indexes at 0.")
    if all(column.hidden for column in columns):
        what = "Every column is hidden."
        effect = "The leaderboard's page ends in an error."
        yield Finding("columns-hidden", "error", all_of_them, what, effect, "Show one.")
    first = min((column for column in columns if column.index is not None), key=lambda one: one.index, default=None)
    if first is not None and first.hidden:
        what = f"The hidden column {shown(first.key)} has the lowest index."
        where, effect = (
            draft.at(*first.place, "hidden"),
            "Participants see its score in their list of submissions anyway.",
        )
        yield Finding("column-first-hidden", "warning", where, what, effect, "Give another column the lowest index.")


def _check_column(draft: Draft, column: Column, indexes: Collection[int]) -> Iterator[Finding]:
    if column.precision > DECIMALS_KEPT:
        what = f"precision: found {column.precision}."
        where, effect = (
            draft.at(*column.place, "precision"),
            f"Codabench keeps {DECIMALS_KEPT} decimals and pads with zeros.",
        )
        yield Finding("column-precision", "warning", where, what, effect, f"Write {DECIMALS_KEPT} or fewer.")
    if "sorting" not in column.given:
        what = f"The column {shown(column.key)} has no sorting."
        effect = "Codabench uses desc: higher is better."
        yield Finding("column-sorting", "warning", draft.at(*column.place), what, effect, "Write asc or desc.")
    if column.computation == NEWER:
        what = f"computation: only newer servers know {NEWER}."
        where, effect = draft.at(*column.place, "computation"), "Servers of March 2026 and before refuse the bundle."
        yield Finding("column-newer", "warning", where, what, effect, "Ask which release the server runs.")
    where, chosen = draft.at(*column.place, "computation_indexes"), column.computation_indexes
    if column.given.get("computation") is None:
        if chosen is not None:
            what = "computation_indexes without computation."
            yield Finding("column-computation", "error", where, what, REFUSED, "Add computation, or delete it.")
    elif not isinstance(chosen, list) or not chosen or any(type(index) is not int for index in chosen):
        what = f"computation_indexes: expected a list of other columns' indexes; found {shown(chosen)}."
        yield Finding(
            "column-computation", "error", where, what, "No submission ever gets a score.", "List them: [0, 1]."
        )
    elif column.index in chosen or any(index not in indexes for index in chosen):
        what = "computation_indexes: expected indexes of other columns."
        yield Finding("column-computation", "error", where, what, REFUSED, "Correct the list.")
