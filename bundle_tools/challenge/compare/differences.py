"""Where runs differ: on columns over common resamples, so that easy and hard people cancel out, and on clips."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.field import Entry, Field
from score.evaluate import held_up as of_clips

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
