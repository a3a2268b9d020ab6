"""Rules about tasks and the solutions that go with them."""

from collections.abc import Iterator

from bundle_tools.codabench.keys import FILES_OF_TASK, PhaseKeys, Place, Solution, is_key
from bundle_tools.codabench.rules.dataset import Dataset, check_path, find, opened
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, FAILS_LATER, IGNORED, REFUSED, Finding, shown
from bundle_tools.codabench.rules.programs.commands import started
from bundle_tools.codabench.worker.jobs import METADATA_NAMES


def check_tasks(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the tasks."""
    indexes: list[object] = []
    for task in draft.keys.tasks:
        path = task.place
        yield from _check_index(draft, path, task.index, indexes)
        if task.key is not None:
            if not is_key(task.key):
                what = f"key: expected the key (UUID) of a task; found {shown(task.key)}."
                yield Finding("task-key", "error", draft.at(*path, "key"), what, CRASHES, "Correct or delete it.")
            continue
        for key in ("name", "scoring_program"):
            if key not in task.given:
                what = f"The task has no {key}."
                yield Finding("task-missing", "error", draft.at(*path), what, REFUSED, "Add it.")
        for key in FILES_OF_TASK:
            yield from check_path(draft, (*path, key), getattr(task, key))
        if task.ingestion_only_during_scoring:
            what = "ingestion_only_during_scoring is on."
            effect = "Ingestion, and with it the submission, could then read the reference data."
            where = draft.at(*path, "ingestion_only_during_scoring")
            yield Finding("task-ingestion-only", "error", where, what, effect, "Leave it out.")


def check_solutions(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the solutions."""
    seen: list[object] = []
    for solution in draft.keys.solutions or ():
        path = solution.place
        if any(_same(solution.index, other) for other in seen):
            what = f"The index {shown(solution.index)} is used twice."
            yield Finding("solution-index", "warning", draft.at(*path, "index"), what, IGNORED, "Number them.")
        seen.append(solution.index)
        yield from check_references(draft, solution)
        if solution.key is not None:
            continue
        if "path" not in solution.given:
            what = "The solution has no path."
            yield Finding("solution-path", "error", draft.at(*path), what, REFUSED, "Name its folder.")
            continue
        yield from check_path(draft, (*path, "path"), solution.path)
        files = find(draft, solution.path)
        if files is not None:
            yield from _check_submission(draft, (*path, "path"), files)


def check_references(draft: Draft, section: PhaseKeys | Solution) -> Iterator[Finding]:
    """Find indexes of tasks that do not exist; 0 and "0" are not the same."""
    where = draft.at(*section.place, "tasks")
    if section.given.get("tasks") == []:
        what = "tasks is empty."
        yield Finding("tasks-none", "error", where, what, FAILS_LATER, "Name the index of a task.")
    for index in section.tasks:
        if not any(_same(index, task.index) for task in draft.keys.tasks):
            what = f"tasks: no task has the index {shown(index)} (the type must match too)."
            yield Finding("tasks-unknown", "error", where, what, CRASHES, "Use the index of a task.")


def _check_index(draft: Draft, path: Place, index: object, seen: list[object]) -> Iterator[Finding]:
    where = draft.at(*path, "index")
    if isinstance(index, (dict, list)):
        what = f"index: expected one value; found {shown(index)}."
        yield Finding("task-index-type", "error", where, what, CRASHES, "Use 0, 1, 2.")
    elif index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        what = f"index: expected an integer; found {shown(index)}."
        effect = "Phases and solutions must then use the very same type."
        yield Finding("task-index-type", "warning", where, what, effect, "Use 0, 1, 2.")
    if any(_same(index, other) for other in seen):
        what = f"index: {shown(index)} is used twice."
        yield Finding("task-index-twice", "error", where, what, REFUSED, "Number the tasks.")
    seen.append(index)


def _check_submission(draft: Draft, path: Place, files: Dataset) -> Iterator[Finding]:
    where = draft.at(*path)
    names = files.names()
    own = any("ingest/__init__.py" in program.names() for program in opened(draft, "ingestion_program").values())
    ingests = any(task.ingestion_program is not None or "key" in task.given for task in draft.keys.tasks)
    for name in [name for name in METADATA_NAMES if name in names]:
        commands = bool(started(files, "submission"))
        effect = None
        if own:
            effect = "The ingestion program refuses a submission with such a file."
        elif commands and ingests:
            effect = "Its command would run in a container of its own and bypass ingestion."
        elif not commands and not ingests:
            effect = "It names no command, so nothing runs, its files do not count as results, and the run fails."
        if effect:
            what = f"{name} is at the root of a solution."
            yield Finding("solution-metadata", "error", where, what, effect, "Delete it.")


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
