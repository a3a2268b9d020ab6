"""Plots of predictions against true values; only for phases whose true values are open."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from score.measure.bootstrap import percentile_interval, resample_weights
from score.report.content.predictions import (
    Calibration,
    CalibrationBin,
    Dot,
    ResidualBar,
    Residuals,
    Scatter,
    Shade,
    TargetPlots,
)
from score.report.numbers import NO_BREAK, NONE, interval, number, plural, position, signed
from score.report.scored import Scored
from score.settings import Target

MOST_DOTS = 300
"""Beyond this many clips points would cover each other, and the page would grow: shades take their place."""
CELLS = 25
_SHADES = 5
_MOST_BINS, _CLIPS_IN_BIN = 10, 4
_BARS = 21
_PLACES = 3

Array = NDArray[np.float64]
Ticks = tuple[tuple[float, str], ...]


def plots(scored: Scored) -> tuple[TargetPlots, ...]:
    """Draw every target, the main one first; nothing where true values are closed or no clip has a prediction."""
    settings, outcomes = scored.settings, scored.outcomes
    good = np.array([status == "ok" for status in outcomes.statuses])
    if not settings.report.truth or not good.any():
        return ()
    _, people = np.unique(outcomes.sources[good], return_inverse=True)
    resamples = settings.bootstrap.resamples if people.max() else 0
    draws = list(resample_weights(int(people.max()) + 1, resamples, settings.bootstrap.seed))
    weights = np.concatenate(draws)[:, people] if draws else np.empty((0, len(people)))
    drawn = []
    for at, target in enumerate(settings.targets):
        truth, predicted = outcomes.truth[good, at], outcomes.prediction[good, at]
        drawn.append(
            TargetPlots(
                title=target.title,
                main=target.name == settings.main_target,
                scatter=scatter(truth, predicted, target),
                calibration=calibration(truth, predicted, weights, settings.bootstrap.level, target),
                residuals=residuals(truth, predicted, target),
            )
        )
    return tuple(sorted(drawn, key=lambda one: not one.main))


def scatter(truth: Array, predicted: Array, target: Target) -> Scatter:
    """Set predicted against true values.

    Parameters
    ----------
    truth, predicted
        (n,) values in the target's range.
    target
        Its range is the scale of both axes.
    """
    x, y = _shares(predicted, target), _shares(truth, target)
    thin = len(truth) > MOST_DOTS
    dots = () if thin else tuple(Dot(_percent(a), _percent(b)) for a, b in zip(x, y, strict=True))
    near = float(np.mean(np.abs(x - y) <= 0.1))
    said = f"{plural(len(truth), 'clip')}; {near:.0%} lie within a tenth of the range of their true value"
    caption = said.replace("%", f"{NO_BREAK}%") + (". Darker cells hold more clips." if thin else ".")
    label = f"{target.title}, predicted against true: {said.replace('%', f'{NO_BREAK}%')}"
    return Scatter(dots, _density(x, y) if thin else (), CELLS, _ticks(target), label, caption)


def _density(x: Array, y: Array) -> tuple[Shade, ...]:
    counts, _, _ = np.histogram2d(x, y, bins=CELLS, range=[[0, 1], [0, 1]])
    levels = np.ceil(_SHADES * np.sqrt(counts / counts.max())).astype(int)
    return tuple(
        Shade(f"{level / _SHADES:.1f}", tuple((int(column), int(row)) for column, row in np.argwhere(levels == level)))
        for level in range(1, _SHADES + 1)
        if (levels == level).any()
    )


def calibration(truth: Array, predicted: Array, weights: Array, level: float, target: Target) -> Calibration:
    """Compare mean prediction and mean truth of clips with like predictions.

    Parameters
    ----------
    truth, predicted
        (n,) values in the target's range.
    weights
        (b, n) how often each clip counts in each resample of people; no rows for no intervals.
    level
        Nominal coverage of the intervals.
    target
        Its range is the scale of both axes.
    """
    count = max(1, min(_MOST_BINS, len(truth) // _CLIPS_IN_BIN))
    order = np.argsort(predicted, kind="stable")
    bins = tuple(_bin(part, truth, predicted, weights, level, target) for part in np.array_split(order, count))
    spread = float(np.var(predicted))
    slope = float(np.cov(predicted, truth, ddof=0)[0, 1]) / spread if spread > 1e-12 else math.nan
    said = f"slope {number(slope, 2)}, where 1 is perfect" if math.isfinite(slope) else "all predictions are the same"
    caption = f"Each point is the mean of {_span([one.clips for one in bins])} clips with like predictions; {said}."
    label = f"{target.title}, mean true value by mean prediction: {said}"
    return Calibration(bins, _ticks(target), label, caption)


def _bin(
    part: NDArray[np.intp], truth: Array, predicted: Array, weights: Array, level: float, target: Target
) -> CalibrationBin:
    mean_p, mean_t = float(predicted[part].mean()), float(truth[part].mean())
    own = weights[:, part]
    drawn = own.sum(axis=1)
    ends = None
    if np.count_nonzero(drawn) > level * len(drawn):  # seldom are all people of a bin missing from a resample
        low, high = percentile_interval((own @ truth[part])[drawn > 0] / drawn[drawn > 0], level)
        ends = float(low), float(high)
    scale = target.minimum, target.maximum
    return CalibrationBin(
        clips=len(part),
        at=Dot(position(mean_p, *scale), position(mean_t, *scale)),
        interval=(position(ends[0], *scale), position(ends[1], *scale)) if ends else None,
        predicted=number(mean_p, _PLACES),
        truth=number(mean_t, _PLACES),
        spread=interval(ends, _PLACES),
    )


def residuals(truth: Array, predicted: Array, target: Target) -> Residuals:
    """Count how often predictions are too low and too high, and by how much.

    Parameters
    ----------
    truth, predicted
        (n,) values in the target's range.
    target
        The scale reaches over the largest residual, in steps of a tenth of its range.
    """
    off = predicted - truth
    step = (target.maximum - target.minimum) / 10
    end = step * max(1, math.ceil(float(np.abs(off).max()) / step - 1e-9))
    counts, edges = np.histogram(off, bins=_BARS, range=(-end, end))
    bars = tuple(
        ResidualBar(
            x=position(low, -end, end),
            width=round(100 / _BARS, 2),
            height=round(100 * count / counts.max(), 1),
            over=f"{signed(low, _PLACES)} to {signed(high, _PLACES)}",
            clips=int(count),
        )
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
        if count
    )
    mean, half = float(off.mean()), float(np.median(np.abs(off)))
    said = f"mean {signed(mean, _PLACES)}, half of them within ±{number(half, _PLACES)}"
    ticks = tuple((position(value, -end, end), signed(value, 2)) for value in (-end, 0.0, end))
    return Residuals(bars, ticks, f"{target.title}, predicted minus true: {said}", f"Predicted minus true: {said}.")


def _shares(values: Array, target: Target) -> Array:
    return (values - target.minimum) / (target.maximum - target.minimum)


def _percent(share: float) -> float:
    return round(100 * float(share), 1)


def _ticks(target: Target) -> Ticks:
    middle = (target.minimum + target.maximum) / 2
    return tuple((at, f"{value:g}") for at, value in ((0.0, target.minimum), (50.0, middle), (100.0, target.maximum)))


def _span(counts: Iterable[int]) -> str:
    values = sorted(set(counts))
    return NONE if not values else str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"
