"""Rules about tasks and the solutions that go with them."""

from collections.abc import Iterator
from typing import Any

from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.keys import FILES_OF_TASK, is_key
from bundle_tools.codabench.rules.dataset import Dataset, check_path, find
from bundle_tools.codabench.rules.document import Draft, Key
from bundle_tools.codabench.rules.findings import CRASHES, FAILS_LATER, IGNORED, REFUSED, Finding, shown
from bundle_tools.codabench.rules.programs.commands import started
from bundle_tools.codabench.worker.command import METADATA_NAMES


def check_tasks(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the tasks."""
    indexes: list[object] = []
    for position, task in draft.entries("tasks"):
        path: tuple[Key, ...] = ("tasks", position)
        yield from _check_index(draft, path, task.get("index"), indexes)
        if task.get("key") is not None:
            if not is_key(task["key"]):
                what = f"key: expected the key (UUID) of a task; found {shown(task['key'])}."
                yield Finding("task-key", "error", draft.at(*path, "key"), what, CRASHES, "Correct or delete it.")
            continue
        for key in ("name", "scoring_program"):
            if key not in task:
                what = f"The task has no {key}."
                yield Finding("task-missing", "error", draft.at(*path), what, REFUSED, "Add it.")
        for key in FILES_OF_TASK:
            if key in task:
                yield from check_path(draft, (*path, key), task[key])
        if is_on(task.get("ingestion_only_during_scoring")):
            what = "ingestion_only_during_scoring is on."
            effect = "Ingestion, and with it the submission, could then read the reference data."
            where = draft.at(*path, "ingestion_only_during_scoring")
            yield Finding("task-ingestion-only", "error", where, what, effect, "Leave it out.")


def check_solutions(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the solutions."""
    known = [task.get("index") for _, task in draft.entries("tasks")]
    seen: list[object] = []
    for position, solution in draft.entries("solutions"):
        path: tuple[Key, ...] = ("solutions", position)
        if any(_same(solution.get("index"), other) for other in seen):
            what = f"The index {shown(solution.get('index'))} stands there twice."
            yield Finding("solution-index", "warning", draft.at(*path, "index"), what, IGNORED, "Number them.")
        seen.append(solution.get("index"))
        yield from check_references(draft, (*path, "tasks"), solution.get("tasks"), known)
        if solution.get("key") is not None:
            continue
        if "path" not in solution:
            what = "The solution has no path."
            yield Finding("solution-path", "error", draft.at(*path), what, REFUSED, "Name its folder.")
            continue
        yield from check_path(draft, (*path, "path"), solution["path"])
        files = find(draft, solution["path"])
        if files is not None:
            yield from _check_submission(draft, (*path, "path"), files)


def check_references(draft: Draft, path: tuple[Key, ...], value: object, known: list[Any]) -> Iterator[Finding]:
    """Find indexes of tasks that do not exist; 0 and "0" are not the same."""
    if not isinstance(value, list):
        return
    if not value:
        what = "tasks is empty."
        yield Finding("tasks-none", "error", draft.at(*path), what, FAILS_LATER, "Name the index of a task.")
    for index in value:
        if not any(_same(index, other) for other in known):
            what = f"tasks: no task has the index {shown(index)} (the type counts)."
            yield Finding("tasks-unknown", "error", draft.at(*path), what, CRASHES, "Use the index of a task.")


def _check_index(draft: Draft, path: tuple[Key, ...], index: object, seen: list[object]) -> Iterator[Finding]:
    where = draft.at(*path, "index")
    if isinstance(index, (dict, list)):
        what = f"index: expected one value; found {shown(index)}."
        yield Finding("task-index-type", "error", where, what, CRASHES, "Use 0, 1, 2.")
    elif index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        what = f"index: expected an integer; found {shown(index)}."
        effect = "Phases and solutions must then use the very same type."
        yield Finding("task-index-type", "warning", where, what, effect, "Use 0, 1, 2.")
    if any(_same(index, other) for other in seen):
        what = f"index: {shown(index)} stands there twice."
        yield Finding("task-index-twice", "error", where, what, REFUSED, "Number the tasks.")
    seen.append(index)


def _check_submission(draft: Draft, path: tuple[Key, ...], files: Dataset) -> Iterator[Finding]:
    where = draft.at(*path)
    names = files.names()
    programs = [find(draft, task.get("ingestion_program")) for _, task in draft.entries("tasks")]
    own = any(program is not None and "ingest/__init__.py" in program.names() for program in programs)
    ingests = any(task.get("ingestion_program") is not None or "key" in task for _, task in draft.entries("tasks"))
    for name in [name for name in METADATA_NAMES if name in names]:
        commands = bool(started(files, "submission"))
        effect = None
        if own:
            effect = "The ingestion program refuses a submission that holds it."
        elif commands and ingests:
            effect = "Its command would run in a container of its own, past ingestion."
        elif not commands and not ingests:
            effect = "It names no command, so nothing runs, and its files are not taken as results: the run fails."
        if effect:
            what = f"{name} stands at the root of a solution."
            yield Finding("solution-metadata", "error", where, what, effect, "Delete it.")


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
