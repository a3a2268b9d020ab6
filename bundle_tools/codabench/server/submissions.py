"""The submissions to a phase: the leaderboard with the problems of its rows, and a folder with all files."""

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from bundle_tools.codabench.server.records import ServerCompetition, ServerPhase, Submission, download
from bundle_tools.codabench.worker.jobs import METADATA_NAMES
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.tables import write_table
from bundle_tools.untrusted import read_json

AT_ONCE = 4
TABLE = "submissions.csv"
"""One line per submission: its folder, and whether it is on the leaderboard."""
COLUMNS = ("submission", "participant", "made_utc", "status", "on_board", "file", "phase", "folder", "problems")
"""Its columns before the scores."""
OUTPUT = "prediction_output.zip"
"""The output of the submission's model, in its folder."""
FILES = {
    "data_file": "submission.zip",
    "prediction_result": OUTPUT,
    "scoring_result": "scoring_output.zip",
    "detailed_result": "report.html",
}
"""The server's name of a file -> its name here."""
RECORD = "submission.json"
"""Written last, so a folder with it is complete."""
LARGEST_TABLE = 64 * 2**20
FORMS = {"phase": "[0-9]{1,18}", "folder": r"\w[\w.-]{0,99}", "on_board": "[01]"}
"""Columns of the table that are used -> pattern of their cells."""
NO_SCORE = "no score: the leaderboard puts it above all others. Delete it, or run it again"
DISTURBED = "the score is not comparable, which is the organisers' fault"
LARGEST_RECORD = 16 * 2**20
OLD = "ran on programs or data that have been replaced. Run it again: `bundle server replace`"


def row_problems(submission: Submission, phase: ServerPhase, primary: str, newest: datetime | None) -> list[str]:
    """Return what an organiser should know about a row.

    `primary`: key of the column that ranks. `newest`: when the phase got its newest part. A Finished submission without
    a score is a row, too: the server puts it above all others.
    """
    problems = []
    if submission.status == "Finished" and primary not in submission.scores:
        problems.append(NO_SCORE)
    # Submissions run again after the end, with replaced parts, have dates that do not concern the participant.
    if phase.end is not None and submission.created > phase.end and (newest is None or newest <= phase.end):
        problems.append(f"made after the end, {phase.end:%Y-%m-%d %H:%M} UTC")
    if phase.start is not None and submission.created < phase.start:
        problems.append(f"made before the start, {phase.start:%Y-%m-%d %H:%M} UTC")
    if submission.status == "Finished" and submission.is_older(newest):
        problems.append(OLD)
    return problems


def record_of(output: Path) -> dict[str, Any]:
    """Return ingestion's record of a run, not trusted; empty if it cannot be read. `output`: of the model, a zip."""
    try:
        with zipfile.ZipFile(output) as opened, opened.open("run.json") as file:
            record = json.loads(file.read(LARGEST_RECORD))
    except (*UNREADABLE, KeyError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def run_problems(output: Path) -> list[str]:
    """Return what ingestion's record says of a run that no participant is to blame for; not trusted.

    `output`: the output of the submission's model, a zip. Its `run.json` has `problems` with `code` and `fault`, and
    `processor` with `memory_kills`.
    """
    record = record_of(output)
    try:
        codes = dict.fromkeys(one["code"] for one in record["problems"] if one["fault"] == "organiser")
        kills = int((record["processor"] or {}).get("memory_kills", 0))  # older records do not tell
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    lines = [f"{kills} processes killed for lack of memory"] if kills else []
    named = ", ".join(code for code in codes if re.fullmatch("[a-z_]{1,60}", str(code)))
    return [*lines, f"{DISTURBED}: {named}. Run it again"] if named else lines


def board_lines(connection: ServerConnection, competition: ServerCompetition, phase: ServerPhase) -> list[str]:
    """Return the leaderboard for a terminal: its rows in the server's order, and other submissions without a score.

    Raises ServerError if the server does not show them to this account.
    """
    by_id = {entry.submission_id: entry for entry in records.submissions(connection, phase)}
    newest, primary = records.newest_part(connection, phase), competition.primary
    path = f"/api/phases/{phase.phase_id}/get_leaderboard/"
    shown = [int(entry["id"]) for entry in connection.call("GET", path)["submissions"]]

    def cells(entry: Submission, rank: int) -> tuple[str, ...]:
        score = entry.scores.get(primary)
        return (
            str(rank), entry.owner, "n/a" if score is None else f"{score:.{competition.columns[primary]}f}",
            f"{entry.created:%Y-%m-%d %H:%M}", f"#{entry.submission_id}",
            "; ".join(row_problems(entry, phase, primary, newest)),
        )  # fmt: skip

    rows = [cells(by_id[number], rank) for rank, number in enumerate((id_ for id_ in shown if id_ in by_id), 1)]
    rows = [("", "participant", primary or "score", "made (UTC)", "", ""), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    lines = table if len(table) > 1 else ["No rows."]
    own = [entry for entry in by_id.values() if not entry.elsewhere]
    others = [
        f"  #{entry.submission_id} {entry.owner}, {entry.created:%Y-%m-%d %H:%M}: {'; '.join(problems)}"
        for entry in own
        if entry.submission_id not in shown
        and NO_SCORE in (problems := row_problems(entry, phase, primary, newest))
    ]  # fmt: skip
    if others:
        lines += ["", "Not on the leaderboard, with problems:", *others]
    statuses = [entry.status for entry in own]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in sorted(set(statuses)))
    return [*lines, "", f"Submissions: {counts or 'none'}."]


@dataclass(frozen=True)
class Fetched:
    """The present state of a fetched folder."""

    table: Path
    """One line per submission."""
    new: int
    kept: int
    missing: tuple[str, ...]
    """Missing files and submissions that bring a command, one line each."""
    rows: tuple[str, ...]
    """Rows of the leaderboard with problems, one line each."""


def fetch(
    connection: ServerConnection,
    competition: ServerCompetition,
    phase: ServerPhase,
    out: Path,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch every finished submission that is not here yet, and write the table.

    `out`: a new or empty folder, or that of an earlier call. Raises BundleError if `out` contains something else, or if
    the server cannot be reached.
    """
    table = out / TABLE
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not table.is_file())):
        raise BundleError(f"--out {out}: contains files that this command did not write. Choose another folder.")
    if table.is_file() and {int(line["phase"]) for line in _lines(out)} - {phase.phase_id}:
        raise BundleError(f"--out {out}: contains submissions to another phase. Choose another folder.")
    own = [entry for entry in records.submissions(connection, phase) if not entry.elsewhere]
    newest = records.newest_part(connection, phase)
    names = {entry.submission_id: f"#{entry.submission_id} {entry.owner}" for entry in own}
    folders = {entry.submission_id: out / f"{entry.submission_id}-{_plain(entry.owner)}" for entry in own}
    problems = {entry.submission_id: row_problems(entry, phase, competition.primary, newest) for entry in own}
    out.mkdir(parents=True, exist_ok=True)

    def write() -> None:
        rows = [
            (entry.submission_id, entry.owner, f"{entry.created:%Y-%m-%d %H:%M:%S}", entry.status, int(entry.on_board),
             entry.file_name, entry.phase_id, folders[entry.submission_id].name,
             "; ".join(problems[entry.submission_id]), *(entry.scores.get(key, "") for key in competition.columns))
            for entry in own
        ]  # fmt: skip
        write_table(table, (*COLUMNS, *competition.columns), rows)

    write()  # so that an interrupted call goes on
    todo = [entry for entry in own if entry.ended and not _is_here(folders[entry.submission_id], entry)]
    running = [entry for entry in own if not entry.ended]
    missing = [
        f"{names[entry.submission_id]}: {entry.status}. Repeat this command when it has ended." for entry in running
    ]
    new = 0
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        work = {entry.submission_id: pool.submit(_bring, connection, entry, folders[entry.submission_id])
                for entry in todo}  # fmt: skip
        for done, (number, future) in enumerate(work.items(), 1):
            try:
                missing += [f"{names[number]}: {line}" for line in future.result()]
                new += 1
            except ServerError as error:
                missing.append(f"{names[number]}: {error}")
            if progress is not None:
                progress(done, len(work))
    finally:  # on an interruption, do not wait for the rest
        pool.shutdown(cancel_futures=True)
    for number, folder in folders.items():
        problems[number] += run_problems(folder / OUTPUT)
    write()
    missing += [
        f"{names[number]}: its zip contains metadata, which can start a command of its own: "
        "inspect it before you trust the row."
        for number, folder in folders.items()
        if _brings_a_command(folder / FILES["data_file"])
    ]
    of_rows = [
        f"{names[entry.submission_id]}: {'; '.join(lines)}"
        for entry in own
        if (lines := problems[entry.submission_id]) and (entry.on_board or NO_SCORE in lines or DISTURBED in lines[-1])
    ]
    return Fetched(table, new, len(own) - len(todo) - len(running), tuple(missing), tuple(of_rows))


def _bring(connection: ServerConnection, submission: Submission, folder: Path) -> list[str]:
    """Fetch one submission; return what the server has lost."""
    unfinished = folder.with_name(folder.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "logs").mkdir(parents=True)
    files = connection.call("GET", f"/api/submissions/{submission.submission_id}/get_details/")
    wanted = {FILES[name]: files.get(name) for name in FILES}
    wanted |= {f"logs/{_plain(str(log['name']))}.txt": log.get("data_file") for log in files.get("logs") or []}
    missing = []
    for name, url in wanted.items():
        if not url:
            continue  # a failed run has no scoring output, and a run of results has no logs
        try:
            download(connection, str(url), unfinished / name)
            if (unfinished / name).stat().st_size == 0:  # of a run that was cut off
                (unfinished / name).unlink()
        except ServerError as error:
            if error.status not in (403, 404):
                raise
            missing.append(f"{name}: the server has lost it (status {error.status}).")
    (unfinished / RECORD).write_text(json.dumps(_record(submission), indent=1) + "\n", "utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    return missing


def _brings_a_command(archive: Path) -> bool:
    """Return whether the platform may have run a command of the submission beside ingestion."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return bool(set(METADATA_NAMES) & set(opened.namelist()))
    except UNREADABLE:
        return False


def _is_here(folder: Path, submission: Submission) -> bool:
    """Return whether a folder has the current state of a submission: scores may arrive after the first call."""
    try:
        return bool(read_json(folder / RECORD) == _record(submission))
    except BundleError:
        return False


def _record(submission: Submission) -> Mapping[str, Any]:
    content = asdict(submission)
    del content["on_board"]  # changes when others submit, and is in the table
    return {**content, "created": submission.created.isoformat()}


def _plain(text: str) -> str:
    """Return a safe file name for any account name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:60] or "unnamed"


def is_fetched(folder: Path) -> bool:
    """Return whether `bundle server fetch` made a folder."""
    return (folder / TABLE).is_file()


def runs_in(folder: Path) -> list[Path]:
    """Return the folders of the submissions on the board; if there are none, of all with an output.

    Raises BundleError if the folder's table is another one.
    """
    there = [line for line in _lines(folder) if (folder / line["folder"] / OUTPUT).is_file()]
    on_board = [line for line in there if line["on_board"] == "1"]
    return [folder / line["folder"] for line in on_board or there]


def _lines(folder: Path) -> Sequence[dict[str, str]]:
    """Read the untrusted table: no path may lead out of the folder."""
    path = folder / TABLE

    def refusal(number: int, problem: str) -> BundleError:
        expected = "expected a line of `bundle server fetch`"
        return BundleError(f"{path}, line {number}: {expected}, found {problem}. Fetch again, into another folder.")

    if path.stat().st_size > LARGEST_TABLE:
        raise refusal(1, f"more than {LARGEST_TABLE} bytes after it")
    text = path.read_text("utf-8", errors="backslashreplace")
    reader, lines = csv.DictReader(io.StringIO(text, newline=""), strict=True), []
    try:
        for line in reader:
            for column, form in FORMS.items():
                if not re.fullmatch(form, line.get(column) or ""):
                    raise refusal(reader.line_num, f"{line.get(column)!r:.40} in the column {column}")
            if (folder / line["folder"]).is_symlink():
                raise refusal(reader.line_num, "a folder that is a link")
            lines.append(line)
    except csv.Error as error:
        raise refusal(reader.reader.line_num, str(error)) from None
    return lines
