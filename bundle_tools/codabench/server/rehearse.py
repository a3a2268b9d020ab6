"""Submit the example solutions, and compare each column with a run of the same zip at home."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, ServerError, looks
from bundle_tools.codabench.server.records import Address, ServerCompetition, ServerPhase, Submission
from bundle_tools.codabench.server.replace import delete
from bundle_tools.codabench.worker.scores import DECIMALS_KEPT
from bundle_tools.errors import BundleError

SCORES_LATE_S = 60.0
"""Longest time that incomplete scores may stay unchanged: the worker sends them one by one, after the status
"Finished"."""
USUAL_SHARED_MEMORY_MB = 64


class NotTaken(BundleError):
    """The server takes no submission of this account now; the message says why."""


MEASURED = frozenset({"duration_s"})
"""Columns that hold a time, which differs from run to run."""


@dataclass(frozen=True)
class Act:
    """One submission to one phase."""

    phase: ServerPhase
    """On the server."""
    name: str
    archive: Path

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.phase.name}, {self.name}"


@dataclass(frozen=True)
class RehearsalResult:
    """The result of one submission, on the server or at home."""

    status: str
    """Such as "Finished" or "Failed"."""
    scores: Mapping[str, float]
    """Key of a column -> number."""
    reason: str = ""
    """Why the row is not complete."""

    @classmethod
    def of(cls, submission: Submission) -> "RehearsalResult":
        """Return the server's result of a submission."""
        empty = submission.status == "Finished" and not submission.scores
        return cls("Finished without scores" if empty else submission.status, submission.scores, submission.details)


def register(connection: ServerConnection, address: Address) -> None:
    """Make this account a participant, as submitting requires; no effect if it is one already."""
    try:
        connection.call(
            "POST", f"/api/competitions/{address.competition_id}/register/", {"secret_key": address.secret_key}
        )
    except ServerError as error:
        if "already" not in str(error):
            raise


def submit(connection: ServerConnection, competition: ServerCompetition, act: Act, say: Callable[[str], None]) -> int:
    """Submit, unless another rehearsal submitted the same zip to the phase's present parts; return the number.

    Raises NotTaken if this account may not submit now.
    """
    file_name = records.file_name_for(f"rehearsal-{records.digest(act.archive)[:16]}")
    newest = records.newest_part(connection, act.phase)

    def current() -> list[int]:
        return [
            entry.submission_id for entry in records.submissions(connection, act.phase)
            if entry.file_name == file_name and not entry.elsewhere and not entry.is_older(newest)
            and entry.status not in ("Failed", "Cancelled")
        ]  # fmt: skip

    if earlier := current():
        say(f"  {act.title}: #{earlier[-1]} of an earlier rehearsal")
        return earlier[-1]
    answer = connection.call("GET", f"/api/can_make_submission/{act.phase.phase_id}/")  # does not look at dates
    if not answer["can"]:
        reason = f"{str(answer['reason']).rstrip('.')} (cancelled ones count, failed ones do not)"
        raise NotTaken(f"{act.title}: the server takes no submission of this account now: {reason}.")
    uploaded = records.upload(
        connection, act.archive, "submission", name=f"rehearsal {act.title} {time.time_ns()}", file_name=file_name,
        competition=competition.competition_id,
    )  # fmt: skip
    content = {
        "data": uploaded["key"], "phase": act.phase.phase_id, "tasks": [], "fact_sheet_answers": None,
        "organization": None, "queue": None,
    }  # fmt: skip
    submission_id = int(connection.call("POST", "/api/submissions/", content)["id"])
    say(f"  {act.title}: #{submission_id} submitted")
    if (first := min(current(), default=submission_id)) < submission_id:
        delete(connection, submission_id)
        say(f"  {act.title}: #{submission_id} deleted, as another organiser has submitted the same zip as #{first}")
        return first
    return submission_id


def wait(
    connection: ServerConnection,
    titles: Mapping[int, str],
    columns: Iterable[str],
    limit_s: float,
    say: Callable[[str], None],
) -> dict[int, Submission]:
    """Wait for submissions and their scores, and report each new status once.

    `columns`: keys of the board; a submission with all of them is complete. Raises BundleError when they have not ended
    in time; calling again continues to wait.
    """
    seen: dict[int, list[str]] = {}
    """Statuses so far: since 1.26 the scoring job repeats those of the first one."""
    ended: dict[int, Submission] = {}
    changed: dict[int, tuple[int, float]] = {}
    """Number of scores so far, and since when."""
    for _ in looks(limit_s):
        for number in titles.keys() - ended.keys():
            current = records.submission(connection, number)
            if current.status not in seen.setdefault(number, []):
                say(f"  {titles[number]}: {current.status}")
            seen[number].append(current.status)
            if current.status == "Finished" and not set(columns) <= current.scores.keys():
                if changed.get(number, (-1, 0.0))[0] != len(current.scores):
                    changed[number] = len(current.scores), time.monotonic()
                if time.monotonic() - changed[number][1] < SCORES_LATE_S:
                    continue
            if current.ended:
                ended[number] = current
        if len(ended) == len(titles):
            return ended
    left = ", ".join(f"{titles[number]} ({seen[number][-1]})" for number in sorted(titles.keys() - ended.keys()))
    raise BundleError(
        f"not ended after {limit_s:.0f} s: {left}. The queue is busy, or no worker serves it. Repeat the "
        "command: it waits for the same submissions."
    )


def compare(expected: RehearsalResult, there: RehearsalResult, columns: Iterable[str]) -> list[str]:
    """Return the differences: first the status, then each column.

    `columns`: keys, in the order of the board.
    """

    def shown(value: float | None) -> str:
        return "nothing" if value is None else f"{value:.{DECIMALS_KEPT}f}".rstrip("0").rstrip(".")

    lines = []
    if expected.status != there.status:
        why = "; ".join(reason.rstrip(".") for reason in (expected.reason, there.reason) if reason)
        lines.append(f"{expected.status} here, {there.status} there" + (f" ({why})" if why else ""))
    for key in columns:
        here, away = shown(expected.scores.get(key)), shown(there.scores.get(key))
        if here != away and not (key in MEASURED and "nothing" not in (here, away)):
            lines.append(f"{key}: {here} here, {away} there")
    return lines


def missing_limits(container: Mapping[str, object]) -> list[str]:
    """Return the missing limits of a worker; limits that were not examined are left out.

    `container`: the part of a `run.json` of that name; not trusted.
    """
    limits = {
        "memory has no limit: MemoryMax and MemorySwapMax in the slice of the Docker engine.":
            container.get("memory_mb", 0) is None,
        "processes have no limit: TasksMax in the slice of the Docker engine.":
            container.get("processes", 0) is None,
        "the network is on: COMPETITION_CONTAINER_NETWORK_DISABLED=True in the worker's .env.":
            container.get("network") is True,
        f"shared memory is not {USUAL_SHARED_MEMORY_MB} MB: no default-shm-size in daemon.json.":
            container.get("shared_memory_mb") not in (None, USUAL_SHARED_MEMORY_MB),
    }  # fmt: skip
    return [line for line, missing in limits.items() if missing]
