"""Area under the curve, fair to ties, and Pearson's correlation."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_NO_SPREAD = 1e-12
"""Share of the largest value below which differences are rounding errors."""


def average_ranks(values: Array) -> Array:
    """Ranks 1 .. n; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse])


def auc(scores: Array, positive: Mask) -> float:
    """Area under the ROC curve of scores for a mask with both kinds of places; 0.5 for equal scores."""
    hits = int(positive.sum())
    misses = len(positive) - hits
    above = average_ranks(scores)[positive].sum() - hits * (hits + 1) / 2
    return float(above / (hits * misses))


def above_chance_auc(scores: Array, positive: Mask) -> float:
    """AUC rescaled so that chance is 0: ``2 AUC - 1``, in [-1, 1]."""
    return 2 * auc(scores, positive) - 1


def correlation(first: Array, second: Array) -> float:
    """Pearson's correlation; 0 if one side has no spread, whatever the scale of the other."""
    a, b = _centred(first), _centred(second)
    below = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / below if below > 0 else 0.0


def _centred(values: Array) -> Array:
    """Subtract the mean and rescale, so that no square overflows or underflows; all 0 without spread."""
    scaled = values / (np.abs(values).max() or 1.0)
    rest = scaled - scaled.mean()
    return np.asarray(np.where(np.abs(rest).max() > _NO_SPREAD, rest, 0.0))
