"""What came of a bundle on the server, beside what its `competition.yaml` says."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.competition import DEFAULT_TIME_LIMIT_S, in_order
from bundle_tools.codabench.keys import Board, read
from bundle_tools.codabench.rules.settings.dates import kept
from bundle_tools.codabench.server.interface.records import PARTS, moment

SWITCHES = {
    "registration_auto_approve": False,
    "enable_detailed_results": False,
    "show_detailed_results_in_submission_panel": True,
    "show_detailed_results_in_leaderboard": True,
    "auto_run_submissions": True,
    "can_participants_make_submissions_public": True,
    "make_programs_available": False,
    "make_input_data_available": False,
    "forum_enabled": True,
}
"""Keys of the competition that are on or off, and what they are where nobody says."""
PHASE_NUMBERS = {
    "max_submissions_per_day": ("max_submissions_per_day", 5),
    "max_submissions": ("max_submissions_per_person", 100),
    "execution_time_limit": ("execution_time_limit", DEFAULT_TIME_LIMIT_S),
}
"""Key in `competition.yaml` -> key on the server, and what it is where nobody says."""
PHASE_SWITCHES = ("hide_output", "hide_prediction_output", "hide_score_output", "auto_migrate_to_this_phase")
COLUMN_FIELDS = ("title", "sorting", "hidden", "precision")
SHOWN = 60


def differences(document: Mapping[str, Any], archive: zipfile.ZipFile, found: Mapping[str, Any]) -> list[str]:
    """Compare a bundle of version 2 with the competition that the server made of it.

    Parameters
    ----------
    document
        `competition.yaml`.
    archive
        The bundle, where its pages are.
    found
        The answer to GET /api/competitions/ID/.

    Returns
    -------
    list
        One line for each thing that is otherwise on the server; empty where all is as it was written.
    """
    lines = [*_competition(document, found), *_pages(document, archive, found)]
    lines += _phases(document.get("phases") or [], found["phases"])
    lines += _leaderboards(document.get("leaderboards") or [], found["leaderboards"])
    tasks = {task["index"]: task for task in document.get("tasks") or []}
    for phase, there in zip(_sorted(document.get("phases") or []), _sorted(found["phases"]), strict=False):
        lines += _tasks(phase, tasks, document.get("solutions") or [], there)
    return lines


def _competition(document: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for key in ("title", "docker_image", "description", "contact_email", "reward", "competition_type"):
        if key in document:
            yield from _unlike(key, document[key], found.get(key))
    for key, default in SWITCHES.items():
        yield from _unlike(key, is_on(document.get(key, default)), found.get(key))
    yield from _unlike("fact_sheet", document.get("fact_sheet") or None, found.get("fact_sheet") or None)
    if not found.get("logo"):
        yield "logo: there is none."
    if document.get("queue") and (found.get("queue") or {}).get("vhost") != document["queue"]:
        yield f"queue: expected {document['queue']}, found {found.get('queue')}."


def _pages(document: Mapping[str, Any], archive: zipfile.ZipFile, found: Mapping[str, Any]) -> Iterator[str]:
    there = {str(page["title"]): str(page["content"]) for page in found["pages"]}
    expected = [(str(page["title"]), str(page["file"])) for page in document.get("pages") or []]
    for title, file in expected:
        if title not in there:
            yield f"page {title}: it is not there."
        elif _text(there[title]) != _text(archive.read(file).decode("utf-8-sig")):
            yield f"page {title}: its text is another one than that of {file}."
    yield from (f"page {title}: nobody asked for it." for title in there if title not in dict(expected))
    if "terms" in document and _text(str(found.get("terms"))) != _text(
        archive.read(document["terms"]).decode("utf-8-sig")
    ):
        yield f"terms: another text than that of {document['terms']}."


def _phase(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    yield from _unlike("description", expected.get("description") or "", found.get("description") or "")
    for key in ("start", "end"):
        written = expected.get(key)
        wanted = kept(written).replace(tzinfo=UTC) if written else None
        yield from _unlike(key, wanted, moment(found[key]) if found.get(key) else None)
    for key, (theirs, default) in PHASE_NUMBERS.items():
        yield from _unlike(key, expected.get(key, default), found.get(theirs))
    for key in PHASE_SWITCHES:
        yield from _unlike(key, is_on(expected.get(key, False)), found.get(key))
    for key in ("starting_kit", "public_data"):
        if expected.get(key) and not found.get(key):
            yield f"{key}: there is none."


def _tasks(
    phase: Mapping[str, Any], tasks: Mapping[Any, Mapping[str, Any]], solutions: Sequence[Mapping[str, Any]],
    found: Mapping[str, Any],
) -> Iterator[str]:  # fmt: skip
    where = f"phase {phase['name']}"
    expected = [tasks[index] for index in phase["tasks"] if index in tasks]
    if len(expected) != len(found["tasks"]):
        yield f"{where}: expected {len(expected)} tasks, found {len(found['tasks'])}."
        return
    for task, there in zip(expected, found["tasks"], strict=True):
        if "key" in task:
            continue
        yield from _unlike(f"{where}, name of the task", task.get("name"), there.get("name"))
        kinds = sorted({str(entry.get("type")) for entry in there.get("public_datasets") or []})
        wanted = sorted(part for part in PARTS if task.get(part))
        if there.get("public_datasets"):  # a server that keeps them to itself tells nothing here
            yield from _unlike(f"{where}, parts of the task", ", ".join(wanted), ", ".join(kinds))
        own = sorted(str(one.get("name")) for one in solutions if task["index"] in one.get("tasks", ()))
        names = sorted(str(one.get("name")) for one in there.get("solutions") or [])
        yield from _unlike(f"{where}, solutions", ", ".join(own), ", ".join(names))


def _leaderboards(expected: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(found) != 1 or not expected:
        yield f"leaderboard: expected one, found {len(found)}."
        return
    board, there = expected[0], found[0]
    for key, default in (("title", None), ("submission_rule", "Add"), ("primary_index", 0)):
        yield from _unlike(f"leaderboard, {key}", board.get(key, default), there.get(key))
    columns = {str(column["key"]): column for column in there["columns"]}
    for column in in_order(read(Board, board)[0].columns):
        if column.key not in columns:
            yield f"column {column.key}: it is not there."
            continue
        sorting = "asc" if column.ascending else "desc"
        wanted = (column.title, sorting, column.hidden, column.precision)
        for key, value in zip(COLUMN_FIELDS, wanted, strict=True):
            yield from _unlike(f"column {column.key}, {key}", value, columns[column.key].get(key))
        yield from _unlike(f"column {column.key}, index", column.index, columns[column.key].get("index"))
    own = {str(column["key"]) for column in board["columns"]}
    yield from (f"column {key}: nobody asked for it." for key in columns if key not in own)


def _phases(expected: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(expected) != len(found):
        yield f"phases: expected {len(expected)}, found {len(found)}."
        return
    for one, there in zip(_sorted(expected), _sorted(found), strict=True):
        yield from _unlike(f"phase {one['name']}, name", one["name"], there.get("name"))
        yield from (f"phase {one['name']}, {line}" for line in _phase(one, there))


def _sorted(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(entries, key=lambda entry: entry.get("index", 0))


def _unlike(what: str, expected: object, found: object) -> Iterator[str]:
    if _text(str(expected)) != _text(str(found)):
        yield f"{what}: expected {_short(expected)}, found {_short(found)}."


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _text(text: str) -> str:
    """Give a text as the server may store it: line ends and the space around it do not count."""
    return text.replace("\r\n", "\n").strip()
