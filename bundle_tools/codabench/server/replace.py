"""Replace programs or data of a running phase, and run its submissions again so that no old row remains."""

import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bundle_tools.codabench.archive import UNREADABLE, write_deterministic
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import TRIES, ServerConnection, ServerError, looks
from bundle_tools.codabench.server.records import LONGEST_NAME, ServerCompetition, ServerPhase, Submission
from bundle_tools.codabench.worker.jobs import METADATA_NAMES
from bundle_tools.console import Progress, counted
from bundle_tools.errors import BundleError

PROGRAMS = ("ingestion_program", "scoring_program")
AT_ONCE = 30
"""Most re-runs of a competition that the server's own queue accepts at a time."""
NOT_FOUND = 404
USELESS = ("Failed", "Cancelled")


@dataclass(frozen=True)
class Old:
    """A file that ran on replaced parts."""

    runs: tuple[Submission, ...]
    """All its old runs, the newest last; they are deleted."""
    ran_again: bool
    """Whether an earlier call already made a run on the new data."""


def packed(sources: Mapping[str, Path], scratch: Path) -> dict[str, Path]:
    """Return each part as a zip of the folder's content, without the folder, as the server expects it.

    Raises BundleError with every part that is neither a zip nor a folder, or that no server could run.
    """
    zips: dict[str, Path] = {}
    wrong = []
    for part, source in sources.items():
        zips[part] = source
        if source.is_dir():
            zips[part] = scratch / f"{part}.zip"
            files = [path for path in source.rglob("*") if path.is_file()]
            # Equal content gives equal bytes, so that uploads of an earlier call are recognised.
            write_deterministic(zips[part], [(path.relative_to(source).as_posix(), path) for path in files])
        try:
            with zipfile.ZipFile(zips[part]) as opened:
                names = [name for name in opened.namelist() if not name.endswith("/")]
        except UNREADABLE:
            wrong.append(f"{source}: expected a folder or a zip, found none.")
            continue
        if not names:
            wrong.append(f"{source}: expected files in it, found none.")
        elif part in PROGRAMS and not set(METADATA_NAMES) & set(names):
            wrong.append(
                f"{source}: expected {METADATA_NAMES[0]} at the top of a program. Zip what is inside the folder."
            )
    if wrong:
        raise BundleError(" ".join(wrong))
    return zips


def put_in_place(
    connection: ServerConnection,
    competition: ServerCompetition,
    phase: ServerPhase,
    zips: Mapping[str, Path],
    progress: Progress | None = None,
) -> datetime | None:
    """Upload new parts of a phase's only task, unless an earlier call has, and point the task to them.

    Returns when the phase got its current parts. Raises BundleError if the phase has several tasks or the server
    refuses; then the task is unchanged, or the message says what it contains.
    """
    if len(phase.tasks) != 1:
        raise BundleError(f"phase {phase.name}: expected one task, found {len(phase.tasks)}. Use the website.")
    path = f"/api/tasks/{phase.tasks[0]}/"
    before, newest = records.part_keys(connection, phase.tasks[0]), records.newest_part(connection, phase)
    uploaded = {}
    for part, archive in zips.items():
        title = f"{competition.title[: LONGEST_NAME - 100]}, {phase.name[:40]}: {part}"
        uploaded[part] = _uploaded(connection, part, archive, title, before[part], newest, progress)
    task = connection.call("GET", path)
    now = records.part_keys(connection, phase.tasks[0])  # another organiser may have replaced others during the upload
    keys = {**now, **uploaded}
    if keys == now:
        return records.newest_part(connection, phase)
    # All four parts are always sent, because the server empties those that are left out.
    content: dict[str, Any] = {"name": task["name"], "description": task.get("description") or "", **keys}
    connection.call("PATCH", path, content)
    # The server's times have whole seconds: a run in the same second may be old, so it is run again.
    changed = (connection.server_time or datetime.now(UTC)) + timedelta(seconds=1)
    now = records.part_keys(connection, phase.tasks[0])
    if wrong := ", ".join(part for part in keys if now[part] != keys[part]):
        raise ServerError(
            f"task {task['name']}: the server has another {wrong} than was uploaded. Check it before anybody submits."
        )
    return changed


def _uploaded(
    connection: ServerConnection,
    part: str,
    path: Path,
    title: str,
    current: str | None,
    newest: datetime | None,
    progress: Progress | None,
) -> str:
    """Upload one part, unless it is there already; return its key."""
    mark, size = records.digest(path)[:12], path.stat().st_size
    name = f"{title} {mark}"
    earlier = [dataset for dataset in records.datasets(connection, search=mark) if dataset.name.startswith(name)]
    for dataset in earlier:
        if dataset.size == 0:  # of an interrupted upload
            connection.call("DELETE", f"/api/datasets/{dataset.dataset_id}/")
        elif dataset.size == size and (
            dataset.key == current or newest is None or dataset.created >= newest
        ):  # fmt: skip
            return dataset.key
    if earlier:  # older than the phase's part: its age would hide runs in between
        name += f", {time.time_ns() // 10**6}"
    file_name = records.file_name_for(title.rpartition(", ")[2])
    answer = records.upload(connection, path, part, name=name, file_name=file_name, progress=progress)
    return str(answer["key"])


def settle(
    connection: ServerConnection,
    phase: ServerPhase,
    changed: datetime | None,
    limit_s: float,
    say: Callable[[str], None],
) -> None:
    """Wait for runs that started before the change: they may have mixed old and new parts."""
    running = [
        run.submission_id for run in records.submissions(connection, phase)
        if not run.elsewhere and not run.ended and run.is_older(changed)
    ]  # fmt: skip
    if running:
        say(f"  {counted(len(running), 'run')} started before the change: waiting.")
        wait_for(connection, running, limit_s)


def _runs_by_file(connection: ServerConnection, phase: ServerPhase) -> list[list[Submission]]:
    """Return the runs of each submitted file, the oldest first: a run and its re-run have the same file."""
    for left in reversed(range(TRIES)):
        runs = [run for run in records.submissions(connection, phase) if not run.elsewhere]
        if not runs:
            return []
        try:
            numbers = [run.submission_id for run in runs]
            answer = connection.call("POST", "/api/submissions/download_many/", {"pks": numbers})
            break
        except ServerError as error:  # another organiser may have deleted a run since the list was read
            if error.status != NOT_FOUND or not left:
                raise
    files = {str(entry["name"]).partition("_")[0]: urlsplit(str(entry["url"])).path for entry in answer}
    by_file: dict[str, list[Submission]] = {}
    for run in runs:
        by_file.setdefault(files.get(str(run.submission_id), f"#{run.submission_id}"), []).append(run)
    return list(by_file.values())


def old_runs(connection: ServerConnection, phase: ServerPhase, is_old: Callable[[Submission], bool]) -> list[Old]:
    """Find the files that have runs to be replaced: ended ones for which `is_old`, such as those on replaced parts."""
    old = []
    for of_file in _runs_by_file(connection, phase):
        chosen = [run for run in of_file if run.ended and is_old(run)]
        if chosen:
            later = of_file[of_file.index(chosen[-1]) + 1 :]
            old.append(Old(tuple(chosen), any(run.status not in USELESS for run in later)))
    return old


def run_all_again(
    connection: ServerConnection,
    phase: ServerPhase,
    old: Sequence[Old],
    *,
    own_queue: bool,
    limit_s: float,
    say: Callable[[str], None],
    progress: Progress | None,
) -> list[str]:
    """Run each file again and delete its old runs while the new one waits, so that no old row remains.

    If another organiser does so at the same time, the first new run of a file stays. Returns failures, one line each;
    calling again continues with them.
    """
    wrong: list[str] = []
    waiting: list[int] = []
    made: dict[int, int] = {}
    """New run -> the one that it replaces."""
    for number, file in enumerate(old, 1):
        newest = file.runs[-1]
        try:
            if not file.ran_again:
                path = f"/api/submissions/{newest.submission_id}/re_run_submission/"
                waiting.append(int(connection.call("POST", path)["id"]))
                made[waiting[-1]] = newest.submission_id
            for run in file.runs:
                delete(connection, run.submission_id)
        except ServerError as error:
            if error.status is None:  # the server is gone, so the others would fail, too
                raise
            if not _is_gone(connection, newest):
                wrong.append(f"#{newest.submission_id} {newest.owner}: {error}")
        if progress is not None:
            progress(number, len(old))
        if not own_queue and len(waiting) == AT_ONCE and number < len(old):
            say(f"  {AT_ONCE} re-runs are on the server's own queue, its limit: waiting for them.")
            wait_for(connection, waiting, limit_s)
            waiting = []
    for of_file in _runs_by_file(connection, phase) if made else []:
        numbers = [run.submission_id for run in of_file if run.status not in USELESS]
        for number in made.keys() & numbers:
            if others := [other for other in numbers if made[number] < other < number]:
                delete(connection, number)
                say(f"  #{number} deleted, as another organiser has run the same file again as #{others[0]}.")
    return wrong


def _is_gone(connection: ServerConnection, run: Submission) -> bool:
    """Return whether a run was deleted meanwhile, as by another organiser who has run it again."""
    try:
        records.submission(connection, run.submission_id)
    except ServerError as error:
        return error.status == NOT_FOUND
    return False


def delete(connection: ServerConnection, submission_id: int) -> bool:
    """Delete a submission; return whether it was still there, for another organiser may have been faster."""
    try:
        connection.call("DELETE", f"/api/submissions/{submission_id}/")
    except ServerError as error:
        if error.status != NOT_FOUND:
            raise
        return False
    return True


def wait_for(connection: ServerConnection, submission_ids: Sequence[int], limit_s: float) -> None:
    """Wait until submissions have ended.

    Raises BundleError when they have not ended in time; calling again continues.
    """
    left = list(submission_ids)
    for _ in looks(limit_s):
        while left and (current := records.submission(connection, left[0])).ended:
            left.pop(0)
        if not left:
            return
    raise BundleError(f"#{left[0]} is still {current.status} after {limit_s:.0f} s. Repeat the command: it continues.")
