"""The leaderboard, with problems of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from bundle_tools.codabench.server import age
from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.http import Connection
from bundle_tools.codabench.server.interface.records import Column, Competition, Phase, Submission

NO_SCORE = "no score: the leaderboard puts it above all others. Delete it, or run it again"
OLD = "ran on programs or data that have been replaced. Run it again: `bundle server replace`"


@dataclass(frozen=True)
class Row:
    """One row."""

    submission: Submission
    score: float | None
    remarks: tuple[str, ...]
    """Problems for an organiser; empty if there are none."""


@dataclass(frozen=True)
class Board:
    """The rows of a phase, in the server's order, and submissions without a row."""

    rows: tuple[Row, ...]
    """The first one ranks first."""
    others: tuple[Row, ...]
    """Submissions with problems that are not on the leaderboard."""
    counts: dict[str, int]
    """Number of submissions by status."""


def read_board(connection: Connection, competition: Competition, phase: Phase) -> Board:
    """Read the leaderboard and all submissions of a phase.

    Raises ServerError if the server does not show them to this account.
    """
    found = {one.submission_id: one for one in calls.submissions(connection, phase)}
    newest = age.since(connection, phase)
    primary = competition.primary()

    def row(one: Submission) -> Row:
        remarks = []
        if one.status == "Finished" and primary not in one.scores:
            remarks.append(NO_SCORE)
        # Submissions run again after the end, with replaced parts, have dates that do not concern the participant.
        if phase.end is not None and one.created > phase.end and (newest is None or newest <= phase.end):
            remarks.append(f"made after the end, {phase.end:%Y-%m-%d %H:%M} UTC")
        if phase.start is not None and one.created < phase.start:
            remarks.append(f"made before the start, {phase.start:%Y-%m-%d %H:%M} UTC")
        if one.status == "Finished" and age.is_old(one, newest):
            remarks.append(OLD)
        return Row(one, one.scores.get(primary), tuple(remarks))

    shown = [int(entry["id"]) for entry in calls.board(connection, phase)]
    rows = [row(found[submission_id]) for submission_id in shown if submission_id in found]
    own = [one for one in found.values() if not one.elsewhere]
    others = [row(one) for one in own if one.submission_id not in shown and one.status == "Finished"]
    counts: dict[str, int] = {}
    for one in own:
        counts[one.status] = counts.get(one.status, 0) + 1
    return Board(tuple(rows), tuple(other for other in others if NO_SCORE in other.remarks), counts)


def lines(board: Board, column: Column | None) -> list[str]:
    """Format the leaderboard for a terminal."""
    decimals = column.precision if column else 2
    told = [
        (str(place), row.submission.owner, _score(row.score, decimals), _when(row.submission),
         f"#{row.submission.submission_id}", "; ".join(row.remarks))
        for place, row in enumerate(board.rows, 1)
    ]  # fmt: skip
    header = ("", "participant", column.key if column else "score", "made (UTC)", "", "")
    written = _table([header, *told]) if told else ["No rows."]
    if board.others:
        written += ["", "Not on the leaderboard, with problems:"]
        written += [
            f"  #{one.submission_id} {one.owner}, {_when(one)}: {'; '.join(row.remarks)}"
            for row in board.others
            for one in [row.submission]
        ]
    counted = ", ".join(f"{count} {status}" for status, count in sorted(board.counts.items()))
    return [*written, "", f"Submissions: {counted or 'none'}."]


def _score(value: float | None, decimals: int) -> str:
    return "n/a" if value is None else f"{value:.{decimals}f}"


def _when(submission: Submission) -> str:
    return f"{submission.created:%Y-%m-%d %H:%M}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
