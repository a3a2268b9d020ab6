"""Rank and response: what is marked higher should change more. Shown, never scored."""

from __future__ import annotations

from dataclasses import dataclass

from score.diagnostics.by_rank import Rank, RankCurve
from score.report.numbers import percent

_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 290, 12, 126
"""Edges of the plot in a drawing of 320 x 150."""
_TITLES = {"space": "Places", "time": "Seconds"}
_FLAGS = {
    True: "Something marked lower changed clearly more than something marked higher.",
    False: "Nothing marked lower changed clearly more than anything marked higher.",
    None: "Too few clips to compare.",
}
_ROUND_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class RankPoint:
    """One rank in a drawing of 320 x 150."""

    rank: Rank
    """What was measured."""
    x: float
    """The rank."""
    y: float
    """What hiding it changed, the mean over the clips."""
    low: float
    """One standard error less."""
    high: float
    """One standard error more."""


@dataclass(frozen=True)
class RankPlot:
    """What hiding changed by how high it is marked, over all clips."""

    title: str
    """What was hidden."""
    points: tuple[RankPoint, ...]
    """From what is marked most to what is marked least."""
    ticks: tuple[tuple[float, str], ...]
    """(height, change as written)."""
    label: str
    """What a reader who cannot see it needs to know."""
    flag: str
    """Whether the order is clearly wrong somewhere, in a sentence."""


def rank_plot(curve: RankCurve) -> RankPlot | None:
    """Draw one curve; None where nothing was measured."""
    if not curve.ranks:
        return None
    highest = _ceiling(max(rank.change + rank.error for rank in curve.ranks))
    last = curve.ranks[-1].rank

    def x(rank: int) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (rank - 1) / max(1, last - 1), 1)

    def y(change: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * max(0.0, change) / highest, 1)

    title = _TITLES[curve.kind]
    told = ", ".join(f"{rank.rank}: {percent(rank.change, 1)}" for rank in curve.ranks)
    return RankPlot(
        title=title,
        points=tuple(
            RankPoint(rank, x(rank.rank), y(rank.change), y(rank.change - rank.error), y(rank.change + rank.error))
            for rank in curve.ranks
        ),
        ticks=tuple((y(highest * part), percent(highest * part, 1)) for part in (0, 0.5, 1)),
        label=f"{title}: change of the prediction in percent of its range by rank of what was hidden; {told}.",
        flag=_FLAGS[curve.rises],
    )


def _ceiling(value: float) -> float:
    """Return the next round number above a value; a scale ends there."""
    power = 1e-4
    while value > 10 * power:
        power *= 10
    return next(step * power for step in _ROUND_STEPS if value <= step * power or step == _ROUND_STEPS[-1])
