"""What to know of a phase's submissions, one row each, and what to do about them: for `watch` and `fetch`."""

import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from bundle_tools.codabench.server.records import ServerCompetition, ServerPhase, Submission
from bundle_tools.console import counted
from bundle_tools.errors import BundleError

Result = TypeVar("Result")
AT_ONCE = 4
"""Requests at the same time."""
NOT_COMPARABLE = "not_comparable"
"""Key of a column that is 1 if a busy machine lowered the scores; boards of other challenges may lack it."""
BUSY = "machine_busy"
"""Code of the problem in a run's record that says the same."""
LARGEST_RECORD = 4 * 2**20
CODE = re.compile("[a-z_]{1,60}")
MARKS = ("faults", "late", "no_score", "replaced", "machine_busy", "memory_kills")
"""Columns of the table that an organiser should look at."""


@dataclass(frozen=True)
class RunRecord:
    """What ingestion's record says of a run; not trusted."""

    faults: tuple[str, ...] = ()
    """Codes of problems that are the organisers' fault, without that of a busy machine."""
    busy: bool = False
    """Whether a busy machine cost the run time."""
    memory_kills: int = 0
    """Processes that were ended for lack of memory, which is the participant's fault."""


@dataclass(frozen=True)
class Row:
    """One submission and its marks."""

    submission: Submission
    late: str
    """When it was made, if that was not in the phase; else empty."""
    no_score: bool
    """Whether it is Finished without the score that ranks: the server puts it above all others."""
    replaced: bool
    """Whether it ran on programs or data that have been replaced."""
    record: RunRecord

    @property
    def marks(self) -> dict[str, str]:
        """The marks as cells of a table, by `MARKS`; empty where there is nothing to say."""
        kills = self.record.memory_kills
        busy = self.record.busy or self.submission.scores.get(NOT_COMPARABLE) == 1
        cells = (
            " ".join(self.record.faults), self.late, "1" * self.no_score, "1" * self.replaced, "1" * busy,
            str(kills) if kills else "",
        )  # fmt: skip
        return dict(zip(MARKS, cells, strict=True))

    @property
    def remarks(self) -> str:
        """The marks in a few words."""
        words = {
            "faults": "organisers' fault: {}", "late": "{}", "no_score": "no score", "replaced": "of replaced parts",
            "machine_busy": "machine busy, not comparable", "memory_kills": "memory kills: {}",
        }  # fmt: skip
        return "; ".join(words[key].format(cell) for key, cell in self.marks.items() if cell)


def rows_of(
    connection: ServerConnection,
    competition: ServerCompetition,
    phase: ServerPhase,
    own: Iterable[Submission],
    read: Callable[[Submission], RunRecord],
) -> list[Row]:
    """Return one row per submission.

    `read`: returns the record of a submission's run. Late are submissions that the website would have refused;
    submissions run again after the end, with replaced parts, have dates that do not concern the participant.
    """
    newest = records.newest_part(connection, phase)
    # A rank is no score; then the first column stands for all.
    needed = {competition.primary} & competition.columns.keys() or set(list(competition.columns)[:1])

    def late(made: datetime) -> str:
        if phase.end is not None and made > phase.end and (newest is None or newest <= phase.end):
            return f"made after the end, {phase.end:%Y-%m-%d %H:%M} UTC"
        if phase.start is not None and made < phase.start:
            return f"made before the start, {phase.start:%Y-%m-%d %H:%M} UTC"
        return ""

    return [
        Row(
            entry,
            late(entry.created),
            no_score=entry.status == "Finished" and not needed <= entry.scores.keys(),
            replaced=entry.status == "Finished" and entry.is_older(newest),
            record=read(entry),
        )
        for entry in own
    ]


def record_in(output: Path) -> dict[str, Any]:
    """Return ingestion's record of a run, not trusted; empty if it cannot be read. `output`: of the model, a zip."""
    try:
        with zipfile.ZipFile(output) as opened, opened.open("run.json") as file:
            record = json.loads(file.read(LARGEST_RECORD))
    except (*UNREADABLE, KeyError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def record_on_server(connection: ServerConnection, submission_id: int) -> dict[str, Any]:
    """Fetch ingestion's record of a run; empty if it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="bundle-record-") as folder:
        output = Path(folder) / "prediction_output.zip"
        try:
            url = connection.call("GET", f"/api/submissions/{submission_id}/get_details/")["prediction_result"]
            if url:  # else it failed before it had an output
                records.download(connection, str(url), output)
        except (BundleError, KeyError, TypeError, ValueError):
            pass
        return record_in(output)


def run_record(record: Mapping[str, Any]) -> RunRecord:
    """Read what `run.json` says in `problems`, with `code` and `fault`, and in `processor`, with `memory_kills`."""
    try:
        codes = [str(entry["code"]) for entry in record["problems"] if entry["fault"] == "organiser"]
        kills = int((record.get("processor") or {}).get("memory_kills", 0))  # older records do not tell
    except (AttributeError, KeyError, TypeError, ValueError):
        return RunRecord()
    named = [code for code in dict.fromkeys(codes) if CODE.fullmatch(code)]
    return RunRecord(tuple(code for code in named if code != BUSY), BUSY in named, kills)


def in_parallel(
    items: Sequence[Submission], work: Callable[[Submission], Result]
) -> Iterator[tuple[Submission, Result | ServerError]]:
    """Yield each item and its result, or the server's error, as they are ready; an interruption waits for nothing."""
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        futures = {pool.submit(work, item): item for item in items}
        for future in as_completed(futures):
            try:
                result: Result | ServerError = future.result()
            except ServerError as error:
                result = error
            yield futures.pop(future), result
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class ToDo:
    """Something that an organiser should do about some rows, and the command that does it."""

    why: str
    rows: tuple[Row, ...]
    commands: tuple[str, ...]
    """Arguments of `bundle server`; {where} is the competition and its phase, {ids} the rows' numbers."""

    def lines(self, where: str) -> Iterator[str]:
        """Yield the lines to print; `where`: what follows the command, the competition and its phase."""
        yield f"{self.why}:"
        for row in self.rows:
            yield f"  #{row.submission.submission_id} {row.submission.owner}: {row.remarks or row.submission.status}"
        ids = " ".join(str(row.submission.submission_id) for row in self.rows)
        for command in self.commands:
            yield f"  bundle server {command.format(where=where, ids=ids)}"


def to_do(rows: Sequence[Row], competition: ServerCompetition, excused: Iterable[int] = ()) -> list[ToDo]:
    """List what to do, the most urgent first; nothing about the submissions that are excused."""
    passed = tuple(excused)
    left = [row for row in rows if row.submission.submission_id not in passed]
    rerun, forced = "rerun {where} {ids}", competition.rule.startswith("Force_")
    on_board = {row.submission.owner for row in rows if row.submission.on_board}
    without = {
        row.submission.owner: row
        for row in sorted(rows, key=lambda row: competition.value(row.submission))
        if set(competition.columns) <= row.submission.scores.keys() and row.submission.owner not in on_board
    }
    replaces = ", and takes the participant's other row off" if competition.rule == "Force_Best" else ""
    listed = (
        ToDo(
            f"Without a score, the leaderboard puts it above all others{replaces}. Scores come a moment after "
            "Finished, so look twice; then run it again, or delete it",
            tuple(row for row in left if row.no_score),
            (rerun, "delete {where} {ids}"),
        ),
        ToDo(
            "The machine or the organisers' side disturbed these runs, so run them again",
            tuple(row for row in left if row.marks["machine_busy"] or (row.record.faults and row.submission.ended)),
            (rerun,),
        ),
        ToDo(
            "These ran on programs or data that have been replaced",
            tuple(row for row in left if row.replaced),
            ("replace {where}",),
        ),
        ToDo(
            "Made while the website takes nothing: delete them, or excuse them",
            tuple(row for row in left if row.late),
            (
                "delete {where} {ids}",
                f"watch {{where}} --excuse {' '.join(map(str, passed))} {{ids}}".replace("  ", " "),
            ),
        ),
        ToDo(
            "Scored, but their owners have no row, such as after a deletion: the leaderboard is made when a run ends",
            tuple(row for row in without.values() if forced and row in left),
            (rerun,),
        ),
    )
    return [entry for entry in listed if entry.rows]


def table(rows: Sequence[Row], competition: ServerCompetition, order: Sequence[int]) -> list[str]:
    """Return the rows for a terminal, those of the leaderboard first.

    `order`: the numbers of the submissions on the leaderboard, the best first.
    """
    ranks = {number: rank for rank, number in enumerate(order, 1)}
    decimals = competition.columns.get(competition.primary, 0)

    def cells(row: Row) -> tuple[str, ...]:
        entry = row.submission
        score = entry.scores.get(competition.primary)
        return (
            str(ranks.get(entry.submission_id, "")), f"#{entry.submission_id}", entry.owner,
            f"{entry.created:%Y-%m-%d %H:%M}", entry.status, "n/a" if score is None else f"{score:.{decimals}f}",
            row.remarks,
        )  # fmt: skip

    ranked = sorted(rows, key=lambda row: ranks.get(row.submission.submission_id, len(ranks) + 1))
    lines = [("", "", "participant", "made (UTC)", "status", competition.primary or "score", ""), *map(cells, ranked)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    statuses = [row.submission.status for row in rows]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in sorted(set(statuses)))
    printed = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines] if rows else []
    return [*printed, f"{counted(len(rows), 'submission')}{': ' * bool(counts)}{counts}."]


class Watch:
    """Looks at a phase again and again; each run's record is fetched once."""

    def __init__(self, connection: ServerConnection, competition: ServerCompetition, phase: ServerPhase) -> None:
        self._connection, self._competition, self._phase = connection, competition, phase
        self._known: dict[int, RunRecord] = {}

    def lines(self, where: str, excused: Iterable[int]) -> list[str]:
        """Return the table and what to do; raises ServerError if the server does not answer."""
        own = [entry for entry in records.submissions(self._connection, self._phase) if not entry.elsewhere]
        new = [entry for entry in own if entry.ended and entry.submission_id not in self._known]
        for entry, record in in_parallel(new, lambda entry: record_on_server(self._connection, entry.submission_id)):
            if isinstance(record, dict) and record:  # else it may not have arrived
                self._known[entry.submission_id] = run_record(record)
        rows = rows_of(
            self._connection, self._competition, self._phase, own,
            lambda entry: self._known.get(entry.submission_id, RunRecord()),
        )  # fmt: skip
        board = self._connection.call("GET", f"/api/phases/{self._phase.phase_id}/get_leaderboard/")
        lines = table(rows, self._competition, [int(entry["id"]) for entry in board["submissions"]])
        for item in to_do(rows, self._competition, excused):
            lines += ["", *item.lines(where)]
        return lines
