"""The part on groups of people: gaps with their intervals, or one rough line an attribute where labels are closed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from score.evaluation.fairness import ENOUGH_PEOPLE, FEWEST_PEOPLE, AttributeGaps, Fairness, Gap, Summary
from score.evaluation.fairness import GroupGaps as Measured
from score.report.content.predictions import AttributeTable, GapCell, GapLine, GroupGaps, GroupRow
from score.report.numbers import NONE, interval, number, percent, plural, position, signed
from score.report.scored import Scored
from score.settings import Settings
from score.visible import one_line

_PLACES, _RATIO_PLACES = 3, 2


def group_gaps(scored: Scored) -> GroupGaps | None:
    """Build the part; None where the phase has no groups."""
    fairness, settings = scored.evaluation.fairness, scored.settings
    if fairness is None:
        return None
    found: Sequence[AttributeGaps | None] = fairness.attributes or (None,) * len(fairness.summaries)
    main = settings.names.index(settings.main_target)
    return GroupGaps(
        rule=_rule(fairness, settings),
        attributes=tuple(
            _attribute(summary, gaps, main) for summary, gaps in zip(fairness.summaries, found, strict=True)
        ),
        target_titles=tuple(target.title for target in settings.targets),
    )


def _rule(fairness: Fairness, settings: Settings) -> str:
    parts = [number(fairness.threshold, _PLACES)] if math.isfinite(fairness.threshold) else []
    parts += ["the median of the labels"] if fairness.threshold_is_median else []
    return f"A clip counts as selected when the predicted {settings.main.title} is at least {', '.join(parts)}."


def _attribute(summary: Summary, gaps: AttributeGaps | None, main: int) -> AttributeTable:
    if gaps is None:  # only the rough summary is open
        places, ratio_places = 1, 1
    else:
        places, ratio_places = _PLACES, _RATIO_PLACES
    notes = []
    if gaps is not None and gaps.left_out:
        notes.append(f"{plural(gaps.left_out, 'group')} of fewer than {FEWEST_PEOPLE} people left out.")
    if summary.few:
        notes.append(f"Fewer than {ENOUGH_PEOPLE} people in a group: a gap may well be chance.")
    return AttributeTable(
        title=one_line(summary.name.replace("_", " ").capitalize(), 40),
        sentence=_sentence(summary, places, ratio_places),
        note=" ".join(notes),
        rows=() if gaps is None else tuple(_row(group, main, _reach(gaps, main)) for group in gaps.groups),
    )


def _sentence(summary: Summary, places: int, ratio_places: int) -> str:
    if not summary.groups:
        return f"Nothing to compare: it takes two groups of {FEWEST_PEOPLE} people or more."
    if not any(map(math.isfinite, (summary.residual, summary.error_gap, summary.rate_ratio))):
        return (
            f"{summary.groups} groups. Nothing is said here before each has {ENOUGH_PEOPLE} people and nearly all "
            "clips have a prediction: it could tell who is in which group."
        )
    ratio = number(summary.rate_ratio, ratio_places) if math.isfinite(summary.rate_ratio) else NONE
    return (
        f"{summary.groups} groups. Largest mean residual {number(summary.residual, places)}, largest difference of "
        f"mean absolute errors {number(summary.error_gap, places)}, lowest ratio of selection rates {ratio}."
    )


def _reach(gaps: AttributeGaps, main: int) -> float:
    """Return how far the scale of mean residuals reaches to both sides of zero."""
    ends = [end for group in gaps.groups for end in (group.residual[main].interval or (group.residual[main].value,))]
    return max((abs(end) for end in ends if math.isfinite(end)), default=0.0) or 1.0


def _row(group: Measured, main: int, reach: float) -> GroupRow:
    return GroupRow(
        name=one_line(group.name, 60),
        people=group.people,
        few=group.few,
        clips=group.clips,
        residual=_cell(group.residual[main]),
        line=_line(group.residual[main], reach),
        error_gap=_cell(group.error_gap[main]),
        rate=percent(group.rate) if math.isfinite(group.rate) else NONE,
        rate_ratio=_ratio(group.rate_ratio),
        label_ratio=_ratio(group.label_ratio),
        residuals=tuple(map(_cell, group.residual)),
        error_gaps=tuple(map(_cell, group.error_gap)),
    )


def _cell(gap: Gap) -> GapCell:
    if not math.isfinite(gap.value):
        return GapCell(NONE, "")
    ends = gap.interval and f"{signed(gap.interval[0], _PLACES)} to {signed(gap.interval[1], _PLACES)}"
    return GapCell(signed(gap.value, _PLACES), ends or "")


def _ratio(gap: Gap) -> GapCell:
    if not math.isfinite(gap.value):
        return GapCell(NONE, "")
    return GapCell(number(gap.value, _RATIO_PLACES), interval(gap.interval, _RATIO_PLACES))


def _line(gap: Gap, reach: float) -> GapLine | None:
    if not math.isfinite(gap.value):
        return None
    ends = [position(end, -reach, reach) for end in gap.interval] if gap.interval else None
    return GapLine(position(gap.value, -reach, reach), (ends[0], round(ends[1] - ends[0], 2)) if ends else None)
