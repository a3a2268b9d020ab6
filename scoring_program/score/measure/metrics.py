"""Accuracy, R2, concordance, correlation and skill, all as functions of sums over clips.

Every metric here needs nothing but sums, so one formula serves the point estimate, the constant baseline and every
bootstrap resample: a resample is only another weighting of the same rows. docs/metrics.md holds formulas and sources.

Values are on the unit scale ``(value - minimum) / (maximum - minimum)``. A clip without a prediction adds the worst
possible value to each sum: an absolute and a squared error of the full range, and no spread of predictions in the
denominator of the concordance. So, by construction, failing one more clip never pays.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.measure.sums import Sums

Array = NDArray[np.float64]

# Spread below this share of the range is rounding error of sums, not spread.
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Moments(Sums):
    """Sums, or the addends of sums: (rows, k) arrays, where rows are clips, sources or resamples, and k targets."""

    count: Array
    """Clips."""
    absolute_error: Array
    """|t - p|; 1 for a failed clip."""
    squared_error: Array
    """(t - p)^2; 1 for a failed clip."""
    baseline_error: Array
    """|t - constant|."""
    t: Array
    """Truth, minus the mean truth of all clips."""
    tt: Array
    """Its square."""
    ok: Array
    """Clips with a prediction."""
    p: Array
    """Prediction, shifted like the truth; 0 for a failed clip."""
    pp: Array
    """Its square; 0 for a failed clip."""
    q: Array
    """Prediction, shifted; for a failed clip, the end of the range that is farther from its truth."""
    qq: Array
    """Its square."""
    tq: Array
    """Truth times q."""


def moments(truth: Array, prediction: Array, constant: Array) -> Moments:
    """Prepare the addends of all sums.

    `truth`: (n, k) labels on the unit scale.
    `prediction`: (n, k) predictions on the unit scale; NaN for a failed clip.
    `constant`: (k,) the constant baseline's predictions on the unit scale.
    """
    failed = np.isnan(prediction)
    centre = truth.mean(axis=0)  # with centred values, sums of squares lose no digits
    t = truth - centre
    p = np.where(failed, 0.0, prediction - centre)
    far = np.where(truth >= 0.5, 0.0, 1.0)
    q = np.where(failed, far, prediction) - centre
    error = np.where(failed, 1.0, np.abs(truth - prediction))
    return Moments(
        count=np.ones_like(t),
        absolute_error=error,
        squared_error=error**2,
        baseline_error=np.abs(truth - constant),
        t=t,
        tt=t**2,
        ok=(~failed).astype(np.float64),
        p=p,
        pp=p**2,
        q=q,
        qq=q**2,
        tq=t * q,
    )


def _ratio(above: Array, below: Array, undefined: Array | float) -> Array:
    """Divide; return a given value if the denominator is only rounding error."""
    usable = below > _NO_SPREAD
    return np.where(usable, above / np.where(usable, below, 1.0), undefined)


def accuracy(sums: Moments) -> Array:
    """1 - mean absolute error / range, in [0, 1]; higher is better (ChaLearn's "accuracy")."""
    return 1 - sums.absolute_error / sums.count


def r2(sums: Moments) -> Array:
    """Coefficient of determination, at most 1; as in scikit-learn, 0 (or 1 if perfect) when the truth has no spread."""
    spread = sums.tt - sums.t**2 / sums.count
    perfect = (sums.squared_error <= _NO_SPREAD).astype(np.float64)
    return _ratio(spread - sums.squared_error, spread, perfect)


def ccc(sums: Moments) -> Array:
    """Lin's concordance correlation coefficient, in [-1, 1]; higher is better.

    Written as ``1 - sum (t-p)^2 / sum [(t-mean t)^2 + (p-mean t)^2]``, which equals Lin's
    ``2 cov / (var t + var p + (mean t - mean p)^2)`` with population moments.
    """
    mean_t = sums.t / sums.count
    spread_t = sums.tt - sums.t * mean_t
    spread_p = sums.pp - 2 * mean_t * sums.p + mean_t**2 * sums.ok
    spread = spread_t + spread_p
    # No spread at all: every prediction equals the one truth, or there is an error because clips failed.
    extreme = np.where(sums.squared_error <= _NO_SPREAD, 1.0, -1.0)
    return np.clip(_ratio(spread - sums.squared_error, spread, extreme), -1, 1)


def pearson(sums: Moments) -> Array:
    """Pearson's correlation, in [-1, 1]; 0 when truth or prediction has no spread. A diagnostic, in no score column."""
    spread_t = sums.tt - sums.t**2 / sums.count
    spread_q = sums.qq - sums.q**2 / sums.count
    together = sums.tq - sums.t * sums.q / sums.count
    usable = (spread_t > _NO_SPREAD) & (spread_q > _NO_SPREAD)
    below = np.sqrt(np.where(usable, spread_t * spread_q, 1.0))
    return np.clip(np.where(usable, together / below, 0.0), -1, 1)


def skill(sums: Moments) -> Array:
    """1 - MAE / MAE of the constant baseline, clipped to [-1, 1]; 0 is the baseline, 1 is perfect."""
    # A baseline without error can only be matched (0) or missed (-1).
    flawless = np.where(sums.absolute_error <= _NO_SPREAD, 0.0, -1.0)
    return np.clip(_ratio(sums.baseline_error - sums.absolute_error, sums.baseline_error, flawless), -1, 1)


METRICS = {"accuracy": accuracy, "r2": r2, "ccc": ccc, "pearson": pearson, "skill": skill}
"""Every metric of a single target, in the order of the report's table; all are better when higher."""
