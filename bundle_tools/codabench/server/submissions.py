"""The submissions to a phase, with all their files, in a folder."""

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from bundle_tools.codabench.server.records import ServerCompetition, ServerPhase, Submission, download
from bundle_tools.codabench.server.rows import MARKS, Row, ToDo, in_parallel, record_in, rows_of, run_record, to_do
from bundle_tools.codabench.worker.jobs import METADATA_NAMES
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.tables import write_table
from bundle_tools.untrusted import read_json

TABLE = "submissions.csv"
"""One line per submission: its folder, and whether it is on the leaderboard."""
COLUMNS = ("submission", "participant", "made_utc", "status", "on_board", "file", "phase", "folder")
"""Its columns before the marks and the scores."""
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


@dataclass(frozen=True)
class Fetched:
    """The present state of a fetched folder."""

    table: Path
    """One line per submission."""
    new: int
    kept: int
    missing: tuple[str, ...]
    """Missing files and submissions that bring a command, one line each."""
    to_do: tuple[ToDo, ...]
    """What an organiser should do about rows."""


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
    names = {entry.submission_id: f"#{entry.submission_id} {entry.owner}" for entry in own}
    folders = {entry.submission_id: out / f"{entry.submission_id}-{_plain(entry.owner)}" for entry in own}
    out.mkdir(parents=True, exist_ok=True)

    def write() -> list[Row]:
        rows = rows_of(
            connection, competition, phase, own,
            lambda entry: run_record(record_in(folders[entry.submission_id] / OUTPUT)),
        )  # fmt: skip
        cells = [
            (entry.submission_id, entry.owner, f"{entry.created:%Y-%m-%d %H:%M:%S}", entry.status, int(entry.on_board),
             entry.file_name, entry.phase_id, folders[entry.submission_id].name, *row.marks.values(),
             *(entry.scores.get(key, "") for key in competition.columns))
            for row in rows for entry in [row.submission]
        ]  # fmt: skip
        write_table(table, (*COLUMNS, *MARKS, *competition.columns), cells)
        return rows

    write()  # so that an interrupted call goes on
    wanted = [entry for entry in own if entry.ended and not _is_here(folders[entry.submission_id], entry)]
    running = [entry for entry in own if not entry.ended]
    missing = [
        f"{names[entry.submission_id]}: {entry.status}. Repeat this command when it has ended." for entry in running
    ]
    new = 0
    results = in_parallel(wanted, lambda entry: _bring(connection, entry, folders[entry.submission_id]))
    for done, (entry, lost) in enumerate(results, 1):
        name = names[entry.submission_id]
        missing += [f"{name}: {lost}"] if isinstance(lost, ServerError) else [f"{name}: {line}" for line in lost]
        new += not isinstance(lost, ServerError)
        if progress is not None:
            progress(done, len(wanted))
    rows = write()
    missing += [
        f"{names[number]}: its zip contains metadata, which can start a command of its own: "
        "inspect it before you trust the row."
        for number, folder in folders.items()
        if _brings_a_command(folder / FILES["data_file"])
    ]
    listed = tuple(to_do(rows, competition))
    return Fetched(table, new, len(own) - len(wanted) - len(running), tuple(missing), listed)


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
