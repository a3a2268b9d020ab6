"""Rank measures that treat ties fairly: area under the curve, average precision, Spearman, and their chance levels."""

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


def average_precision(scores: Array, positive: Mask) -> float:
    """Average precision; places with equal scores form one step, as in scikit-learn."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(positive[order])
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    precision = hits[last] / (last + 1)
    recall = hits[last] / hits[-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def chance_precision(count: int, hits: int) -> float:
    """Mean average precision of a random order of ``count`` places with ``hits`` positive ones.

    The place at rank i is positive with probability h/n; then (i - 1)(h - 1)/(n - 1) positive ones are expected above.
    """
    if count == 1:
        return 1.0
    density = (hits - 1) / (count - 1)
    ranks = np.arange(1, count + 1)
    return float(np.mean((1 + (ranks - 1) * density) / ranks))


def above_chance_precision(scores: Array, positive: Mask) -> float:
    """Average precision rescaled to 0 for a random order and 1 for a perfect one; 0 if every place is positive."""
    chance = chance_precision(len(positive), int(positive.sum()))
    if chance >= 1:
        return 0.0
    return (average_precision(scores, positive) - chance) / (1 - chance)


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


def spearman(first: Array, second: Array) -> float:
    """Spearman's rank correlation; 0 when one side has no spread."""
    return correlation(average_ranks(first), average_ranks(second))
