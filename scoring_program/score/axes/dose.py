"""Dose and response: what hiding ever more of the named places changes. Shown and flagged, never scored.

Every clip has one share of hidden places, drawn by ingestion, so a curve runs over the clips: each dose has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.explanation_record import Explanation
from score.probe_record import MASKED

Array = NDArray[np.float64]
FEWEST = 5
"""Clips that a dose needs to be compared."""
CERTAIN = 3.0
"""Standard errors by which a larger dose must do less to raise the flag: by chance about once in 700 comparisons."""


@dataclass(frozen=True)
class Dose:
    """The clips in which about the same share of places was hidden: they agree to the nearest tenth."""

    share: float
    """Hidden places, as a share of all, the mean over the clips, in (0, 1)."""
    clips: int
    """How many of them have both effects, >= 1."""
    top: float
    """Mean effect of hiding the highest places, on the unit scale, >= 0."""
    bottom: float
    """Mean effect of hiding the lowest ones."""
    top_error: float
    """Standard error of ``top``; 0 with one clip."""


@dataclass(frozen=True)
class DeletionCurve:
    """Raw effects of hiding the highest and the lowest places, by dose."""

    kind: str
    """``space`` or ``time``."""
    doses: tuple[Dose, ...]
    """Ascending shares; none where nothing was measured."""

    @property
    def falls(self) -> bool | None:
        """The flag: whether some larger dose does less than a smaller one, by more than three standard errors.

        Doses with fewer than five clips are left out; None where no two are left.
        """
        doses = [dose for dose in self.doses if dose.clips >= FEWEST]
        if len(doses) < 2:
            return None
        return any(
            less.top - more.top > CERTAIN * np.hypot(less.top_error, more.top_error)
            for less, more in combinations(doses, 2)
        )


def deletion_curves(explanations: Sequence[Explanation], effects: Effects) -> tuple[DeletionCurve, ...]:
    """Return the curve in space and that in time.

    Parameters
    ----------
    explanations
        n explanations; their maps tell how many places there are.
    effects
        Measured effects of the same clips.
    """
    return tuple(DeletionCurve(kind, _doses(kind, explanations, effects)) for kind in MASKED)


def _doses(kind: str, explanations: Sequence[Explanation], effects: Effects) -> tuple[Dose, ...]:
    maps = (explanation.space if kind == "space" else explanation.time for explanation in explanations)
    places = np.array([np.nan if weights is None else weights.size for weights in maps])
    shares, top, bottom = effects.shares[kind] / places, effects.masked[kind, "top"], effects.masked[kind, "bottom"]
    # Clips of other lengths have other shares of seconds: 2 of 14 and 2 of 15 are one dose.
    tenths = np.where(np.isnan(top) | np.isnan(bottom), np.nan, np.round(shares, 1))
    groups = (tenths == tenth for tenth in np.unique(tenths[~np.isnan(tenths)]))
    return tuple(_dose(shares[group], top[group], bottom[group]) for group in groups)


def _dose(shares: Array, top: Array, bottom: Array) -> Dose:
    error = float(top.std(ddof=1) / np.sqrt(top.size)) if top.size > 1 else 0.0
    return Dose(float(shares.mean()), top.size, float(top.mean()), float(bottom.mean()), error)
