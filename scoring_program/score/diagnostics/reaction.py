"""Reaction size: how far hiding parts of the picture moves the prediction, relative to the claims. Not scored.

A model whose claims are true moves no further than they say. A model that falls back to a fixed answer as soon as
something is hidden, or no face is found, moves further: its maps then have effects that explain nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.text.reading import Readings

LARGE = 1.5
"""Reaction size from which on the code deserves a look.

The Practice clips, parts exchanged: `cue_reader` 0.9. Blocks of cells hidden, as in filmed clips: it has 0.6, with
one fixed answer where it finds no face 1.2, where the face is not sharp 1.8.
"""
FEWEST = 5
"""Clips with both effects and claims that a reaction size needs."""


@dataclass(frozen=True)
class ReactionSize:
    """By how much more a model reacts to hiding than its claims say."""

    value: float | None
    """Mean sum of the effects of hiding parts of the picture, by the mean sum of the claims' sizes; None: too few."""

    @property
    def large(self) -> bool | None:
        """The flag; None without a value."""
        return None if self.value is None else self.value >= LARGE


def reaction_size(effects: Effects, readings: Readings, target: NDArray[np.int64]) -> ReactionSize:
    """Compare the effects of hiding with the claims, over the clips that have both.

    The effect of a clip is the sum of those of all parts of its picture.
    Its claims are the submitted contributions of what can be seen; the signs that a text states have no size. Claims
    that come to less than what counts as an effect are taken as that much.

    Parameters
    ----------
    effects
        Measured effects on n clips.
    readings
        What their explanations say.
    target
        (n,) each clip's evaluated target.
    """
    sums = np.array([hidden.changes.sum() if hidden.places else np.nan for hidden in effects.hidden["space"]])
    claimed = readings.seen[np.arange(len(target)), target]
    both = ~np.isnan(sums) & ~np.isnan(claimed)
    if both.sum() < FEWEST:
        return ReactionSize(None)
    effect = sums[both].mean()
    return ReactionSize(float(effect / max(claimed[both].mean(), effects.epsilon[both].mean())))
