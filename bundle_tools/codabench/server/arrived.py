"""Compare a competition on the server with the bundle's `competition.yaml`."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from bundle_tools.codabench.competition import in_order
from bundle_tools.codabench.keys import Board, Keys, PhaseKeys, Solution, TaskKeys
from bundle_tools.codabench.rules.settings.dates import kept
from bundle_tools.codabench.server.interface.records import PARTS, moment

SWITCHES = (
    *("registration_auto_approve", "enable_detailed_results", "show_detailed_results_in_submission_panel"),
    *("show_detailed_results_in_leaderboard", "auto_run_submissions", "can_participants_make_submissions_public"),
    *("make_programs_available", "make_input_data_available", "forum_enabled"),
)
"""Boolean keys of the competition."""
PHASE_NUMBERS = {
    "max_submissions_per_day": "max_submissions_per_day",
    "max_submissions": "max_submissions_per_person",
    "execution_time_limit": "execution_time_limit",
}
"""Key in `competition.yaml` -> key on the server."""
PHASE_SWITCHES = ("hide_output", "hide_prediction_output", "hide_score_output", "auto_migrate_to_this_phase")
COLUMN_FIELDS = ("title", "sorting", "hidden", "precision", "index")
SHOWN = 60


def differences(document: Keys, archive: zipfile.ZipFile, found: Mapping[str, Any]) -> list[str]:
    """Compare a bundle of version 2 with the competition that the server made of it.

    Returns one line per difference on the server; empty if there is none.
    """
    lines = [*_competition(document, found), *_pages(document, archive, found)]
    phases = sorted(document.phases, key=lambda phase: phase.index)
    theirs = sorted(found["phases"], key=lambda phase: phase.get("index", 0))
    pairs = list(zip(phases, theirs, strict=False))
    if len(phases) != len(theirs):
        lines.append(f"phases: expected {len(phases)}, found {len(theirs)}.")
    else:
        lines += [f"phase {phase.name}, {line}" for phase, there in pairs for line in _phase(phase, there)]
    lines += _leaderboards(document.leaderboards, found["leaderboards"])
    tasks = {task.index: task for task in document.tasks}
    lines += [line for phase, there in pairs for line in _tasks(phase, tasks, document.solutions or (), there)]
    return lines


def _competition(document: Keys, found: Mapping[str, Any]) -> Iterator[str]:
    for key in ("title", "docker_image", "description", "contact_email", "reward", "competition_type"):
        if key in document.given:
            yield from _unlike(key, document.given[key], found.get(key))
    for key in SWITCHES:
        yield from _unlike(key, getattr(document, key), found.get(key))
    yield from _unlike("fact_sheet", document.fact_sheet or None, found.get("fact_sheet") or None)
    if not found.get("logo"):
        yield "logo: missing."
    if document.queue and (found.get("queue") or {}).get("vhost") != document.queue:
        yield f"queue: expected {document.queue}, found {found.get('queue')}."


def _pages(document: Keys, archive: zipfile.ZipFile, found: Mapping[str, Any]) -> Iterator[str]:
    there = {str(page["title"]): str(page["content"]) for page in found["pages"]}
    expected = {page.title: str(page.file) for page in document.pages}
    for title, file in expected.items():
        if title not in there:
            yield f"page {title}: missing."
        elif _text(there[title]) != _text(archive.read(file).decode("utf-8-sig")):
            yield f"page {title}: its text differs from {file}."
    yield from (f"page {title}: not in the bundle." for title in there if title not in expected)
    terms = document.terms
    if terms is not None and _text(str(found.get("terms"))) != _text(archive.read(terms).decode("utf-8-sig")):
        yield f"terms: the text differs from {terms}."


def _phase(expected: PhaseKeys, found: Mapping[str, Any]) -> Iterator[str]:
    yield from _unlike("name", expected.name, found.get("name"))
    yield from _unlike("description", expected.description or "", found.get("description") or "")
    for key in ("start", "end"):
        written = getattr(expected, key)
        wanted = kept(written).replace(tzinfo=UTC) if written else None
        yield from _unlike(key, wanted, moment(found[key]) if found.get(key) else None)
    for key, theirs in PHASE_NUMBERS.items():
        yield from _unlike(key, getattr(expected, key), found.get(theirs))
    for key in PHASE_SWITCHES:
        yield from _unlike(key, getattr(expected, key), found.get(key))
    for key in ("starting_kit", "public_data"):
        if getattr(expected, key) and not found.get(key):
            yield f"{key}: missing."


def _tasks(
    phase: PhaseKeys, tasks: Mapping[Any, TaskKeys], solutions: Sequence[Solution], found: Mapping[str, Any]
) -> Iterator[str]:
    where = f"phase {phase.name}"
    expected = [tasks[index] for index in phase.tasks if index in tasks]
    if len(expected) != len(found["tasks"]):
        yield f"{where}: expected {len(expected)} tasks, found {len(found['tasks'])}."
        return
    for task, there in zip(expected, found["tasks"], strict=True):
        if task.key is not None:
            continue
        yield from _unlike(f"{where}, name of the task", task.name, there.get("name"))
        kinds = sorted({str(entry.get("type")) for entry in there.get("public_datasets") or []})
        wanted = sorted(part for part in PARTS if getattr(task, part))
        if there.get("public_datasets"):  # the server may not show them
            yield from _unlike(f"{where}, parts of the task", ", ".join(wanted), ", ".join(kinds))
        own = sorted(str(one.given.get("name")) for one in solutions if task.index in one.tasks)
        names = sorted(str(one.get("name")) for one in there.get("solutions") or [])
        yield from _unlike(f"{where}, solutions", ", ".join(own), ", ".join(names))


def _leaderboards(expected: Sequence[Board], found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(found) != 1 or not expected:
        yield f"leaderboard: expected one, found {len(found)}."
        return
    board, there = expected[0], found[0]
    for key in ("title", "submission_rule", "primary_index"):
        yield from _unlike(f"leaderboard, {key}", getattr(board, key), there.get(key))
    columns = {str(column["key"]): column for column in there["columns"]}
    for column in in_order(board.columns):
        if column.key not in columns:
            yield f"column {column.key}: missing."
            continue
        for key in COLUMN_FIELDS:
            yield from _unlike(f"column {column.key}, {key}", getattr(column, key), columns[column.key].get(key))
    own = {column.key for column in board.columns}
    yield from (f"column {key}: not in the bundle." for key in columns if key not in own)


def _unlike(what: str, expected: object, found: object) -> Iterator[str]:
    if _text(str(expected)) != _text(str(found)):
        yield f"{what}: expected {_short(expected)}, found {_short(found)}."


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _text(text: str) -> str:
    """Return a text as the server may store it: line endings and surrounding white space are normalised."""
    return text.replace("\r\n", "\n").strip()
