"""Faithfulness in space and time: masking what the explanation points at changes most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from score.axes.contrast import contrast
from score.axes.effects import Effects

Array = NDArray[np.float64]
WORST = -1.0
"""Worst value of a contrast: what a pair counts in which a call failed."""


def clip_faithfulness(effects: Effects, kind: str) -> Array:
    """Faithfulness of each clip's map: ``1/2 contrast(top, bottom) + 1/2 contrast(own, other)``.

    ``top`` and ``bottom`` are as many of the highest and lowest places of the clip's own map; ``own`` and ``other``
    are the places where it and another clip's map differ. A map that is the same for all clips has no second half.

    Parameters
    ----------
    effects
        Measured effects.
    kind
        ``space`` or ``time``.

    Returns
    -------
    NDArray
        (n,) in [-1, 1]. A half that was not asked or not reached is 0, nothing shown; a half in which the model
        failed is -1, so that failing never pays.
    """
    return np.asarray((_half(effects, kind, "top", "bottom") + _half(effects, kind, "own", "other")) / 2)


def _half(effects: Effects, kind: str, more: str, less: str) -> Array:
    first, second = effects.masked[kind, more], effects.masked[kind, less]
    failed = effects.failed[kind, more] | effects.failed[kind, less]
    shown = contrast(first, second, effects.epsilon)
    return np.where(failed, WORST, np.where(np.isnan(shown), 0.0, shown))
