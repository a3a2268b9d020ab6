"""Replace programs or data of a running phase, and run its submissions again so that no old row remains."""

import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from bundle_tools.codabench.archive import UNREADABLE, write_deterministic
from bundle_tools.codabench.server import age
from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.http import Connection, ServerError
from bundle_tools.codabench.server.interface.records import Competition, PartName, Phase, Submission, Task
from bundle_tools.codabench.server.interface.upload import LONGEST_NAME, complete, digest, file_name_for, upload
from bundle_tools.codabench.worker.command import METADATA_NAMES
from bundle_tools.console import Progress, counted
from bundle_tools.errors import BundleError

PROGRAMS = ("ingestion_program", "scoring_program")
AT_ONCE = 30
"""Most re-runs of a competition that the server's own queue accepts at a time."""
PAUSE_S = 5.0


@dataclass(frozen=True)
class Old:
    """A file that ran on replaced parts."""

    newest: Submission
    runs: tuple[Submission, ...]
    """All its old runs; they are deleted."""
    ran_again: bool
    """Whether an earlier call already made a run on the new data."""


def packed(sources: Mapping[PartName, Path], scratch: Path) -> dict[PartName, Path]:
    """Return each part as a zip of the folder's content, without the folder, as the server expects it.

    Raises BundleError with every part that is neither a zip nor a folder, or that no server could run.
    """
    zips: dict[PartName, Path] = {}
    wrong = []
    for part, source in sources.items():
        target = source
        if source.is_dir():
            target = scratch / f"{part}.zip"
            files = [path for path in source.rglob("*") if path.is_file()]
            # Equal content gives equal bytes, so that uploads of an earlier call are recognised.
            write_deterministic(target, [(path.relative_to(source).as_posix(), path) for path in files])
        try:
            with zipfile.ZipFile(target) as opened:
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
        zips[part] = target
    if wrong:
        raise BundleError(" ".join(wrong))
    return zips


def only_task(connection: Connection, phase: Phase) -> Task:
    """Return the task of a phase that has one.

    Raises BundleError if it has several tasks.
    """
    if len(phase.tasks) != 1:
        raise BundleError(f"phase {phase.name}: expected one task, found {len(phase.tasks)}. Use the website.")
    return calls.task(connection, phase.tasks[0])


def put_in_place(
    connection: Connection,
    competition: Competition,
    phase: Phase,
    task: Task,
    zips: Mapping[PartName, Path],
    progress: Progress | None = None,
) -> datetime | None:
    """Upload new parts, unless an earlier call has, and point the task to them.

    Returns when the phase got its current parts. Raises ServerError if the server refuses; then the task is unchanged,
    or the message says what it contains.
    """
    keys, newest = dict(task.keys), age.since(connection, phase)
    for part, path in zips.items():
        title = f"{competition.title[: LONGEST_NAME - 100]}, {phase.name[:40]}: {part}"
        keys[part] = _uploaded(connection, part, path, title, keys[part], newest, progress)
    if keys == dict(task.keys):
        return newest
    calls.change_task(connection, replace(task, keys=keys))
    # The server's times have whole seconds: a run in the same second may be old, so it is run again.
    changed = (connection.server_time or datetime.now(UTC)) + timedelta(seconds=1)
    now = calls.task(connection, task.task_id)
    if dict(now.keys) != keys:
        wrong = ", ".join(part for part in keys if now.keys[part] != keys[part])
        raise ServerError(
            f"task {task.name}: the server has another {wrong} than was uploaded. Check it before anybody submits."
        )
    return changed


def _uploaded(
    connection: Connection,
    part: PartName,
    path: Path,
    title: str,
    current: str | None,
    newest: datetime | None,
    progress: Progress | None,
) -> str:
    """Upload one part, unless it is there already; return its key."""
    content = digest(path)
    name = f"{title} {content.sha256[:12]}"
    found = [one for one in calls.datasets(connection, search=content.sha256[:12]) if one.name.startswith(name)]
    for one in found:
        if one.size == 0:  # of an interrupted upload
            connection.delete(f"/api/datasets/{one.dataset_id}/")
        elif one.size == content.size and (one.key == current or newest is None or one.created >= newest):
            return one.key
    if found:  # older than the phase's part: its age would hide runs in between
        name += f", {time.time_ns() // 10**6}"
    file_name = file_name_for(title.rpartition(", ")[2])
    key = upload(connection, path, part, name=name, file_name=file_name, progress=progress)
    complete(connection, key, content.size)
    return key


def settle(
    connection: Connection, phase: Phase, changed: datetime | None, limit_s: float, say: Callable[[str], None]
) -> None:
    """Wait for runs that started before the change: they may have mixed old and new parts."""
    running = [
        one.submission_id for one in calls.submissions(connection, phase)
        if not one.elsewhere and not one.ended and age.is_old(one, changed)
    ]  # fmt: skip
    if running:
        say(f"  {counted(len(running), 'run')} started before the change: waiting.")
        wait_for(connection, running, limit_s)


def old_runs(connection: Connection, phase: Phase, changed: datetime | None) -> list[Old]:
    """Find the files whose runs are older than the phase's present parts.

    `changed`: when the phase got it.
    """
    found = [one for one in calls.submissions(connection, phase) if not one.elsewhere]
    files = _files(connection, found)
    again = {files[one.submission_id] for one in found if not age.is_old(one, changed)}
    runs: dict[str, list[Submission]] = {}
    for one in found:
        if one.ended and one.status != "Cancelled" and age.is_old(one, changed):
            runs.setdefault(files[one.submission_id], []).append(one)
    return [Old(of_file[-1], tuple(of_file), file in again) for file, of_file in runs.items()]


def run_all_again(
    connection: Connection,
    old: Sequence[Old],
    *,
    own_queue: bool,
    limit_s: float,
    say: Callable[[str], None],
    progress: Progress | None,
) -> list[str]:
    """Run each file again and delete its old runs while the new one waits, so that no old row remains.

    Returns failures, one line each; calling again continues with them.
    """
    wrong, waiting = [], []
    for number, one in enumerate(old, 1):
        try:
            if not one.ran_again:
                waiting.append(calls.run_again(connection, one.newest.submission_id))
            for run in one.runs:
                calls.delete_submission(connection, run.submission_id)
        except ServerError as error:
            if error.status is None:  # the server is gone, so the others would fail, too
                raise
            wrong.append(f"#{one.newest.submission_id} {one.newest.owner}: {error}")
        if progress is not None:
            progress(number, len(old))
        if not own_queue and len(waiting) == AT_ONCE and number < len(old):
            say(f"  {AT_ONCE} re-runs are on the server's own queue, its limit: waiting for them.")
            wait_for(connection, waiting, limit_s)
            waiting = []
    return wrong


def wait_for(connection: Connection, submission_ids: Sequence[int], limit_s: float) -> None:
    """Wait until submissions have ended.

    Raises BundleError when they have not ended in time; calling again continues.
    """
    began = time.monotonic()
    for submission_id in submission_ids:
        while not (one := calls.submission(connection, submission_id)).ended:
            if time.monotonic() - began > limit_s:
                raise BundleError(
                    f"#{submission_id} is still {one.status} after {limit_s:.0f} s. Repeat the command: it continues."
                )
            time.sleep(PAUSE_S)


def _files(connection: Connection, found: Sequence[Submission]) -> dict[int, str]:
    """Return the file of each submission: a run and its re-run have the same one."""
    if not found:
        return {}
    numbers = [one.submission_id for one in found]
    answer = connection.post("/api/submissions/download_many/", {"pks": numbers})
    by_name = {str(entry["name"]).partition("_")[0]: urlsplit(str(entry["url"])).path for entry in answer}
    return {number: by_name.get(str(number), f"#{number}") for number in numbers}
