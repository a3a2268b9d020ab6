"""Sums over clips, from which every number with an interval is computed.

With sums, a resample costs one row of a matrix product, and point estimates, intervals and the comparison of two runs
share one formula.
"""

from collections.abc import Callable
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
