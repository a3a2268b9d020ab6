"""Download all submissions of a phase: files, outputs and reports."""

import csv
import json
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.server.fetched import OUTPUT, TABLE, phases_in
from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.download import download
from bundle_tools.codabench.server.interface.http import Connection, ServerError
from bundle_tools.codabench.server.interface.records import Column, Phase, Submission
from bundle_tools.codabench.worker.command import METADATA_NAMES
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.whole import replaced

AT_ONCE = 4
FILES = {
    "data_file": "submission.zip",
    "prediction_result": OUTPUT,
    "scoring_result": "scoring_output.zip",
    "detailed_result": "report.html",
}
"""The server's name of a file -> its name here."""
RECORD = "submission.json"
"""Written last, so a folder with it is complete."""


@dataclass(frozen=True)
class Fetched:
    """The present state of the folder."""

    table: Path
    """One line per submission."""
    new: int
    kept: int
    missing: tuple[str, ...]
    """Missing files and problems, one line each."""


def fetch(
    connection: Connection, phase: Phase, columns: Sequence[Column], out: Path, progress: Progress | None = None
) -> Fetched:
    """Fetch every finished submission that is not here yet.

    `out`: a new or empty folder, or that of an earlier call. Raises BundleError if `out` contains something else, or if
    the server cannot be reached.
    """
    table = out / TABLE
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not table.is_file())):
        raise BundleError(f"--out {out}: contains files that this command did not write. Choose another folder.")
    if table.is_file() and phases_in(out) - {phase.phase_id}:
        raise BundleError(f"--out {out}: contains submissions to another phase. Choose another folder.")
    found = [one for one in calls.submissions(connection, phase) if not one.elsewhere]
    out.mkdir(parents=True, exist_ok=True)
    folders = {one.submission_id: out / _folder_name(one) for one in found}
    _write_table(table, found, folders, columns)  # marks the folder for the next call
    todo = [one for one in found if one.ended and not _is_here(folders[one.submission_id], one)]
    missing: list[str] = [
        f"#{one.submission_id} {one.owner}: {one.status}. Repeat this command when it has ended."
        for one in found
        if not one.ended
    ]
    new = 0
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        work = [(one, pool.submit(_bring, connection, one, folders[one.submission_id])) for one in todo]
        for done, (one, future) in enumerate(work, 1):
            try:
                missing += [f"#{one.submission_id} {one.owner}: {line}" for line in future.result()]
                new += 1
            except ServerError as error:
                missing.append(f"#{one.submission_id} {one.owner}: {error}")
            if progress is not None:
                progress(done, len(work))
    finally:  # on an interruption, do not wait for the rest
        pool.shutdown(cancel_futures=True)
    missing += [
        f"#{one.submission_id} {one.owner}: its zip contains metadata, which can start a command of its own: "
        "inspect it before you trust the row."
        for one in found
        if _brings_a_command(folders[one.submission_id] / FILES["data_file"])
    ]
    kept = len(found) - len(todo) - sum(not one.ended for one in found)
    return Fetched(table, new, kept, tuple(missing))


def _bring(connection: Connection, submission: Submission, folder: Path) -> list[str]:
    """Fetch one submission; return what the server has lost."""
    unfinished = folder.with_name(folder.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "logs").mkdir(parents=True)
    files = calls.files_of(connection, submission.submission_id)
    missing = []
    wanted = {FILES[name]: files.get(name) for name in FILES}
    wanted |= {f"logs/{_plain(str(log['name']))}.txt": log.get("data_file") for log in files.get("logs") or []}
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
        return bool(json.loads((folder / RECORD).read_text("utf-8")) == _record(submission))
    except (OSError, ValueError):
        return False


def _record(submission: Submission) -> Mapping[str, Any]:
    content = asdict(submission)
    del content["on_board"]  # changes when others submit, and is in the table
    return {**content, "created": submission.created.isoformat()}


def _write_table(
    path: Path, found: Sequence[Submission], folders: Mapping[int, Path], columns: Sequence[Column]
) -> None:
    with replaced(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        keys = [column.key for column in columns]
        table.writerow(
            ["submission", "participant", "made_utc", "status", "on_board", "file", "phase", "folder", *keys]
        )
        for one in found:
            made = f"{one.created:%Y-%m-%d %H:%M:%S}"
            fixed = [one.submission_id, one.owner, made, one.status, int(one.on_board), one.file_name, one.phase_id]
            table.writerow([*fixed, folders[one.submission_id].name, *(one.scores.get(key, "") for key in keys)])


def _folder_name(submission: Submission) -> str:
    return f"{submission.submission_id}-{_plain(submission.owner)}"


def _plain(text: str) -> str:
    """Return a safe file name for any account name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:60] or "unnamed"
