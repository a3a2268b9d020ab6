"""Plots of predictions against true values; only for phases whose true values are open."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.measure.bootstrap import percentile_interval
from score.report.numbers import NO_BREAK, number, plural, signed
from score.settings import Target

MOST_DOTS = 300
"""Above this many clips, a density plot replaces points, which would overlap and enlarge the page."""
CELLS = 25
"""Along each side of a density plot."""
_SHADES = 5
_MOST_BINS, _CLIPS_IN_BIN = 10, 4
_BARS = 21
_PLACES = 3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scatter:
    """Predicted against true values, as points, or as shades if there are too many."""

    dots: tuple[tuple[float, float], ...]
    """(predicted, true) of each clip, percentages of the scale."""
    shades: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
    """(opacity, cells as column and row from below), lightest first."""
    said: str
    cells: int = CELLS
    """Along each side of the density plot."""


@dataclass(frozen=True)
class CalibrationBin:
    """Clips with similar predictions."""

    clips: int
    predicted: float
    truth: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Calibration:
    """Mean truth against mean prediction, in bins."""

    bins: tuple[CalibrationBin, ...]
    """From low to high predictions."""
    span: str
    """Number of clips in a bin, in words."""
    said: str


@dataclass(frozen=True)
class Residuals:
    """How far predictions are off: predicted minus true."""

    bars: tuple[tuple[float, float, int, float], ...]
    """(from, to, clips, percentage of the highest bar), from too low to too high; empty without clips."""
    end: float
    """The scale reaches from minus this value to this value."""
    said: str

    @property
    def width(self) -> float:
        """Width of a bar, percentage of the scale."""
        return round(100 / _BARS, 2)


def scatter(truth: Array, predicted: Array, target: Target) -> Scatter:
    """Plot predicted against true values.

    `truth` and `predicted`: (n,) values in the target's range. `target`: its range is the scale of both axes.
    """
    x, y = ((values - target.minimum) / (target.maximum - target.minimum) for values in (predicted, truth))
    thin = len(truth) > MOST_DOTS
    dots = ((round(100 * a, 1), round(100 * b, 1)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    near = f"{float(np.mean(np.abs(x - y) <= 0.1)):.0%}".replace("%", f"{NO_BREAK}%")
    said = f"{plural(len(truth), 'clip')}; {near} lie within a tenth of the range of their true value"
    return Scatter(() if thin else tuple(dots), _density(x, y) if thin else (), said)


def _density(x: Array, y: Array) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    counts, _, _ = np.histogram2d(x, y, bins=CELLS, range=[[0, 1], [0, 1]])
    levels = np.ceil(_SHADES * np.sqrt(counts / counts.max())).astype(int)
    return tuple(
        (f"{level / _SHADES:.1f}", tuple((int(column), int(row)) for column, row in np.argwhere(levels == level)))
        for level in range(1, _SHADES + 1)
        if (levels == level).any()
    )


def calibration(truth: Array, predicted: Array, weights: Array, level: float) -> Calibration:
    """Compare the mean prediction and mean truth of clips with similar predictions.

    `truth` and `predicted`: (n,) values in the target's range. `weights`: (b, n) how often each clip counts in each
    resample of people; without rows, there are no intervals.
    """
    count = max(1, min(_MOST_BINS, len(truth) // _CLIPS_IN_BIN))
    order = np.argsort(predicted, kind="stable")
    bins = tuple(_bin(part, truth, predicted, weights, level) for part in np.array_split(order, count))
    spread = float(np.var(predicted))
    slope = float(np.cov(predicted, truth, ddof=0)[0, 1]) / spread if spread > 1e-12 else math.nan
    said = f"slope {number(slope, 2)}, where 1 is perfect" if math.isfinite(slope) else "all predictions are the same"
    clips = {one.clips for one in bins}
    return Calibration(bins, " to ".join(map(str, sorted({min(clips), max(clips)}))), said)


def _bin(part: NDArray[np.intp], truth: Array, predicted: Array, weights: Array, level: float) -> CalibrationBin:
    own = weights[:, part]
    drawn = own.sum(axis=1)
    ends = None
    if np.count_nonzero(drawn) > level * len(drawn):  # a resample seldom misses all people of a bin
        low, high = percentile_interval((own @ truth[part])[drawn > 0] / drawn[drawn > 0], level)
        ends = float(low), float(high)
    return CalibrationBin(len(part), float(predicted[part].mean()), float(truth[part].mean()), ends)


def residuals(truth: Array, predicted: Array, target: Target) -> Residuals:
    """Count how often predictions are too low and too high, and by how much.

    `truth` and `predicted`: (n,) values in the target's range. `target`: the scale covers the largest residual, in
    steps of a tenth of the target's range.
    """
    off = predicted - truth
    step = (target.maximum - target.minimum) / 10
    end = step * max(1, math.ceil(float(np.abs(off).max()) / step - 1e-9))
    counts, edges = np.histogram(off, bins=_BARS, range=(-end, end))
    bars = tuple(
        (float(low), float(high), int(count), round(100 * count / counts.max(), 1))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    )
    mean, half = float(off.mean()), float(np.median(np.abs(off)))
    return Residuals(bars, end, f"mean {signed(mean, _PLACES)}, half within ±{number(half, _PLACES)}")
