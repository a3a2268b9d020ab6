"""Bands of runs whose totals cannot be told apart, from totals on common bootstrap resamples.

A run is *above* another if its total is higher in at least 95 % of the resamples. That relation alone makes no ranking:
A may be above C while B, between them, is neither below A nor above C. So bands are drawn from the top down. The best
run that has no band yet opens one; the next runs, in the order of their totals, join it until one comes that some
member is above (or that is above some member): that one opens the next band. Hence no member of a band is above
another, bands follow each other as the totals do, and the band of a run says more than its rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ABOVE = 0.95


@dataclass(frozen=True)
class Contender:
    """One run with its total, on all clips and on each resample."""

    name: str
    """How the table calls it; no two are called alike."""
    total: float
    """The explanation score, 0 to 100."""
    draws: NDArray[np.float64]
    """(resamples,) the same score on each resample; row j is the same resample for every run."""


def shares_above(contenders: Sequence[Contender]) -> NDArray[np.float64]:
    """Return how often each run's total is strictly higher than each other's.

    Returns
    -------
    NDArray
        (runs, runs) shares of the resamples, in [0, 1]; the diagonal is 0.
    """
    draws = np.stack([contender.draws for contender in contenders])
    # One row at a time: all pairs of a hundred runs at once would fill memory.
    return np.stack([(row > draws).mean(axis=1) for row in draws])


def bands(contenders: Sequence[Contender], share: float = ABOVE) -> dict[str, int]:
    """Return each run its band, 1 for the best.

    Parameters
    ----------
    contenders
        In any order, at least one.
    share
        Share of the resamples from which on a run is above another, in (0.5, 1].

    Returns
    -------
    dict of str to int
        Name -> band, best total first; equal totals in the order of their names.
    """
    ordered = sorted(contenders, key=lambda one: (-one.total, one.name))
    above = shares_above(ordered) >= share
    parted = above | above.T
    found: dict[str, int] = {}
    band, first = 1, 0
    for place, contender in enumerate(ordered):
        if parted[place, first:place].any():
            band, first = band + 1, place
        found[contender.name] = band
    return found
