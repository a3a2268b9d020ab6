"""Rules about phases: order, limits and tasks."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.rules.dataset import check_path
from bundle_tools.codabench.rules.document import Draft, Key
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.codabench.rules.settings.dates import SAFE_FORM, check_time, moment
from bundle_tools.codabench.rules.settings.leaderboard import columns_of
from bundle_tools.codabench.rules.settings.tasks import check_references

DEFAULT_QUEUE_CAP_S = 600


def check_phases(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the phases."""
    known = [task.get("index") for _, task in draft.entries("tasks")]
    phases = draft.entries("phases")
    for position, phase in phases:
        path: tuple[Key, ...] = ("phases", position)
        yield from check_references(draft, (*path, "tasks"), phase.get("tasks"), known)
        yield from _check_limits(draft, path, phase)
        yield from _check_many(draft, path, phase.get("tasks"))
        for key in ("public_data", "starting_kit"):
            if key in phase:
                yield from check_path(draft, (*path, key), phase[key])
    yield from _check_order(draft, phases)


def _check_limits(draft: Draft, path: tuple[Key, ...], phase: dict[str, Any]) -> Iterator[Finding]:
    for key in ("max_submissions_per_day", "max_submissions"):
        if key in phase and (phase[key] is None or phase[key] == 0):
            what = f"{key}: found {shown(phase[key])}."
            fix = "Nothing if that is meant; otherwise give a number."
            yield Finding("phase-unlimited", "note", draft.at(*path, key), what, "It means unlimited.", fix)
    limit = phase.get("execution_time_limit")
    where = draft.at(*path, "execution_time_limit")
    if limit == 0:
        effect = "Codabench takes 600."
        yield Finding(
            "phase-limit-zero", "warning", where, "execution_time_limit: found 0.", effect, "Write the limit."
        )
    elif isinstance(limit, int) and limit > DEFAULT_QUEUE_CAP_S and draft.content.get("queue") is None:
        what = f"execution_time_limit: {limit} s, without a queue of your own."
        effect = f"Codabench's default queue ends a job after {DEFAULT_QUEUE_CAP_S} s."
        yield Finding("phase-limit-cap", "warning", where, what, effect, "Lower it, or name a queue.")


def _check_many(draft: Draft, path: tuple[Key, ...], tasks: object) -> Iterator[Finding]:
    if not isinstance(tasks, list) or len({str(index) for index in tasks}) < 2:
        return
    what = f"The phase has {len(tasks)} tasks."
    effect = "The board repeats its columns for each task, ranks oddly and migrates nothing to the next phase."
    if any(column.get("computation") for _, column in columns_of(draft)):
        effect = f"{effect} Computed columns stay n/a."
    fix = "Use one task, and let its scoring program take the mean."
    yield Finding("phase-tasks", "warning", draft.at(*path, "tasks"), what, effect, fix)


def _check_order(draft: Draft, phases: list[tuple[int, dict[str, Any]]]) -> Iterator[Finding]:
    indexes = [phase.get("index", 0) for _, phase in phases]
    texts = sum(isinstance(index, str) for index in indexes)
    if texts not in (0, len(indexes)) or not all(isinstance(index, (int, float, str)) for index in indexes):
        what = "Expected integers as indexes of all phases."
        yield Finding("phase-index", "error", draft.at("phases"), what, CRASHES, "Number them 0, 1, 2.")
        return
    if not all(type(index) is int for index in indexes):
        what = "Expected integers as indexes of all phases."
        effect = (
            'Codabench sorts texts as texts: "10" comes before "2".'
            if texts
            else "Codabench sorts by them all the same."
        )
        yield Finding("phase-index", "warning", draft.at("phases"), what, effect, "Number them 0, 1, 2.")
    if len(set(indexes)) < len(indexes):
        what = "Two phases have the same index."
        effect = "Their order then depends on the file."
        yield Finding("phase-index-twice", "warning", draft.at("phases"), what, effect, "Number them 0, 1, 2.")
    ordered = sorted(phases, key=lambda entry: entry[1].get("index", 0))
    previous: datetime | None = None
    for rank, (position, phase) in enumerate(ordered):
        path: tuple[Key, ...] = ("phases", position)
        start, start_findings = moment(draft, (*path, "start"), phase.get("start"))
        if phase.get("start") == "":
            what = "start: expected a date; found an empty text."
            start_findings = [Finding("date-unreadable", "error", draft.at(*path, "start"), what, CRASHES, SAFE_FORM)]
        end, end_findings = moment(draft, (*path, "end"), phase.get("end"))
        yield from start_findings
        yield from end_findings
        last = rank == len(ordered) - 1
        if not last and not phase.get("end"):
            what = "Only the last phase may have no end."
            yield Finding("phase-end-missing", "error", draft.at(*path), what, REFUSED, "Add end.")
        if start and end and end <= start:
            what = f"The phase ends ({end}) before it starts ({start})."
            effect = "Codabench accepts it; nobody can submit."
            yield Finding("phase-reversed", "error", draft.at(*path, "end"), what, effect, "Correct the dates.")
        if start and previous and start <= previous:
            what = f"The phase starts ({start}) before or when the one before it ends ({previous})."
            yield Finding("phase-overlap", "error", draft.at(*path, "start"), what, REFUSED, "Start it later.")
        yield from check_time(draft, path, start, end, first=rank == 0)
        previous = end or previous
        if rank == 0 and is_on(phase.get("auto_migrate_to_this_phase")):
            what = "The first phase has nothing to migrate from."
            where = draft.at(*path, "auto_migrate_to_this_phase")
            yield Finding("phase-migrate", "error", where, what, REFUSED, "Delete the key.")
