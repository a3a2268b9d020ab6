"""Upload a bundle, wait until the server has unpacked it, and compare the result with `competition.yaml`."""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.competition import in_order
from bundle_tools.codabench.keys import Keys, PhaseKeys, read
from bundle_tools.codabench.rules.phases import kept
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, looks
from bundle_tools.codabench.server.records import PARTS, Address, ServerCompetition, UploadedFile, moment
from bundle_tools.codabench.version1 import is_version1
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

NAME = "competition.yaml"
UNPACKING_S = 1800
"""Longest wait for unpacking; a bundle of 36 MB takes ten seconds."""
RUNNING_S = 60
"""Age up to which an upload without bytes is left alone: deleting one that is running could break its unpacking."""
TEXTS = ("title", "docker_image", "description", "contact_email", "reward", "competition_type")
SWITCHES = (
    *("registration_auto_approve", "enable_detailed_results", "show_detailed_results_in_submission_panel"),
    *("show_detailed_results_in_leaderboard", "auto_run_submissions", "can_participants_make_submissions_public"),
    *("make_programs_available", "make_input_data_available", "forum_enabled"),
)
PHASE_KEYS = (
    *("max_submissions_per_day", "max_submissions", "execution_time_limit", "hide_output", "hide_prediction_output"),
    *("hide_score_output", "auto_migrate_to_this_phase"),
)
OTHER_NAMES = {"max_submissions": "max_submissions_per_person"}
"""Key in `competition.yaml` -> key on the server, where they differ."""
SHOWN = 60
"""Characters of a value in a message."""


@dataclass(frozen=True)
class Published:
    """A competition created from a bundle."""

    competition: ServerCompetition
    """As the server shows it to its organiser."""
    link: str
    """The address to share: secret until the competition is published."""
    differences: tuple[str, ...] | None
    """Differences from the bundle; None for a version 1 bundle, which the server rewrites."""
    was_there: bool
    """Whether an earlier call created it."""


def publish(
    connection: ServerConnection, archive: Path, *, progress: Progress | None, say: Callable[[str], None]
) -> Published:
    """Create a competition from a bundle, once: the same zip is recognised the second time.

    Raises BundleError if the zip cannot be read, if the server rejects it, or if it has become several competitions.
    """
    document = _document(archive)
    name = f"bundle {records.digest(archive)[:16]}"
    uploads = _uploads(connection, name)
    competition_id = _only(connection, uploads)
    was_there = competition_id is not None
    if competition_id is None:
        _remove_unfinished(connection, uploads, name)
        uploaded = records.upload(
            connection, archive, "competition_bundle", name=name, file_name=records.file_name_for(archive.stem),
            progress=progress,
        )  # fmt: skip
        competition_id = _unpacked(connection, int(uploaded["status_id"]), say)
        _only(connection, _uploads(connection, name))  # another organiser may have published meanwhile
    made = records.competition(connection, Address(connection.address, competition_id, None))
    link = f"{connection.address}/competitions/{competition_id}/"
    if made.secret_key and not made.published:
        link += f"?secret_key={made.secret_key}"
    if is_version1(document):
        return Published(made, link, None, was_there)
    with zipfile.ZipFile(archive) as opened:
        lines = differences(read(Keys, document)[0], opened, made.content)
    return Published(made, link, tuple(lines), was_there)


def _document(archive: Path) -> Mapping[str, Any]:
    try:
        with zipfile.ZipFile(archive) as opened:
            if (broken := opened.testzip()) is not None:
                raise BundleError(f"{archive}: {broken} is damaged. Build it again: `bundle build`.")
            content = yaml.safe_load(opened.read(NAME).decode("utf-8-sig"))
    except KeyError:
        raise BundleError(
            f"{archive}: expected {NAME} at its top, found none. `bundle build` makes a bundle."
        ) from None
    except (*UNREADABLE, yaml.YAMLError) as error:
        raise BundleError(
            f"{archive}: expected a bundle, a zip with {NAME}; found {error}. `bundle build` makes it."
        ) from None
    if not isinstance(content, dict):
        raise BundleError(f"{archive}: {NAME} holds no keys. `bundle check {archive}` tells more.")
    return content


def _uploads(connection: ServerConnection, name: str) -> list[UploadedFile]:
    """Return the uploads of this zip; the server has added the title to the names of unpacked ones."""
    every = records.datasets(connection, _type="bundle", search=name)
    return [dataset for dataset in every if dataset.name.startswith(name)]


def _only(connection: ServerConnection, uploads: list[UploadedFile]) -> int | None:
    """Return the competition made from uploads of one zip; None without one, BundleError if there are several."""
    made = sorted({dataset.competition_id for dataset in uploads if dataset.competition_id is not None})
    if len(made) > 1:
        first, *others = [f"{connection.address}/competitions/{number}/" for number in made]
        raise BundleError(
            "this zip has become several competitions, as when two organisers publish at the same time. Keep "
            f"{first}, delete {', '.join(others)} on the website, and repeat the command."
        )
    return made[0] if made else None


def _remove_unfinished(connection: ServerConnection, uploads: list[UploadedFile], name: str) -> None:
    """Remove interrupted uploads; raises BundleError for one that may be running or unpacked."""
    for dataset in uploads:
        age_s = ((connection.server_time or datetime.now(UTC)) - dataset.created).total_seconds()
        if dataset.size == 0 and age_s < RUNNING_S:
            raise BundleError(
                f"an upload of this zip began {max(0.0, age_s):.0f} s ago, by you or another organiser. Whether it is "
                "running or was interrupted: repeat the command in a minute."
            )
        # An interrupted upload has no bytes.
        if dataset.size != 0 and dataset.name == name:
            raise BundleError(
                f"this zip was uploaded at {dataset.created:%Y-%m-%d %H:%M} UTC, but no competition exists yet. If the "
                "server is still unpacking, repeat the command in a minute. If not, delete "
                f"{dataset.name!r} under Resources → Competition Bundles, and repeat the command."
            )
        connection.call("DELETE", f"/api/datasets/{dataset.dataset_id}/")


def _unpacked(connection: ServerConnection, status_id: int, say: Callable[[str], None]) -> int:
    """Wait until the server has finished; it reports only its first error."""
    last = ""
    for _ in looks(UNPACKING_S):
        answer = connection.call("GET", f"/api/competitions/{status_id}/creation_status/")
        if answer["status"] != last:
            last = str(answer["status"])
            say(f"  {last}")
        if last == "Finished":
            return int(answer["resulting_competition"])
        if last == "Failed":
            raise BundleError(
                f"the server could not unpack the bundle: {' '.join(str(answer['details']).split())} It deleted the "
                "upload. `bundle check` lists all problems, not only the first."
            )
    raise BundleError(
        "the server is still unpacking after half an hour. Look at it there, or repeat the command later."
    )


def differences(document: Keys, archive: zipfile.ZipFile, there: Mapping[str, Any]) -> list[str]:
    """Compare a bundle of version 2 with the competition that the server made of it; one line per difference."""
    lines = [*_competition(document, there), *_pages(document, archive, there)]
    phases = sorted(document.phases, key=lambda phase: phase.index)
    theirs = sorted(there["phases"], key=lambda phase: phase.get("index", 0))
    if len(phases) != len(theirs):
        lines.append(f"phases: expected {len(phases)}, found {len(theirs)}.")
    for phase, other in zip(phases, theirs, strict=False):
        if len(phases) == len(theirs):
            lines += [f"phase {phase.name}, {line}" for line in _phase(phase, other)]
        lines += _tasks(document, phase, other)
    return [*lines, *_leaderboard(document, there["leaderboards"])]


def _competition(document: Keys, there: Mapping[str, Any]) -> Iterator[str]:
    for key in (key for key in TEXTS if key in document.content):
        yield from _unlike(key, document.content[key], there.get(key))
    for key in SWITCHES:
        yield from _unlike(key, getattr(document, key), there.get(key))
    yield from _unlike("fact_sheet", document.fact_sheet or None, there.get("fact_sheet") or None)
    if not there.get("logo"):
        yield "logo: missing."
    if document.queue and (there.get("queue") or {}).get("vhost") != document.queue:
        yield f"queue: expected {document.queue}, found {there.get('queue')}."


def _pages(document: Keys, archive: zipfile.ZipFile, there: Mapping[str, Any]) -> Iterator[str]:
    def differs(file: str, text: object) -> bool:
        return _text(archive.read(file).decode("utf-8-sig")) != _text(text)

    theirs = {str(page["title"]): page["content"] for page in there["pages"]}
    expected = {page.title: str(page.file) for page in document.pages}
    for title, file in expected.items():
        if title not in theirs:
            yield f"page {title}: missing."
        elif differs(file, theirs[title]):
            yield f"page {title}: its text differs from {file}."
    yield from (f"page {title}: not in the bundle." for title in theirs if title not in expected)
    if document.terms is not None and differs(document.terms, there.get("terms")):
        yield f"terms: the text differs from {document.terms}."


def _phase(expected: PhaseKeys, there: Mapping[str, Any]) -> Iterator[str]:
    yield from _unlike("name", expected.name, there.get("name"))
    yield from _unlike("description", expected.description or "", there.get("description") or "")
    for key in ("start", "end"):
        written = getattr(expected, key)
        wanted = kept(written).replace(tzinfo=UTC) if written else None
        yield from _unlike(key, wanted, moment(there[key]) if there.get(key) else None)
    for key in PHASE_KEYS:
        yield from _unlike(key, getattr(expected, key), there.get(OTHER_NAMES.get(key, key)))
    for key in ("starting_kit", "public_data"):
        if getattr(expected, key) and not there.get(key):
            yield f"{key}: missing."


def _tasks(document: Keys, phase: PhaseKeys, there: Mapping[str, Any]) -> Iterator[str]:
    tasks = {task.index: task for task in document.tasks}
    expected = [tasks[index] for index in phase.tasks if index in tasks]
    where = f"phase {phase.name}"
    if len(expected) != len(there["tasks"]):
        yield f"{where}: expected {len(expected)} tasks, found {len(there['tasks'])}."
        return
    for task, other in zip(expected, there["tasks"], strict=True):
        if task.key is not None:
            continue
        yield from _unlike(f"{where}, name of the task", task.name, other.get("name"))
        kinds = sorted({str(entry.get("type")) for entry in other.get("public_datasets") or []})
        if kinds:  # the server may not show them
            wanted = sorted(part for part in PARTS if getattr(task, part))
            yield from _unlike(f"{where}, parts of the task", ", ".join(wanted), ", ".join(kinds))
        own = sorted(str(entry.content.get("name")) for entry in document.solutions or () if task.index in entry.tasks)
        names = sorted(str(entry.get("name")) for entry in other.get("solutions") or [])
        yield from _unlike(f"{where}, solutions", ", ".join(own), ", ".join(names))


def _leaderboard(document: Keys, there: list[Mapping[str, Any]]) -> Iterator[str]:
    if len(there) != 1 or not document.leaderboards:
        yield f"leaderboard: expected one, found {len(there)}."
        return
    board = document.leaderboards[0]
    for key in ("title", "submission_rule", "primary_index"):
        yield from _unlike(f"leaderboard, {key}", getattr(board, key), there[0].get(key))
    theirs = {str(column["key"]): column for column in there[0]["columns"]}
    for column in in_order(board.columns):
        if (other := theirs.pop(column.key, None)) is None:
            yield f"column {column.key}: missing."
            continue
        for key in ("title", "sorting", "hidden", "precision", "index"):
            yield from _unlike(f"column {column.key}, {key}", getattr(column, key), other.get(key))
    yield from (f"column {key}: not in the bundle." for key in theirs)


def _unlike(what: str, expected: object, there: object) -> Iterator[str]:
    def short(value: object) -> str:
        text = " ".join(str(value).split())
        return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"

    if _text(expected) != _text(there):
        yield f"{what}: expected {short(expected)}, found {short(there)}."


def _text(value: object) -> str:
    """Return a value as the server may store its text: line endings and surrounding white space are normalised."""
    return str(value).replace("\r\n", "\n").strip()
