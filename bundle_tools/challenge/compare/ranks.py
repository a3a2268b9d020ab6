"""Ranks of the same runs under other rules: if the order depends on the rule, the rule should not decide alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def places(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Return each value's place, 1 for the highest; equal values share the better place, and the next place is skipped.

    Examples
    --------
    >>> places([0.2, 0.5, 0.5, 0.1])
    [3, 1, 1, 4]
    """
    found = np.asarray(values, dtype=float)
    return [int((found > value).sum()) + 1 for value in found]


def middle_ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each value's rank, 1 for the highest; equal values share the middle of their ranks.

    Examples
    --------
    >>> middle_ranks([0.2, 0.5, 0.5, 0.1]).tolist()
    [3.0, 1.5, 1.5, 4.0]
    """
    found = np.asarray(values, dtype=float)
    return np.array([(found > value).sum() + ((found == value).sum() + 1) / 2 for value in found])


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each run's mean rank over several criteria of equal weight.

    `values`: (runs, criteria), higher is better; at least one criterion. Returns (runs,) in [1, runs], lower is better.
    """
    return np.asarray(np.mean([middle_ranks(column) for column in np.asarray(values, dtype=float).T], axis=0))
