"""The parts of the server's records that the commands need. Times are UTC."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

PartName = Literal["ingestion_program", "scoring_program", "input_data", "reference_data"]
PARTS: tuple[PartName, ...] = ("ingestion_program", "scoring_program", "input_data", "reference_data")
ENDED = frozenset({"Finished", "Failed", "Cancelled"})
"""Final statuses; scores arrive a moment after "Finished"."""


@dataclass(frozen=True)
class Column:
    """One column of the leaderboard."""

    key: str
    """As in `scores.json`."""
    index: int
    """Its place."""
    precision: int
    """Decimals shown."""


@dataclass(frozen=True)
class Phase:
    """One phase."""

    phase_id: int
    name: str
    start: datetime | None
    """When it begins."""
    end: datetime | None
    """When it ends; None if never."""
    tasks: tuple[int, ...]


@dataclass(frozen=True)
class Competition:
    """One competition."""

    competition_id: int
    title: str
    published: bool
    secret_key: str | None
    """Secret key that opens it before it is published; None if the account is not an organiser."""
    own_queue: bool
    """Whether it runs on a queue of its own."""
    phases: tuple[Phase, ...]
    """In their order."""
    columns: tuple[Column, ...]
    """In the order of their index."""
    primary_index: int
    """Index of the column that ranks."""
    content: Mapping[str, Any]
    """The whole answer."""

    def primary(self) -> str:
        """Return the key of the column that ranks."""
        return next((column.key for column in self.columns if column.index == self.primary_index), "")


@dataclass(frozen=True)
class Task:
    """What a phase runs: programs and data, by the keys of their data sets."""

    task_id: int
    name: str
    description: str
    keys: Mapping[PartName, str | None]
    """Key of each part's data set; None if the task has no such part."""


@dataclass(frozen=True)
class Dataset:
    """A file that somebody uploaded."""

    dataset_id: int
    key: str
    """Opens the download."""
    name: str
    """Unique among this account's data sets."""
    created: datetime
    """When the upload began."""
    size: int
    """Bytes; 0 if the file did not arrive."""
    competition_id: int | None
    """The competition made from it, if it is a bundle."""


@dataclass(frozen=True)
class Submission:
    """One submission to a phase."""

    submission_id: int
    owner: str
    file_name: str
    phase_id: int
    created: datetime
    """When it was made."""
    status: str
    """Submitting, Submitted, Preparing, Running, Scoring, Finished, Failed or Cancelled."""
    details: str
    on_board: bool
    """Whether it is a row of the leaderboard."""
    scores: Mapping[str, float]
    """Key of a column -> number."""
    elsewhere: bool
    """Whether it is part of another submission, or ran on a task that is not the phase's: never a row."""

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.status in ENDED


def competition(content: Mapping[str, Any]) -> Competition:
    """Read the answer to GET /api/competitions/ID/."""
    boards = content["leaderboards"]
    columns = boards[0]["columns"] if boards else []
    return Competition(
        competition_id=int(content["id"]),
        title=str(content["title"]),
        published=bool(content["published"]),
        secret_key=content.get("secret_key"),
        own_queue=bool(content.get("queue")),
        phases=tuple(_phase(entry) for entry in sorted(content["phases"], key=lambda entry: entry["index"])),
        columns=tuple(
            Column(str(entry["key"]), int(entry["index"]), int(entry["precision"]))
            for entry in sorted(columns, key=lambda entry: entry["index"])
        ),
        primary_index=int(boards[0]["primary_index"]) if boards else 0,
        content=content,
    )


def task(content: Mapping[str, Any]) -> Task:
    """Read the answer to GET /api/tasks/ID/."""
    return Task(
        task_id=int(content["id"]),
        name=str(content["name"]),
        description=str(content.get("description") or ""),
        keys={part: str(found["key"]) if (found := content.get(part)) else None for part in PARTS},
    )


def dataset(content: Mapping[str, Any]) -> Dataset:
    """Read one entry of /api/datasets/."""
    made = content.get("competition")
    return Dataset(
        dataset_id=int(content["id"]),
        key=str(content["key"]),
        name=str(content["name"]),
        created=moment(content["created_when"]),
        size=int(float(content.get("file_size") or 0)),
        competition_id=int(made["id"]) if isinstance(made, Mapping) else None,
    )


def submission(content: Mapping[str, Any]) -> Submission:
    """Read one entry of /api/submissions/."""
    return Submission(
        submission_id=int(content["id"]),
        owner=str(content["owner"]),
        file_name=str(content.get("filename") or ""),
        phase_id=int(content["phase"]),
        created=moment(content["created_when"]),
        status=str(content["status"]),
        details=str(content.get("status_details") or ""),
        on_board=bool(content.get("on_leaderboard")),
        scores={str(score["column_key"]): float(score["score"]) for score in content.get("scores") or []},
        elsewhere=content.get("parent") is not None or bool(content.get("is_specific_task_re_run")),
    )


def moment(text: str) -> datetime:
    """Read a time; the server's times are UTC, even without a zone."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _phase(content: Mapping[str, Any]) -> Phase:
    return Phase(
        phase_id=int(content["id"]),
        name=str(content["name"]),
        start=moment(content["start"]) if content.get("start") else None,
        end=moment(content["end"]) if content.get("end") else None,
        tasks=tuple(int(entry["id"]) for entry in content["tasks"]),
    )
