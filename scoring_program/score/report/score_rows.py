"""One score with its interval, its bar, and what to compare it with."""

from __future__ import annotations

from collections.abc import Iterable

from score.columns import Column
from score.evaluation.evaluate import Estimate
from score.report.content.scores import Bar, Mark, ScoreRow
from score.report.numbers import interval, number, position
from score.report.scored import MOST_DECIMALS, Scored

_DRAWN = ("chance", "constant", "solution")
"""Kinds of marks on the bars: a few that matter to everybody."""


def score_row(column: Column, estimate: Estimate, scored: Scored, *, weight: str = "") -> ScoreRow:
    """Prepare one score column."""
    value = number(estimate.value, min(column.decimals, MOST_DECIMALS))
    spread = interval(estimate.interval, scored.spread_places(column))
    marks = tuple(_marks(column, estimate, scored))
    return ScoreRow(
        title=column.title,
        key=column.key,
        meaning=column.meaning,
        value=value,
        interval=spread,
        best="" if column.maximum is None else f"{column.maximum:g}",
        marks=marks,
        bar=_bar(column, estimate, f"{column.title}: {value}", spread, marks),
        weight=weight,
    )


def _marks(column: Column, estimate: Estimate, scored: Scored) -> Iterable[Mark]:
    """Chance, the constant on the same clips where that is open, and the landmarks of the phase."""

    def mark(kind: str, title: str, value: float) -> Mark:
        places = min(column.decimals, scored.spread_places(column))
        low, high = column.minimum, 1.0 if column.maximum is None else column.maximum
        place = position(min(high, max(low, value)), low, high)
        return Mark(kind, title, number(value, places), place, kind in _DRAWN)

    if column.maximum is None:
        return
    if column.chance is not None:
        yield mark("chance", "chance", column.chance)
    constant = estimate.baseline
    if constant is not None:
        yield mark("constant", "constant", constant)
    for landmark in scored.beside.landmarks.items:
        known = landmark.columns.get(column.key)
        if known is not None and not (landmark.kind == "constant" and constant is not None):
            yield mark(landmark.kind, landmark.title, known)


def _bar(column: Column, estimate: Estimate, name: str, spread: str, marks: tuple[Mark, ...]) -> Bar | None:
    if column.maximum is None:
        return None
    low, high = column.minimum, column.maximum
    zero, value = position(max(0.0, low), low, high), position(estimate.value, low, high)
    ends = [position(end, low, high) for end in estimate.interval] if estimate.interval else None
    said = [name, *([f"interval {spread}"] if spread else []), *(f"{mark.title} {mark.value}" for mark in marks)]
    return Bar(
        start=min(zero, value),
        length=round(abs(value - zero), 2),
        interval=(ends[0], round(ends[1] - ends[0], 2)) if ends else None,
        label=", ".join([*said, f"perfect {high:g}"]),
    )
