"""What a Codabench server keeps: competitions, tasks, data sets, submissions and their files. Times are UTC.

Every request was tried in this form on a server of release 1.25 (November 2026).
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import requests
from tqdm.utils import CallbackIOWrapper

from bundle_tools.atomic import replaced
from bundle_tools.codabench.server.client import ServerConnection, ServerError, host_of, is_good, try_again
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

Record = TypeVar("Record")
PARTS = ("ingestion_program", "scoring_program", "input_data", "reference_data")
"""The keys of what a task runs."""
RANK = "avg_rank"
"""How a column is computed from ranks, on servers since June 2026."""
PAGE_SIZE, MOST_PAGES = 1000, 1000
LONGEST_NAME = 255
LONGEST_FILE_NAME = 35
"""Codabench cuts longer names, without the suffix, to this length."""
PIECE = 1 << 20
LARGEST_FILE = 4 << 30
"""Bytes: more than any submission or output."""


@dataclass(frozen=True)
class Address:
    """A competition's address; the secret key opens it before it is published."""

    server: str
    competition_id: int
    secret_key: str | None

    @classmethod
    def of(cls, address: str) -> "Address":
        """Read the address of a competition as the browser shows it.

        Raises BundleError if it is not the address of a competition.
        """
        number = re.search(r"/competitions/(\d+)", urlsplit(address).path if "://" in address else address)
        if number is None:
            raise BundleError(
                f"{address}: expected the address of a competition, such as "
                "https://www.codabench.org/competitions/1234/."
            )
        [secret] = parse_qs(urlsplit(address).query).get("secret_key", [None])[:1]
        if secret and not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", secret):
            raise BundleError(f"{address}: expected the whole secret link, found a broken key. Put the link in quotes.")
        return cls(host_of(address), int(number[1]), secret or None)


@dataclass(frozen=True)
class ServerPhase:
    """One phase; an end of None is no end."""

    phase_id: int
    name: str
    start: datetime | None
    end: datetime | None
    tasks: tuple[int, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "ServerPhase":
        """Read an entry of a competition."""
        start, end = (moment(content[key]) if content.get(key) else None for key in ("start", "end"))
        tasks = tuple(int(entry["id"]) for entry in content["tasks"])
        return cls(int(content["id"]), str(content["name"]), start, end, tasks)


@dataclass(frozen=True)
class ServerCompetition:
    """One competition."""

    competition_id: int
    title: str
    published: bool
    secret_key: str | None
    """None if the account is not an organiser."""
    own_queue: bool
    phases: tuple[ServerPhase, ...]
    """In their order."""
    columns: Mapping[str, int]
    """Key of each column with scores, in their order -> decimals shown; ranks are known to the leaderboard only."""
    primary: str
    """Key of the column that ranks; empty if there is none."""
    ascending: bool
    """Whether lower values of it rank higher."""
    rule: str
    """Which of a participant's submissions are on the leaderboard, such as "Force_Best"."""
    content: Mapping[str, Any]
    """The whole answer."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "ServerCompetition":
        """Read the answer to GET /api/competitions/ID/."""
        boards = content["leaderboards"]
        columns = sorted(boards[0]["columns"], key=lambda entry: entry["index"]) if boards else []
        index = int(boards[0]["primary_index"]) if boards else 0
        primary = next((entry for entry in columns if int(entry["index"]) == index), {"key": ""})
        return cls(
            int(content["id"]), str(content["title"]), bool(content["published"]), content.get("secret_key"),
            own_queue=bool(content.get("queue")),
            phases=tuple(map(ServerPhase.of, sorted(content["phases"], key=lambda entry: entry["index"]))),
            columns={
                str(entry["key"]): int(entry["precision"]) for entry in columns if entry.get("computation") != RANK
            },
            primary=str(primary["key"]),
            ascending=primary.get("sorting") == "asc",
            rule=str(boards[0].get("submission_rule")) if boards else "",
            content=content,
        )  # fmt: skip

    def value(self, submission: "Submission") -> float:
        """Return the score that ranks, higher for better; the lowest without one."""
        score = submission.scores.get(self.primary)
        return -math.inf if score is None else -score if self.ascending else score

    def phase(self, name: str) -> ServerPhase:
        """Find a phase by its name, ignoring case.

        Raises BundleError if there is no phase of that name.
        """
        for phase in self.phases:
            if phase.name.lower() == name.strip().lower():
                return phase
        known = ", ".join(phase.name for phase in self.phases)
        raise BundleError(f"--phase: expected one of {known}; found {name!r}.")


@dataclass(frozen=True)
class UploadedFile:
    """A file that somebody uploaded."""

    dataset_id: int
    key: str
    """Opens the download."""
    name: str
    """Unique among this account's data sets."""
    created: datetime
    size: int
    """Bytes; 0 if the file did not arrive."""
    competition_id: int | None
    """The competition made from it, if it is a bundle."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "UploadedFile":
        """Read one entry of /api/datasets/."""
        made = content.get("competition")
        return cls(
            int(content["id"]), str(content["key"]), str(content["name"]), moment(content["created_when"]),
            size=int(float(content.get("file_size") or 0)),
            competition_id=int(made["id"]) if isinstance(made, Mapping) else None,
        )  # fmt: skip


@dataclass(frozen=True)
class Submission:
    """One submission to a phase."""

    submission_id: int
    owner: str
    file_name: str
    phase_id: int
    created: datetime
    status: str
    """Submitting, Submitted, Preparing, Running, Scoring, Finished, Failed or Cancelled."""
    details: str
    on_board: bool
    """Whether it is a row of the leaderboard."""
    scores: Mapping[str, float]
    """Key of a column -> number; they arrive a moment after "Finished"."""
    elsewhere: bool
    """Whether it is part of another submission, or ran on a task that is not the phase's: never a row."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Submission":
        """Read one entry of /api/submissions/."""
        return cls(
            int(content["id"]), str(content["owner"]), str(content.get("filename") or ""), int(content["phase"]),
            moment(content["created_when"]), str(content["status"]), str(content.get("status_details") or ""),
            on_board=bool(content.get("on_leaderboard")),
            scores={str(score["column_key"]): float(score["score"]) for score in content.get("scores") or []},
            elsewhere=content.get("parent") is not None or bool(content.get("is_specific_task_re_run")),
        )  # fmt: skip

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.status in {"Finished", "Failed", "Cancelled"}

    def is_older(self, moment: datetime | None) -> bool:
        """Return whether it ran on programs or data that the phase no longer uses; see `newest_part`."""
        return moment is not None and self.created < moment


def moment(text: str) -> datetime:
    """Read a time; the server's times are UTC, even without a zone."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def competition(connection: ServerConnection, address: Address) -> ServerCompetition:
    """Return a competition as this account sees it; an unpublished one needs its secret key."""
    return _read(
        f"/api/competitions/{address.competition_id}/", ServerCompetition.of, competition_content(connection, address)
    )


def competition_content(connection: ServerConnection, address: Address) -> Mapping[str, Any]:
    """Return the server's whole answer to this account about a competition."""
    secret = {"secret_key": address.secret_key} if address.secret_key else {}
    content: Mapping[str, Any] = connection.call("GET", f"/api/competitions/{address.competition_id}/", **secret)
    return content


def submission(connection: ServerConnection, submission_id: int) -> Submission:
    """Return one submission."""
    path = f"/api/submissions/{submission_id}/"
    return _read(path, Submission.of, connection.call("GET", path))


def submissions(connection: ServerConnection, phase: ServerPhase) -> list[Submission]:
    """Return the submissions to a phase that this account may see, the oldest first; organisers see all."""
    path = "/api/submissions/"
    entries = [_read(path, Submission.of, entry) for entry in _entries(connection, path, phase=phase.phase_id)]
    return sorted(entries, key=lambda entry: (entry.created, entry.submission_id))


def part_keys(connection: ServerConnection, task_id: int) -> dict[str, str | None]:
    """Return the keys of the data sets that a task of this account runs; None for a part that it lacks."""
    path = f"/api/tasks/{task_id}/"

    def keys(content: Mapping[str, Any]) -> dict[str, str | None]:
        return {part: str(content[part]["key"]) if content.get(part) else None for part in PARTS}

    return _read(path, keys, connection.call("GET", path))


def datasets(connection: ServerConnection, **filters: str) -> list[UploadedFile]:
    """Return data sets of this account, for instance by name or key."""
    path = "/api/datasets/"
    return [_read(path, UploadedFile.of, entry) for entry in _entries(connection, path, **filters)]


def newest_part(connection: ServerConnection, phase: ServerPhase) -> datetime | None:
    """Return the time of the newest program or data set of a phase; None without any."""
    keys = {key for task_id in phase.tasks for key in part_keys(connection, task_id).values() if key is not None}
    return max((part.created for key in sorted(keys) for part in datasets(connection, key=key)), default=None)


def _entries(connection: ServerConnection, path: str, **filters: object) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list, page by page if the server divides it."""
    answer = connection.call("GET", path, **filters, page_size=PAGE_SIZE)
    for _ in range(MOST_PAGES):
        if not isinstance(answer, Mapping):
            yield from answer
            return
        yield from answer["results"]
        if not answer.get("next"):
            return
        query = {name: values[-1] for name, values in parse_qs(urlsplit(answer["next"]).query).items()}
        answer = connection.call("GET", path, **query)
    raise ServerError(f"GET {path}: the list has no end.")


def _read(path: str, read: Callable[[Mapping[str, Any]], Record], content: Mapping[str, Any]) -> Record:
    try:
        return read(content)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ServerError(
            f"{path}: an answer that this command cannot read ({type(error).__name__}: {error}). "
            "Codabench 1.25 and later answer in another form."
        ) from None


def digest(path: Path, name: str = "sha256") -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, name).hexdigest()


def file_name_for(stem: str) -> str:
    """Return the name of a zip that the server keeps unchanged."""
    return re.sub(r"[^\w.-]+", "-", stem)[:LONGEST_FILE_NAME].strip("-.") + ".zip"


def upload(
    connection: ServerConnection, path: Path, kind: str, *, name: str, file_name: str, progress: Progress | None = None,
    **more: object,
) -> Any:  # noqa: ANN401 - JSON  # fmt: skip
    """Upload a zip: announce it, send it to the given address, report it, and check that it arrived.

    `kind`: such as "competition_bundle", "submission" or "input_data".
    `name`: unique among this account's data sets.
    `file_name`: the name of the file when downloaded.
    `more`: such as the competition of a submission.
    Returns the server's answer: a bundle's `status_id`, else the data set's `key`. Raises ServerError if the server
    refuses it, if the received bytes differ, or if another organiser uploads the same file at the same time.
    """

    def tell(step: str, path: str, content: object = None) -> Any:  # noqa: ANN401 - JSON
        try:
            return connection.call(step, path, content)
        except ServerError as error:
            if error.status != 404 and "by this name" not in str(error):
                raise
            advice = "Another organiser may be uploading the same file. Repeat the command in a minute: it goes on."
            raise ServerError(f"{str(error).rstrip('.')}. {advice}", error.status) from None

    size = path.stat().st_size
    announced = {
        "type": kind, "name": name[:LONGEST_NAME], "request_sassy_file_name": file_name, "file_name": file_name,
        "file_size": size, **more,
    }  # fmt: skip
    answer = tell("POST", "/api/datasets/", announced)
    key, url = str(answer["key"]), str(answer["sassy_url"])
    # The content type is part of the signature; Azure wants to know what kind of blob it is.
    headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
    if ".blob.core.windows.net" in url:
        headers["x-ms-blob-type"] = "BlockBlob"

    def send() -> str:
        with path.open("rb") as file:
            show = progress or (lambda *_: None)
            return connection.send_file(
                url, CallbackIOWrapper(lambda _: show(file.tell(), size), file, "read"), headers
            )

    tag = try_again(send)
    if tag and tag != digest(path, "md5"):  # what storage servers return
        raise ServerError(
            f"{path.name} was changed during the upload: the storage has other bytes. Repeat the command."
        )
    answer = tell("PUT", f"/api/datasets/completed/{key}/")
    if kind != "competition_bundle":
        sizes = [dataset.size for dataset in datasets(connection, key=key)]
        if sizes != [size]:
            there = f"{sizes[0]} bytes" if sizes else "no such file"
            raise ServerError(f"the upload {key}: sent {size} bytes, and the server has {there}. Repeat the command.")
    return answer


def download(connection: ServerConnection, url: str, target: Path) -> None:
    """Download a signed address into a file, completely or not at all, with retries if the connection breaks.

    Raises ServerError if the download fails; then no file is left.
    """

    def receive(unfinished: Path) -> None:
        try:
            with connection.open(url) as answer, unfinished.open("wb") as file:
                if not is_good(answer):
                    problem = f"{target.name}: status {answer.status_code} ({answer.reason})"
                    raise ServerError(problem, answer.status_code)
                for piece in answer.iter_content(PIECE):
                    file.write(piece)
                    if file.tell() > LARGEST_FILE:
                        raise ServerError(f"{target.name}: more than {LARGEST_FILE >> 30} GB.", answer.status_code)
        except requests.RequestException as error:
            raise ServerError(f"{target.name}: {error}") from None

    with replaced(target) as unfinished:
        try_again(lambda: receive(unfinished))
