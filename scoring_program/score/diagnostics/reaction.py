"""Reaction size: how far hiding parts of the picture moves the prediction, relative to the claims. Not scored.

A model with true claims reacts no more strongly than they say. A model that falls back to a fixed answer when
something is hidden, or when no face is found, reacts more: its effects then say nothing about the clip.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.text.reading import Readings

Array = NDArray[np.float64]

LARGE = 1.5
"""Reaction size from which the submission's code deserves a look.

On the Practice clips with exchanged parts, `cue_reader` has 0.9. With hidden blocks of cells, as in filmed clips, it
has 0.6; it has 1.2 if it gives a fixed answer without a face, and 1.8 if it does so without a sharp face.
"""
FEWEST = 5
"""Fewest clips with both effects and claims that a reaction size needs."""


@dataclass(frozen=True)
class ReactionSize:
    """How strongly a model reacts to hiding, relative to its claims."""

    value: float | None
    """Mean sum of the effects of hiding, divided by the mean sum of the claims' sizes; None: too few clips."""

    @property
    def large(self) -> bool | None:
        """The flag; None without a value."""
        return None if self.value is None else self.value >= LARGE


def reaction_size(effects: Effects, readings: Readings, shares: Array) -> ReactionSize:
    """Compare the effects of hiding with the claims, over the clips that have both.

    The effect of a clip is the sum over all parts of its picture. Its claims are the submitted contributions of visible
    cues; signs stated in a text have no size. A sum of claims below the smallest effect that counts is raised to it.

    `shares`: (k,) weight of each target in a joint effect.
    """
    units = [effects.of(clip, "space") for clip in range(len(readings.seen))]
    sums = np.array([sum(unit.effect for unit in found) if found else np.nan for found in units])
    claimed = readings.seen @ shares
    both = ~np.isnan(sums) & ~np.isnan(claimed)
    if both.sum() < FEWEST:
        return ReactionSize(None)
    return ReactionSize(float(sums[both].mean() / max(claimed[both].mean(), effects.joint_epsilon)))
