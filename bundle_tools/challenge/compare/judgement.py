"""Where runs differ: on columns over common resamples, so that easy and hard people cancel out, and on clips."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.bands import ABOVE, Contender, bands, mean_ranks, places, shares_above
from bundle_tools.challenge.compare.field import TOTAL, Entry, Field
from bundle_tools.challenge.compare.table import Row
from score.evaluate import held_up as of_clips
from score.metrics import percentile_interval

Array = NDArray[np.float64]
LEVEL = 2 * ABOVE - 1
"""Level of the interval of a difference: each tail is the share of resamples that a run may lose and still be above."""


@dataclass(frozen=True)
class Difference:
    """One column of one run minus the same column of another."""

    value: float
    interval: tuple[float, float] | None
    """On common resamples, at `LEVEL`; None without resamples."""
    higher: float
    """Share of the resamples in which the first run is strictly higher, in [0, 1]."""
    lower: float
    """Share in which it is strictly lower."""

    @property
    def direction(self) -> int:
        """Return 1 if the first run is above the other, -1 if it is below, 0 if the difference may be chance."""
        return int(self.higher >= ABOVE) - int(self.lower >= ABOVE)


def difference(one: Entry, other: Entry, column: str, *, drawn: bool = True) -> Difference:
    """Subtract a column of one run from that of another.

    `drawn`: whether the draws are resamples; if they are not, there is no interval.
    """
    gap = one.draws[column] - other.draws[column]
    tail = (1 - LEVEL) / 2
    ends = np.quantile(gap, [tail, 1 - tail]) if drawn else None
    return Difference(
        value=one.points[column] - other.points[column],
        interval=None if ends is None else (float(ends[0]), float(ends[1])),
        higher=float((gap > 0).mean()),
        lower=float((gap < 0).mean()),
    )


def widest(values: Array, most: int) -> list[int]:
    """Choose the clips with the largest range of values over the runs.

    `values`: (runs, clips); NaN where a run has none; NaN is ignored. `most`: most clips to return, >= 0. Returns
    indices of clips, largest range first, ties in clip order; clips on which all runs agree are left out.
    """
    spread = np.fmax.reduce(values) - np.fmin.reduce(values)
    order = np.argsort(-np.nan_to_num(spread), kind="stable")[:most]
    return [int(clip) for clip in order if spread[clip] > 0]


def errors(field: Field, target: int) -> Array:
    """Return (runs, clips) absolute errors of a target on the unit scale; 1 for a failed clip."""
    return np.stack([entry.scores.moments.absolute_error[:, target] for entry in field.entries])


def held_up(field: Field) -> Array:
    """Return (runs, clips) how well each clip's explanation holds up, by which reports sort clips."""
    weights = field.settings.explanation_score.weights
    return np.stack([of_clips(entry.scores.axes, weights) for entry in field.entries])


DIAGNOSTIC = "Totals are diagnostic here: the leaderboard ranks by predictions."
"""Added if the phase does not rank by totals."""


def judge(field: Field) -> list[Row]:
    """Sort runs, best total first."""
    weights = field.weights
    arithmetic = [
        100 * one.points["coverage"] * one.skill * sum(weight * one.points[axis] for axis, weight in weights.items())
        for one in field.entries
    ]
    # Skill and coverage count too: a model that predicts nothing may explain it well.
    judged = [[*(one.points[axis] for axis in weights), one.points["coverage"], one.skill] for one in field.entries]
    ranks = mean_ranks(np.array(judged))
    contenders = [Contender(one.name, one.points[TOTAL], one.draws[TOTAL]) for one in field.entries]
    above = shares_above(contenders)
    total_places = places([contender.total for contender in contenders])
    arithmetic_places, rank_places = places(arithmetic), places(-ranks)
    found = bands(contenders)
    result = {}
    for at, (one, contender) in enumerate(zip(field.entries, contenders, strict=True)):
        ends = percentile_interval(contender.draws, field.settings.bootstrap.level) if field.drawn else None
        result[one.name] = Row(
            name=one.name,
            band=found[one.name],
            place=total_places[at],
            total=contender.total,
            interval=(float(ends[0]), float(ends[1])) if ends else None,
            arithmetic=arithmetic[at],
            arithmetic_place=arithmetic_places[at],
            mean_rank=float(ranks[at]),
            mean_rank_place=rank_places[at],
            coverage=one.points["coverage"],
            skill=one.skill,
            axes={axis: one.points[axis] for axis in weights},
            reasons=asdict(one.scores.reasons) if one.scores.reasons else None,
            reaction_size=one.scores.reaction.value,
            large_reaction=one.scores.reaction.large,
            above={other.name: float(above[at, k]) for k, other in enumerate(contenders) if k != at},
        )
    return [result[name] for name in found]
