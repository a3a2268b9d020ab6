"""Submit the example solutions, and compare each column with a run of the same zip at home."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.codabench.server import age
from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.http import Connection
from bundle_tools.codabench.server.interface.records import Competition, Phase, Submission
from bundle_tools.codabench.server.interface.upload import complete, digest, file_name_for, upload
from bundle_tools.errors import BundleError

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
SCORES_LATE_S = 60.0
"""Longest time that incomplete scores may stay unchanged: the worker sends them one by one, after the status
"Finished"."""
USUAL_SHARED_MEMORY_MB = 64
DECIMALS_KEPT = 10
"""Decimals that the server stores."""
MEASURED = frozenset({"duration_s"})
"""Columns that hold a time, which differs from run to run."""


@dataclass(frozen=True)
class Act:
    """One submission to one phase."""

    phase: Phase
    """On the server."""
    name: str
    archive: Path

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.phase.name}, {self.name}"


@dataclass(frozen=True)
class Result:
    """The result of one submission, on the server or at home."""

    status: str
    """Such as "Finished" or "Failed"."""
    scores: Mapping[str, float]
    """Key of a column -> number."""
    reason: str = ""
    """Why the row is not complete."""


def submit(connection: Connection, competition: Competition, act: Act, say: Callable[[str], None]) -> int:
    """Submit, unless an earlier rehearsal submitted the same zip to the phase's present parts.

    Raises BundleError if this account may not submit now.
    """
    content = digest(act.archive)
    file_name = file_name_for(f"rehearsal-{content.sha256[:16]}")
    newest = age.since(connection, act.phase)
    for one in reversed(calls.submissions(connection, act.phase)):
        good = one.file_name == file_name and not one.elsewhere and not age.is_old(one, newest)
        if good and one.status not in ("Failed", "Cancelled"):
            say(f"  {act.title}: #{one.submission_id} of an earlier rehearsal")
            return one.submission_id
    if reason := calls.may_submit(connection, act.phase):
        raise BundleError(f"{act.phase.name}: the server takes no submission of this account: {reason}.")
    key = upload(
        connection, act.archive, "submission", name=f"rehearsal {act.title} {time.time_ns()}", file_name=file_name,
        competition_id=competition.competition_id,
    )  # fmt: skip
    complete(connection, key, content.size)
    submission_id = calls.submit(connection, act.phase, key)
    say(f"  {act.title}: #{submission_id} submitted")
    return submission_id


def wait(
    connection: Connection,
    titles: Mapping[int, str],
    columns: Sequence[str],
    limit_s: float,
    say: Callable[[str], None],
) -> dict[int, Submission]:
    """Wait for submissions and their scores, and report each change of status.

    `columns`: keys of the board; a submission with all of them is complete. Raises BundleError when they have not ended
    in time; calling again continues to wait.
    """
    began, pause_s = time.monotonic(), FIRST_PAUSE_S
    last: dict[int, str] = {}
    ended: dict[int, Submission] = {}
    changed: dict[int, tuple[int, float]] = {}
    while len(ended) < len(titles):
        for submission_id in titles.keys() - ended.keys():
            found = calls.submission(connection, submission_id)
            if found.status != last.get(submission_id):
                last[submission_id] = found.status
                say(f"  {titles[submission_id]}: {found.status}")
            if found.status == "Finished" and not set(columns) <= found.scores.keys():
                count, since = changed.get(submission_id, (-1, 0.0))
                if count != len(found.scores):
                    count, since = changed[submission_id] = len(found.scores), time.monotonic()
                if time.monotonic() - since < SCORES_LATE_S:
                    continue
            if found.ended:
                ended[submission_id] = found
        if len(ended) < len(titles):
            if time.monotonic() - began > limit_s:
                left = ", ".join(
                    f"{titles[number]} ({last[number]})" for number in sorted(titles.keys() - ended.keys())
                )
                raise BundleError(
                    f"not ended after {limit_s:.0f} s: {left}. The queue is busy, or no worker serves it. Repeat the "
                    "command: it waits for the same submissions."
                )
            time.sleep(pause_s)
            pause_s = min(1.5 * pause_s, LONGEST_PAUSE_S)
    return ended


def there(submission: Submission) -> Result:
    """Return the server's result of a submission."""
    without = submission.status == "Finished" and not submission.scores
    return Result("Finished without scores" if without else submission.status, submission.scores, submission.details)


def compare(expected: Result, found: Result, columns: Sequence[str]) -> list[str]:
    """Return the differences: first the status, then each column.

    `columns`: keys, in the order of the board.
    """
    written = []
    if expected.status != found.status:
        why = "; ".join(reason.rstrip(".") for reason in (expected.reason, found.reason) if reason)
        written.append(f"{expected.status} here, {found.status} there" + (f" ({why})" if why else ""))
    for key in columns:
        here, away = expected.scores.get(key), found.scores.get(key)
        if key in MEASURED and here is not None and away is not None:
            continue
        if here is None or away is None:
            if here is not away:
                written.append(f"{key}: {_shown(here)} here, {_shown(away)} there")
        elif round(here, DECIMALS_KEPT) != round(away, DECIMALS_KEPT):
            written.append(f"{key}: {_shown(here)} here, {_shown(away)} there")
    return written


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.10f}".rstrip("0").rstrip(".")


def missing_limits(seen: Mapping[str, object]) -> list[str]:
    """Return the missing limits of a worker; limits that were not examined are left out.

    `seen`: `container` of a `run.json`; not trusted.
    """
    found = []
    if seen.get("memory_mb", 0) is None:
        found.append("memory has no limit: MemoryMax and MemorySwapMax in the slice of the Docker engine.")
    if seen.get("processes", 0) is None:
        found.append("processes have no limit: TasksMax in the slice of the Docker engine.")
    if seen.get("network") is True:
        found.append("the network is on: COMPETITION_CONTAINER_NETWORK_DISABLED=True in the worker's .env.")
    if seen.get("shared_memory_mb") not in (None, USUAL_SHARED_MEMORY_MB):
        found.append(f"shared memory is not {USUAL_SHARED_MEMORY_MB} MB: no default-shm-size in daemon.json.")
    return found
