"""Rank and response: what is marked higher should change more. Shown, never scored."""

from __future__ import annotations

from score.diagnostics.by_rank import RankCurve
from score.report.content.explanations import RankPlot, RankPoint, RankRow
from score.report.numbers import number, percent

_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 290, 12, 126
"""Edges of the plot in a drawing of 320 x 150."""
_TITLES = {"space": "Places", "time": "Seconds"}
_FLAGS = {
    True: "Something marked lower changed clearly more than something marked higher.",
    False: "Nothing marked lower changed clearly more than anything marked higher.",
    None: "Too few clips to compare.",
}
_ROUND_STEPS = (1, 2, 2.5, 5, 10)


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
            RankPoint(x(rank.rank), y(rank.change), y(rank.change - rank.error), y(rank.change + rank.error))
            for rank in curve.ranks
        ),
        y_ticks=tuple((y(highest * part), percent(highest * part, 1)) for part in (0, 0.5, 1)),
        x_ticks=tuple((x(rank.rank), str(rank.rank)) for rank in curve.ranks),
        label=f"{title}: change of the prediction in percent of its range by rank of what was hidden; {told}.",
        flag=_FLAGS[curve.rises],
        rows=tuple(
            RankRow(
                rank=str(rank.rank),
                clips=str(rank.clips),
                change=f"{number(100 * rank.change, 2)} ± {number(100 * rank.error, 2)}",
            )
            for rank in curve.ranks
        ),
    )


def _ceiling(value: float) -> float:
    """Return the next round number above a value; a scale ends there."""
    power = 1e-4
    while value > 10 * power:
        power *= 10
    return next(step * power for step in _ROUND_STEPS if value <= step * power or step == _ROUND_STEPS[-1])
