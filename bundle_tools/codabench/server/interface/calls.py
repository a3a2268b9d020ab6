"""All requests, each as one function of a connection.

They were tested in this form on a server of release 1.25 (November 2026).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from bundle_tools.codabench.server.interface import records
from bundle_tools.codabench.server.interface.http import Connection, ServerError, host_of
from bundle_tools.codabench.server.interface.records import PARTS, Competition, Dataset, Phase, Submission, Task
from bundle_tools.errors import BundleError

PAGE_SIZE = 1000
MOST_PAGES = 1000
Found = TypeVar("Found")


@dataclass(frozen=True)
class Place:
    """A competition's address."""

    server: str
    competition_id: int
    """The server's number."""
    secret_key: str | None
    """Secret key that opens it before it is published."""


def place_of(address: str) -> Place:
    """Read the address of a competition as the browser shows it.

    Raises BundleError if it is not the address of a competition.
    """
    found = re.search(r"/competitions/(\d+)", urlsplit(address).path if "://" in address else address)
    if found is None:
        raise BundleError(
            f"{address}: expected the address of a competition, such as https://www.codabench.org/competitions/1234/."
        )
    secret = parse_qs(urlsplit(address).query).get("secret_key")
    if secret and not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", secret[0]):
        raise BundleError(f"{address}: expected the whole secret link, found a broken key. Put the link in quotes.")
    return Place(host_of(address), int(found[1]), secret[0] if secret else None)


def competition(connection: Connection, place: Place) -> Competition:
    """Return a competition; an unpublished one needs its secret key."""
    path = f"/api/competitions/{place.competition_id}/"
    return _read(path, records.competition, competition_content(connection, place))


def competition_content(connection: Connection, place: Place) -> Mapping[str, Any]:
    """Return the server's whole answer to this account about a competition."""
    parameters = {"secret_key": place.secret_key} if place.secret_key else {}
    content: Mapping[str, Any] = connection.get(f"/api/competitions/{place.competition_id}/", **parameters)
    return content


def phase_named(found: Competition, name: str) -> Phase:
    """Find a phase by its name, ignoring case.

    Raises BundleError if there is no phase of that name.
    """
    for phase in found.phases:
        if phase.name.lower() == name.strip().lower():
            return phase
    known = ", ".join(phase.name for phase in found.phases)
    raise BundleError(f"--phase: expected one of {known}; found {name!r}.")


def register(connection: Connection, place: Place) -> None:
    """Make this account a participant, as submitting requires; no effect if it is one already."""
    try:
        connection.post(f"/api/competitions/{place.competition_id}/register/", {"secret_key": place.secret_key})
    except ServerError as error:
        if "already" not in str(error):
            raise


def may_submit(connection: Connection, phase: Phase) -> str:
    """Return the reason why this account cannot submit now; empty if it can. Dates are not checked."""
    answer = connection.get(f"/api/can_make_submission/{phase.phase_id}/")
    return "" if answer["can"] else str(answer["reason"])


def submit(connection: Connection, phase: Phase, key: str) -> int:
    """Submit an uploaded file without answers to the questions; return the submission's number."""
    content = {
        "data": key, "phase": phase.phase_id, "tasks": [], "fact_sheet_answers": None,
        "organization": None, "queue": None,
    }  # fmt: skip
    return int(connection.post("/api/submissions/", content)["id"])


def submission(connection: Connection, submission_id: int) -> Submission:
    """Return one submission."""
    path = f"/api/submissions/{submission_id}/"
    return _read(path, records.submission, connection.get(path))


def submissions(connection: Connection, phase: Phase) -> list[Submission]:
    """Return the submissions to a phase that this account may see, the oldest first; organisers see all."""
    path = "/api/submissions/"
    found = [_read(path, records.submission, entry) for entry in _entries(connection, path, phase=phase.phase_id)]
    return sorted(found, key=lambda one: (one.created, one.submission_id))


def files_of(connection: Connection, submission_id: int) -> Mapping[str, Any]:
    """Return signed addresses of a submission's files, by the server's names, and its logs."""
    content: Mapping[str, Any] = connection.get(f"/api/submissions/{submission_id}/get_details/")
    return content


def run_again(connection: Connection, submission_id: int) -> int:
    """Run the same file again on the task's current parts; return the new submission's number."""
    return int(connection.post(f"/api/submissions/{submission_id}/re_run_submission/")["id"])


def delete_submission(connection: Connection, submission_id: int) -> None:
    """Delete a submission; its file is kept while another one uses it."""
    connection.delete(f"/api/submissions/{submission_id}/")


def task(connection: Connection, task_id: int) -> Task:
    """Return a task of this account."""
    path = f"/api/tasks/{task_id}/"
    return _read(path, records.task, connection.get(path))


def change_task(connection: Connection, changed: Task) -> None:
    """Point a task to other data sets. All four parts are always sent, because the server empties missing ones."""
    content: dict[str, str | None] = {"name": changed.name, "description": changed.description}
    content |= {part: changed.keys[part] for part in PARTS}
    connection.patch(f"/api/tasks/{changed.task_id}/", content)


def look_in(connection: Connection) -> None:
    """Ask for something that any account may see, so that a wrong token is reported first."""
    connection.get("/api/datasets/", page_size=1)


def datasets(connection: Connection, **filters: str) -> list[Dataset]:
    """Return data sets of this account, for instance by name or key."""
    path = "/api/datasets/"
    return [_read(path, records.dataset, entry) for entry in _entries(connection, path, **filters)]


def board(connection: Connection, phase: Phase) -> Sequence[Mapping[str, Any]]:
    """Return the rows of the leaderboard as everybody sees them, the first one first."""
    rows: Sequence[Mapping[str, Any]] = connection.get(f"/api/phases/{phase.phase_id}/get_leaderboard/")["submissions"]
    return rows


def _entries(connection: Connection, path: str, **filters: object) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list, page by page if the server divides it."""
    answer = connection.get(path, **filters, page_size=PAGE_SIZE)
    for _ in range(MOST_PAGES):
        if not isinstance(answer, Mapping):
            break
        yield from answer["results"]
        if not answer.get("next"):
            return
        query = {name: values[-1] for name, values in parse_qs(urlsplit(answer["next"]).query).items()}
        answer = connection.get(path, **query)
    if isinstance(answer, Mapping):
        raise ServerError(f"GET {path}: the list has no end.")
    yield from answer


def _read(path: str, read: Callable[[Mapping[str, Any]], Found], content: Mapping[str, Any]) -> Found:
    try:
        return read(content)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ServerError(
            f"{path}: an answer that this command cannot read ({type(error).__name__}: {error}). "
            "Codabench 1.25 answers in another form."
        ) from None
