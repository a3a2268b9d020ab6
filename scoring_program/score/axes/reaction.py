"""Reaction size: how far hiding the named places moves the prediction, beside what the claims add up to. No score.

A model whose claims are true loses, when everything it looks at is hidden, about what they add up to. One that falls to
some fixed answer as soon as it sees a mask, or no face, moves further: its maps then have effects that explain nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.axes.reading import Readings

LARGE = 2.5
"""Reaction size from which on the code deserves a look.

On several sets of synthetic clips honest models had 1.2 to 1.9, the latter with a speckled map; models that give one
fixed answer where they find no face 2.8 to 3.3; those that look for masks on purpose 3.5 to 9.1.
"""
FEWEST = 5
"""Clips with both effects and claims that a reaction size needs."""


@dataclass(frozen=True)
class ReactionSize:
    """By how much more a model reacts to hiding than its claims say."""

    value: float | None
    """Mean effect of hiding the named places, divided by the mean size of the sum of the claims; None: too few."""

    @property
    def large(self) -> bool | None:
        """The flag; None without a value."""
        return None if self.value is None else self.value >= LARGE


def reaction_size(effects: Effects, readings: Readings, target: NDArray[np.int64]) -> ReactionSize:
    """Compare the effects of hiding with the claims, over the clips that have both.

    The effect of a clip is the mean of those of the masks ``top`` and ``own`` in space, as far as they were answered.
    Its claims are the submitted contributions of what can be seen; the signs that a text states have no size. Claims
    that add up to less than what counts as an effect are taken as that much.

    Parameters
    ----------
    effects
        Measured effects on n clips.
    readings
        What their explanations say.
    target
        (n,) each clip's evaluated target.
    """
    masked = effects.masked
    pairs = np.stack([masked["space", "top"], masked["space", "own"]])
    answers = (~np.isnan(pairs)).sum(axis=0)
    claimed = np.abs(readings.seen[np.arange(len(target)), target])
    both = (answers > 0) & ~np.isnan(claimed)
    if both.sum() < FEWEST:
        return ReactionSize(None)
    effect = (np.nansum(pairs, axis=0)[both] / answers[both]).mean()
    return ReactionSize(float(effect / max(claimed[both].mean(), effects.epsilon[both].mean())))
