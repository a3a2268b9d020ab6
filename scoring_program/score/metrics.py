"""Metrics of predictions as functions of per-clip sums, and bootstrap intervals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """Base of a table of sums, or of addends: every field is an array (rows, its own width)."""

    def weighted(self, weights: Array) -> Self:
        """Sum the rows with weights, an array of shape (resamples, rows): one row for each resample."""
        return self._summed(lambda rows: weights @ rows)

    def of(self, chosen: NDArray[np.bool_]) -> Self:
        """Keep some of the rows; ``chosen`` is (rows,)."""
        return self._summed(lambda rows: rows[chosen])

    def grouped(self, numbers: NDArray[np.int64], groups: int) -> Self:
        """Sum the rows of each group; ``numbers`` (rows,) says which group, 0 .. groups - 1, a row belongs to."""

        def by_group(rows: Array) -> Array:
            sums = np.zeros((groups, rows.shape[1]))
            np.add.at(sums, numbers, rows)
            return sums

        return self._summed(by_group)

    def _summed(self, combine: Callable[[Array], Array]) -> Self:
        arrays = [getattr(self, field.name) for field in fields(self)]
        edges = np.cumsum([array.shape[1] for array in arrays])[:-1]
        return type(self)(*np.split(combine(np.concatenate(arrays, axis=1)), edges, axis=1))


_CHUNK_BYTES = 16 * 2**20


def resample_weights(sources: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each source was drawn, in chunks of at most 16 MB.

    Row j of all chunks together is ``bincount(rng.integers(0, sources, sources))`` of the j-th draw: exactly the
    resamples that a plain loop would draw, at the cost of one matrix product.

    `sources`: number of sources, >= 1. `resamples`: number of resamples, >= 0. Yields (chunk, sources) weights; every
    row sums to ``sources``.
    """
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_BYTES // (8 * sources))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        weights = np.empty((rows, sources))
        for row in weights:
            row[:] = np.bincount(rng.integers(0, sources, sources), minlength=sources)
        yield weights


def resampled(sums: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Sum over the sources of each resample: (resamples, m), from what each source contributes, (sources, m)."""
    chunks = resample_weights(len(sums), resamples, seed)
    return np.concatenate([np.empty((0, sums.shape[1])), *(weights @ sums for weights in chunks)])


def percentile_interval(draws: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval of resampled statistics.

    `draws`: (resamples, ...) statistics. `level`: nominal coverage, in (0, 1). Returns lower and upper ends, each of
    the shape of one statistic.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high


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


def one_target(truth: list[float], prediction: list[float], constant: float = 0.5) -> Moments:
    """Return the sums of a single target over some clips: the shortest way to compute a metric by hand."""
    terms = moments(np.array(truth)[:, None], np.array(prediction)[:, None], np.array([constant]))
    return terms.weighted(np.ones((1, len(truth))))


def _ratio(above: Array, below: Array, undefined: Array | float) -> Array:
    """Divide; return a given value if the denominator is only rounding error."""
    usable = below > _NO_SPREAD
    return np.where(usable, above / np.where(usable, below, 1.0), undefined)


def accuracy(sums: Moments) -> Array:
    """1 - mean absolute error / range, in [0, 1]; higher is better (ChaLearn's "accuracy").

    >>> accuracy(one_target([0.2, 0.8], [0.3, 0.7])).round(2)
    array([[0.9]])
    """
    return 1 - sums.absolute_error / sums.count


def r2(sums: Moments) -> Array:
    """Coefficient of determination, at most 1; as in scikit-learn, 0 (or 1 if perfect) when the truth has no spread.

    >>> r2(one_target([0.2, 0.8], [0.3, 0.7])).round(2)
    array([[0.89]])
    """
    spread = sums.tt - sums.t**2 / sums.count
    perfect = (sums.squared_error <= _NO_SPREAD).astype(np.float64)
    return _ratio(spread - sums.squared_error, spread, perfect)


def ccc(sums: Moments) -> Array:
    """Lin's concordance correlation coefficient, in [-1, 1]; higher is better.

    Written as ``1 - sum (t-p)^2 / sum [(t-mean t)^2 + (p-mean t)^2]``, which equals Lin's
    ``2 cov / (var t + var p + (mean t - mean p)^2)`` with population moments.

    >>> ccc(one_target([0.2, 0.8], [0.3, 0.7])).round(2)
    array([[0.92]])
    """
    mean_t = sums.t / sums.count
    spread_t = sums.tt - sums.t * mean_t
    spread_p = sums.pp - 2 * mean_t * sums.p + mean_t**2 * sums.ok
    spread = spread_t + spread_p
    # No spread at all: every prediction equals the one truth, or there is an error because clips failed.
    extreme = np.where(sums.squared_error <= _NO_SPREAD, 1.0, -1.0)
    return np.clip(_ratio(spread - sums.squared_error, spread, extreme), -1, 1)


def pearson(sums: Moments) -> Array:
    """Pearson's correlation, in [-1, 1]; 0 when truth or prediction has no spread. A diagnostic, in no score column.

    >>> pearson(one_target([0.2, 0.8], [0.3, 0.7])).round(2)
    array([[1.]])
    """
    spread_t = sums.tt - sums.t**2 / sums.count
    spread_q = sums.qq - sums.q**2 / sums.count
    together = sums.tq - sums.t * sums.q / sums.count
    usable = (spread_t > _NO_SPREAD) & (spread_q > _NO_SPREAD)
    below = np.sqrt(np.where(usable, spread_t * spread_q, 1.0))
    return np.clip(np.where(usable, together / below, 0.0), -1, 1)


def skill(sums: Moments) -> Array:
    """1 - MAE / MAE of the constant baseline, clipped to [-1, 1]; 0 is the baseline, 1 is perfect.

    >>> skill(one_target([0.2, 0.8], [0.3, 0.7])).round(2)
    array([[0.67]])
    """
    # A baseline without error can only be matched (0) or missed (-1).
    flawless = np.where(sums.absolute_error <= _NO_SPREAD, 0.0, -1.0)
    return np.clip(_ratio(sums.baseline_error - sums.absolute_error, sums.baseline_error, flawless), -1, 1)


METRICS = {"accuracy": accuracy, "r2": r2, "ccc": ccc, "pearson": pearson, "skill": skill}
"""Every metric of a single target, in the order of the report's table; all are better when higher."""
