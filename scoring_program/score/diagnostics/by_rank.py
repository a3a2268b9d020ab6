"""Effect of hiding by rank of the mark; shown and flagged, never scored.

A place marked higher should change the prediction more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.axes.faithfulness import KINDS, marks
from score.read.output.explanation_record import Explanation

FEWEST = 5
"""Fewest clips that a rank needs for a comparison."""
CERTAIN = 3.0
"""Standard errors by which a lower rank must exceed a higher one to raise the flag: by chance, once in about 700."""


@dataclass(frozen=True)
class Rank:
    """One rank of the marks, over all clips."""

    rank: int
    """1 for the most marked place."""
    clips: int
    """Number of clips with a place of that rank, >= 1."""
    change: float
    """Mean effect of hiding it, on the unit scale, >= 0."""
    error: float
    """Standard error of ``change``; 0 with one clip."""


@dataclass(frozen=True)
class RankCurve:
    """Effects by rank."""

    kind: str
    """``space`` or ``time``."""
    ranks: tuple[Rank, ...]
    """Ascending; empty if nothing was measured."""

    @property
    def rises(self) -> bool | None:
        """The flag: whether a lower rank has a larger effect than a higher one, by more than three standard errors.

        Ranks with fewer than five clips are left out; None if fewer than two are left.
        """
        ranks = [rank for rank in self.ranks if rank.clips >= FEWEST]
        if len(ranks) < 2:
            return None
        return any(
            lower.change - higher.change > CERTAIN * np.hypot(lower.error, higher.error)
            for higher, lower in combinations(ranks, 2)
        )


def rank_curves(explanations: Sequence[Explanation], effects: Effects) -> tuple[RankCurve, ...]:
    """Return the curves in space and in time."""
    return tuple(RankCurve(kind, _ranks(kind, explanations, effects)) for kind in KINDS)


def _ranks(kind: str, explanations: Sequence[Explanation], effects: Effects) -> tuple[Rank, ...]:
    by_rank: dict[int, list[float]] = {}
    for clip, explanation in enumerate(explanations):
        units = effects.of(clip, kind)
        weights = marks(explanation, kind, units)
        if weights is None or effects.failed[clip]:
            continue
        for rank, place in enumerate(np.argsort(-weights, kind="stable"), 1):
            by_rank.setdefault(rank, []).append(units[place].effect)
    return tuple(_rank(number, np.array(changes)) for number, changes in sorted(by_rank.items()))


def _rank(number: int, changes: NDArray[np.float64]) -> Rank:
    error = float(changes.std(ddof=1) / np.sqrt(changes.size)) if changes.size > 1 else 0.0
    return Rank(number, changes.size, float(changes.mean()), error)
