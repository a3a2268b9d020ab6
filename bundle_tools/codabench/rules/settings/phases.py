"""Rules about phases: order, limits and tasks."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from bundle_tools.codabench.keys import PhaseKeys
from bundle_tools.codabench.rules.dataset import check_path
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.codabench.rules.settings.dates import SAFE_FORM, check_time, moment
from bundle_tools.codabench.rules.settings.tasks import check_references

DEFAULT_QUEUE_CAP_S = 600


def check_phases(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the phases."""
    for phase in draft.keys.phases:
        yield from check_references(draft, phase)
        yield from _check_limits(draft, phase)
        yield from _check_many(draft, phase)
        for key in ("public_data", "starting_kit"):
            yield from check_path(draft, (*phase.place, key), getattr(phase, key))
    yield from _check_order(draft, draft.keys.phases)


def _check_limits(draft: Draft, phase: PhaseKeys) -> Iterator[Finding]:
    for key in ("max_submissions_per_day", "max_submissions"):
        if key in phase.given and phase.given[key] in (None, 0):
            what = f"{key}: found {shown(phase.given[key])}."
            fix = "Give a number, unless this is intended."
            yield Finding("phase-unlimited", "note", draft.at(*phase.place, key), what, "It means unlimited.", fix)
    limit, where = phase.execution_time_limit, draft.at(*phase.place, "execution_time_limit")
    if limit == 0:
        what, effect = "execution_time_limit: found 0.", "Codabench takes 600."
        yield Finding("phase-limit-zero", "warning", where, what, effect, "Write the limit.")
    elif limit > DEFAULT_QUEUE_CAP_S and draft.keys.queue is None:
        what = f"execution_time_limit: {limit} s, without a queue of your own."
        effect = f"Codabench's default queue ends a job after {DEFAULT_QUEUE_CAP_S} s."
        yield Finding("phase-limit-cap", "warning", where, what, effect, "Lower it, or name a queue.")


def _check_many(draft: Draft, phase: PhaseKeys) -> Iterator[Finding]:
    if len({str(index) for index in phase.tasks}) < 2:
        return
    what = f"The phase has {len(phase.tasks)} tasks."
    effect = "The leaderboard repeats its columns for each task, ranks oddly and migrates nothing to the next phase."
    if any(column.computation for column in draft.keys.columns):
        effect = f"{effect} Computed columns stay n/a."
    fix = "Use one task, and let its scoring program take the mean."
    yield Finding("phase-tasks", "warning", draft.at(*phase.place, "tasks"), what, effect, fix)


def _check_order(draft: Draft, phases: Sequence[PhaseKeys]) -> Iterator[Finding]:
    indexes = [phase.index for phase in phases]
    texts = sum(isinstance(index, str) for index in indexes)
    if texts not in (0, len(indexes)) or not all(isinstance(index, (int, float, str)) for index in indexes):
        what = "Expected integers as indexes of all phases."
        yield Finding("phase-index", "error", draft.at("phases"), what, CRASHES, "Number them 0, 1, 2.")
        return
    if not all(type(index) is int for index in indexes):
        what = "Expected integers as indexes of all phases."
        effect = (
            'Codabench sorts texts as texts: "10" comes before "2".' if texts else "Codabench sorts by them anyway."
        )
        yield Finding("phase-index", "warning", draft.at("phases"), what, effect, "Number them 0, 1, 2.")
    if len(set(indexes)) < len(indexes):
        what = "Two phases have the same index."
        effect = "Their order then depends on the file."
        yield Finding("phase-index-twice", "warning", draft.at("phases"), what, effect, "Number them 0, 1, 2.")
    ordered = sorted(phases, key=lambda phase: phase.index)
    previous: datetime | None = None
    for rank, phase in enumerate(ordered):
        path = phase.place
        start, start_findings = moment(draft, (*path, "start"), phase.start)
        if phase.start == "":
            what = "start: expected a date; found an empty text."
            start_findings = [Finding("date-unreadable", "error", draft.at(*path, "start"), what, CRASHES, SAFE_FORM)]
        end, end_findings = moment(draft, (*path, "end"), phase.end)
        yield from start_findings
        yield from end_findings
        last = rank == len(ordered) - 1
        if not last and not phase.end:
            what = "Only the last phase may have no end."
            yield Finding("phase-end-missing", "error", draft.at(*path), what, REFUSED, "Add end.")
        if start and end and end <= start:
            what = f"The phase ends ({end}) before it starts ({start})."
            effect = "Codabench accepts it; nobody can submit."
            yield Finding("phase-reversed", "error", draft.at(*path, "end"), what, effect, "Correct the dates.")
        if start and previous and start <= previous:
            what = f"The phase starts ({start}) before the previous one has ended ({previous})."
            yield Finding("phase-overlap", "error", draft.at(*path, "start"), what, REFUSED, "Start it later.")
        yield from check_time(draft, path, start, end, first=rank == 0)
        previous = end or previous
        if rank == 0 and phase.auto_migrate_to_this_phase:
            what = "The first phase has nothing to migrate from."
            where = draft.at(*path, "auto_migrate_to_this_phase")
            yield Finding("phase-migrate", "error", where, what, REFUSED, "Delete the key.")
