"""Ranks, and bands of runs whose totals cannot be told apart, from totals on common bootstrap resamples.

A run is *above* another if its total is higher in at least 95 % of the resamples. That relation alone is not a ranking:
A may be above C while B, between them, is neither below A nor above C. So bands are formed from the top. The best run
without a band opens one. The next runs, in the order of totals, join it until a run is below (or above) one of its
members; that run opens the next band. Hence no member of a band is above another, and bands are in the order of totals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ABOVE = 0.95


@dataclass(frozen=True)
class Contender:
    """One run with its total, on all clips and on each resample."""

    name: str
    total: float
    """The explanation score, 0 to 100."""
    draws: NDArray[np.float64]
    """(resamples,) the score on each resample; entry j is the same resample for every run."""


def shares_above(contenders: Sequence[Contender]) -> NDArray[np.float64]:
    """Return how often each run's total is strictly higher than each other's.

    Returns (runs, runs) shares of the resamples, in [0, 1]; the diagonal is 0.
    """
    draws = np.stack([contender.draws for contender in contenders])
    # One row at a time, because all pairs of a hundred runs would fill the memory.
    return np.stack([(row > draws).mean(axis=1) for row in draws])


def bands(contenders: Sequence[Contender], share: float = ABOVE) -> dict[str, int]:
    """Return each run's band, 1 for the best.

    `contenders`: in any order, at least one. `share`: share of the resamples from which a run is above another, in
    (0.5, 1]. Returns name -> band, best total first; equal totals are sorted by name.
    """
    ordered = sorted(contenders, key=lambda contender: (-contender.total, contender.name))
    above = shares_above(ordered) >= share
    parted = above | above.T
    band_of: dict[str, int] = {}
    band, first = 1, 0
    for rank, contender in enumerate(ordered):
        if parted[rank, first:rank].any():
            band, first = band + 1, rank
        band_of[contender.name] = band
    return band_of


def places(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Return each value's place, 1 for the highest; equal values share the better one, and the next is skipped."""
    return [int(rank) for rank in _ranks(values, "min")]


def middle_ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each value's rank, 1 for the highest; equal values share the middle of their ranks."""
    return _ranks(values, "average")


def _ranks(values: Sequence[float] | NDArray[np.float64], method: str) -> NDArray[np.float64]:
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    return np.asarray(rankdata(-np.asarray(values, dtype=float), method=method), dtype=float)


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each run's mean rank over several criteria of equal weight.

    `values`: (runs, criteria), higher is better; at least one criterion. Returns (runs,) in [1, runs], lower is better.
    """
    return np.asarray(np.mean([middle_ranks(column) for column in np.asarray(values, dtype=float).T], axis=0))
