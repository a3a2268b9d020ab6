"""Rules about tasks, example submissions, phases and their dates."""

import decimal
import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from dateutil import parser as dates

from bundle_tools.codabench.keys import FILES_OF_TASK, KeyPath, PhaseKeys, Solution, is_key
from bundle_tools.codabench.rules.commands import started
from bundle_tools.codabench.rules.dataset import DataFiles, check_path, find, opened
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import CRASHES, FAILS_LATER, IGNORED, REFUSED, Finding, shown
from bundle_tools.codabench.worker.jobs import METADATA_NAMES

SAFE_FORM = 'Write it in quotes, in UTC: "2026-03-01 12:00:00".'
LONGEST = 100
DAY = timedelta(days=1)
# Nobody writes year, day, month.
YEAR_FIRST = re.compile(r"\s*\d{4}\D")
# Missing parts of a date are taken from the current day; reading it on two days shows whether any are missing.
OTHER_DAYS = (datetime(2001, 1, 1), datetime(2002, 2, 2))
DATE_ERRORS = (ValueError, OverflowError, TypeError, AttributeError, decimal.DecimalException)


def check_time(
    bundle: ParsedBundle, path: KeyPath, start: datetime | None, end: datetime | None, *, first: bool
) -> Iterator[Finding]:
    """Find dates that leave no time. They are never errors, because an old bundle is still valid."""
    now = bundle.now
    if end is not None and end <= now:
        what = f"The phase ended at {end} UTC."
        yield Finding("date-past", "warning", bundle.at(*path, "end"), what, "It is over at once.", "Move it.")
    elif first and start is not None and start <= now:
        what = f"The first phase started at {start} UTC."
        effect = "It opens as soon as the competition is published."
        yield Finding(
            "date-past", "warning", bundle.at(*path, "start"), what, effect, "Move it, unless this is intended."
        )
    elif first and start is not None and start - now < DAY:
        what = f"The first phase starts at {start} UTC, in less than a day."
        effect = "Any mistake found after the upload must be fixed in public."
        yield Finding(
            "date-soon", "warning", bundle.at(*path, "start"), what, effect, "Leave at least a day to try it out."
        )
    if start is not None and end is not None and timedelta(0) < end - start < DAY:
        what = f"The phase lasts from {start} to {end} UTC: less than a day."
        effect = "In some time zones it is over in one night."
        yield Finding("date-short", "warning", bundle.at(*path, "end"), what, effect, "Give it at least a day.")


def kept(value: date | str) -> datetime:
    """Return the moment that Codabench stores for a date, UTC without a zone; an unquoted one loses its time of day."""
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return dates.parse(value).replace(tzinfo=None)


def moment(bundle: ParsedBundle, path: KeyPath, value: object) -> tuple[datetime | None, list[Finding]]:
    """Read a date as Codabench does: the moment it stores, or None, and what it silently changes."""
    where, key = bundle.at(*path), path[-1]
    if value is None or value == "":
        return None, []
    if isinstance(value, date) and not isinstance(value, datetime):
        return kept(value), []
    if isinstance(value, datetime):
        what = f"{key}: found an unquoted date with a time."
        fix = SAFE_FORM if value.tzinfo else f'Write it in quotes, in UTC: "{value}".'
        finding = Finding("date-unquoted", "warning", where, what, "Codabench drops its time of day.", fix)
        return kept(value), [finding]
    if not isinstance(value, str):
        what = f"{key}: expected a quoted date; found {shown(value)}."
        return None, [Finding("date-type", "error", where, what, CRASHES, SAFE_FORM)]
    if len(value) > LONGEST:
        what = f"{key}: expected a date; found {len(value)} characters."
        return None, [Finding("date-unreadable", "error", where, what, CRASHES, SAFE_FORM)]
    try:
        # The parser warns of unknown zones, and ignores them.
        with warnings.catch_warnings(record=True) as unknown_zones:
            warnings.simplefilter("always")
            parsed = dates.parse(value)
            orders = (False,) if YEAR_FIRST.match(value) else (False, True)
            readings = {dates.parse(value, default=day, dayfirst=order) for day in OTHER_DAYS for order in orders}
            offset = parsed.utcoffset()
    except DATE_ERRORS:
        what = f"{key}: expected a date; found {shown(value)}."
        return None, [Finding("date-unreadable", "error", where, what, CRASHES, SAFE_FORM)]
    moment = parsed.replace(tzinfo=None)
    if offset or unknown_zones:
        what = f"{key}: {shown(value)} names a time zone."
        effect = "Codabench drops the zone and reads the time as UTC."
        return moment, [Finding("date-zone", "warning", where, what, effect, SAFE_FORM)]
    if len(readings) > 1:
        what = f"{key}: {shown(value)} is ambiguous."
        effect = f"Codabench reads {moment}."
        return moment, [Finding("date-form", "warning", where, what, effect, SAFE_FORM)]
    return moment, []


def check_tasks(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the tasks."""
    indexes: list[object] = []
    for task in bundle.keys.tasks:
        path = task.key_path
        yield from _check_index(bundle, path, task.index, indexes)
        if task.key is not None:
            if not is_key(task.key):
                what = f"key: expected the key (UUID) of a task; found {shown(task.key)}."
                yield Finding("task-key", "error", bundle.at(*path, "key"), what, CRASHES, "Correct or delete it.")
            continue
        for key in ("name", "scoring_program"):
            if key not in task.content:
                what = f"The task has no {key}."
                yield Finding("task-missing", "error", bundle.at(*path), what, REFUSED, "Add it.")
        for key in FILES_OF_TASK:
            yield from check_path(bundle, (*path, key), getattr(task, key))
        if task.ingestion_only_during_scoring:
            what = "ingestion_only_during_scoring is on."
            effect = "Ingestion, and with it the submission, could then read the reference data."
            where = bundle.at(*path, "ingestion_only_during_scoring")
            yield Finding("task-ingestion-only", "error", where, what, effect, "Leave it out.")


def check_solutions(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the solutions."""
    seen: list[object] = []
    for solution in bundle.keys.solutions or ():
        path = solution.key_path
        if any(_same(solution.index, other) for other in seen):
            what = f"The index {shown(solution.index)} is used twice."
            yield Finding("solution-index", "warning", bundle.at(*path, "index"), what, IGNORED, "Number them.")
        seen.append(solution.index)
        yield from check_references(bundle, solution)
        if solution.key is not None:
            continue
        if "path" not in solution.content:
            what = "The solution has no path."
            yield Finding("solution-path", "error", bundle.at(*path), what, REFUSED, "Name its folder.")
            continue
        yield from check_path(bundle, (*path, "path"), solution.path)
        files = find(bundle, solution.path)
        if files is not None:
            yield from _check_submission(bundle, (*path, "path"), files)


def check_references(bundle: ParsedBundle, section: PhaseKeys | Solution) -> Iterator[Finding]:
    """Find indexes of tasks that do not exist; 0 and "0" are not the same."""
    where = bundle.at(*section.key_path, "tasks")
    if section.content.get("tasks") == []:
        what = "tasks is empty."
        yield Finding("tasks-none", "error", where, what, FAILS_LATER, "Name the index of a task.")
    for index in section.tasks:
        if not any(_same(index, task.index) for task in bundle.keys.tasks):
            what = f"tasks: no task has the index {shown(index)} (the type must match too)."
            yield Finding("tasks-unknown", "error", where, what, CRASHES, "Use the index of a task.")


def _check_index(bundle: ParsedBundle, path: KeyPath, index: object, seen: list[object]) -> Iterator[Finding]:
    where = bundle.at(*path, "index")
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


def _check_submission(bundle: ParsedBundle, path: KeyPath, files: DataFiles) -> Iterator[Finding]:
    where = bundle.at(*path)
    names = files.names()
    own = any("ingest/__init__.py" in program.names() for program in opened(bundle, "ingestion_program").values())
    ingests = any(task.ingestion_program is not None or "key" in task.content for task in bundle.keys.tasks)
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


DEFAULT_QUEUE_CAP_S = 600


def check_phases(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the phases."""
    for phase in bundle.keys.phases:
        yield from check_references(bundle, phase)
        yield from _check_limits(bundle, phase)
        yield from _check_many(bundle, phase)
        for key in ("public_data", "starting_kit"):
            yield from check_path(bundle, (*phase.key_path, key), getattr(phase, key))
    yield from _check_order(bundle, bundle.keys.phases)


def _check_limits(bundle: ParsedBundle, phase: PhaseKeys) -> Iterator[Finding]:
    for key in ("max_submissions_per_day", "max_submissions"):
        if key in phase.content and phase.content[key] in (None, 0):
            what = f"{key}: found {shown(phase.content[key])}."
            fix = "Give a number, unless this is intended."
            yield Finding("phase-unlimited", "note", bundle.at(*phase.key_path, key), what, "It means unlimited.", fix)
    limit, where = phase.execution_time_limit, bundle.at(*phase.key_path, "execution_time_limit")
    if limit == 0:
        what, effect = "execution_time_limit: found 0.", "Codabench takes 600."
        yield Finding("phase-limit-zero", "warning", where, what, effect, "Write the limit.")
    elif limit > DEFAULT_QUEUE_CAP_S and bundle.keys.queue is None:
        what = f"execution_time_limit: {limit} s, without a queue of your own."
        effect = f"Codabench's default queue ends a job after {DEFAULT_QUEUE_CAP_S} s."
        yield Finding("phase-limit-cap", "warning", where, what, effect, "Lower it, or name a queue.")


def _check_many(bundle: ParsedBundle, phase: PhaseKeys) -> Iterator[Finding]:
    if len({str(index) for index in phase.tasks}) < 2:
        return
    what = f"The phase has {len(phase.tasks)} tasks."
    effect = "The leaderboard repeats its columns for each task, ranks oddly and migrates nothing to the next phase."
    if any(column.computation for column in bundle.keys.columns):
        effect = f"{effect} Computed columns stay n/a."
    fix = "Use one task, and let its scoring program take the mean."
    yield Finding("phase-tasks", "warning", bundle.at(*phase.key_path, "tasks"), what, effect, fix)


def _check_order(bundle: ParsedBundle, phases: Sequence[PhaseKeys]) -> Iterator[Finding]:
    indexes = [phase.index for phase in phases]
    texts = sum(isinstance(index, str) for index in indexes)
    if texts not in (0, len(indexes)) or not all(isinstance(index, (int, float, str)) for index in indexes):
        what = "Expected integers as indexes of all phases."
        yield Finding("phase-index", "error", bundle.at("phases"), what, CRASHES, "Number them 0, 1, 2.")
        return
    if not all(type(index) is int for index in indexes):
        what = "Expected integers as indexes of all phases."
        effect = (
            'Codabench sorts texts as texts: "10" comes before "2".' if texts else "Codabench sorts by them anyway."
        )
        yield Finding("phase-index", "warning", bundle.at("phases"), what, effect, "Number them 0, 1, 2.")
    if len(set(indexes)) < len(indexes):
        what = "Two phases have the same index."
        effect = "Their order then depends on the file."
        yield Finding("phase-index-twice", "warning", bundle.at("phases"), what, effect, "Number them 0, 1, 2.")
    ordered = sorted(phases, key=lambda phase: phase.index)
    previous: datetime | None = None
    for rank, phase in enumerate(ordered):
        path = phase.key_path
        start, start_findings = moment(bundle, (*path, "start"), phase.start)
        if phase.start == "":
            what = "start: expected a date; found an empty text."
            start_findings = [Finding("date-unreadable", "error", bundle.at(*path, "start"), what, CRASHES, SAFE_FORM)]
        end, end_findings = moment(bundle, (*path, "end"), phase.end)
        yield from start_findings
        yield from end_findings
        last = rank == len(ordered) - 1
        if not last and not phase.end:
            what = "Only the last phase may have no end."
            yield Finding("phase-end-missing", "error", bundle.at(*path), what, REFUSED, "Add end.")
        if start and end and end <= start:
            what = f"The phase ends ({end}) before it starts ({start})."
            effect = "Codabench accepts it; nobody can submit."
            yield Finding("phase-reversed", "error", bundle.at(*path, "end"), what, effect, "Correct the dates.")
        if start and previous and start <= previous:
            what = f"The phase starts ({start}) before the previous one has ended ({previous})."
            yield Finding("phase-overlap", "error", bundle.at(*path, "start"), what, REFUSED, "Start it later.")
        yield from check_time(bundle, path, start, end, first=rank == 0)
        previous = end or previous
        if rank == 0 and phase.auto_migrate_to_this_phase:
            what = "The first phase has nothing to migrate from."
            where = bundle.at(*path, "auto_migrate_to_this_phase")
            yield Finding("phase-migrate", "error", where, what, REFUSED, "Delete the key.")
