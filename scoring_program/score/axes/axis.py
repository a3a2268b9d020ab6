"""What the program knows of one axis: each module of an axis makes one `Axis`, and score.axes.registry lists them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from score.read.answers import Explanation

if TYPE_CHECKING:
    from score.axes.table import AxisSums, ClipAxes

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Share = float | None
"""In [0, 1]; None if there are no clips or claims to count."""


@dataclass(frozen=True)
class Account:
    """What a run said about the clips that count, and what was measured."""

    explanations: Sequence[Explanation]
    axes: "ClipAxes"
    predicted: Mask
    """(n,) whether a clip has a valid prediction."""

    @property
    def claimed(self) -> Array:
        """(n, v) claims about each clip's evaluated target."""
        return np.asarray(self.axes.readings.claims[np.arange(len(self.predicted)), self.axes.target])

    @property
    def moved(self) -> Mask:
        """(n, v) whether the prediction moved without each cue."""
        effects = self.axes.effects
        return np.asarray(np.abs(np.nan_to_num(effects.edited)) >= effects.epsilon[:, None])

    @property
    def tested(self) -> Mask:
        """(n, v) whether the prediction without each cue is known."""
        return np.asarray(~np.isnan(self.axes.effects.edited))


@dataclass(frozen=True)
class ErrorKind:
    """One way in which explanations lose points."""

    key: str
    advice: str
    """What to do about it, one sentence."""
    finding: str
    """What the share describes; a percentage comes before it."""
    share: Callable[[Account], Share]
    """Share of the clips with a prediction, or of the claims that the finding names."""
    complement: bool = False
    """Whether the share is of what is right, so that the rest is lost."""


@dataclass(frozen=True)
class Axis:
    """One axis of the total."""

    key: str
    """Key of its score column, and of its weight in the settings."""
    title: str
    """Heading of the column, at most 36 characters."""
    meaning: str
    shown: str
    """Name in the table of clips."""
    value: Callable[["AxisSums"], Array]
    """Returns (b,) values in [0, 1] of b rows of sums."""
    of_clips: Callable[["AxisSums"], Array]
    """Returns (n,) values of n clips, in [-1, 1]; see `clip_values`."""
    error_analysis: tuple[ErrorKind, ...]
    """Reasons of a low value, the most basic first."""
    otherwise: str
    """What to do if no shortfall stands out."""
    needs_model: bool = False
    """Whether results without a model get nothing."""
    counts: str = ""
    """The field of `AxisSums` with the clips that it can be measured on; empty for all. Without any it is left out."""
    of_causes: bool = False
    """Whether it needs known causes, and so depends on labels; a phase without them leaves it out."""

    def clip_values(self, sums: "AxisSums") -> Array:
        """Return (n,) values of n clips, in [-1, 1]; NaN where the axis does not apply."""
        values = self.of_clips(sums)
        return np.where(getattr(sums, self.counts)[:, 0] > 0, values, np.nan) if self.counts else values


def share_of(which: object, chosen: Mask) -> Share:
    """Return the share of the chosen elements for which something holds.

    >>> share_of([True, False, True], np.array([True, True, False]))
    0.5
    """
    values = np.asarray(which, dtype=bool)[chosen]
    return float(values.mean()) if values.size else None


def known_mean(values: Array) -> Share:
    """Return the mean of the values that are not NaN; None without any."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def mean_of_parts(values: Array, defined: Mask, weights: Array) -> Array:
    """Weighted mean of the parts, each at least 0 (chance); parts that no clip has are left out.

    `values` and `defined`: (b, p). `weights`: (p,). Returns (b,).

    >>> mean_of_parts(np.array([[0.5, -1.0, 0.9]]), np.array([[True, True, False]]), np.array([0.5, 0.25, 0.25]))
    array([0.33333333])
    """
    used = weights * defined
    whole = used.sum(axis=1)
    return np.asarray((used * np.clip(values, 0, 1)).sum(axis=1) / np.where(whole > 0, whole, 1.0))
