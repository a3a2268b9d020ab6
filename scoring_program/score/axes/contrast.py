"""The contrast of two effects, and what is too small to be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST_EFFECT = 5e-4
"""Share of the range below which no effect counts, whatever the submission's own noise."""


def contrast(more: Array, less: Array, epsilon: Array) -> Array:
    """Contrast of two effects: ``(u - v) / (u + v + epsilon)``.

    A ratio, so that a model that answers loudly to everything gains nothing by it.

    Parameters
    ----------
    more
        Effect of masking what is said to matter, >= 0.
    less
        Effect of masking as much of what is said not to matter, >= 0, of the same shape.
    epsilon
        What is too small to be an effect, > 0.

    Returns
    -------
    NDArray
        In (-1, 1); 0 when both are equal.
    """
    return np.asarray((more - less) / (more + less + epsilon))


def noise_floor(first: Array, again: Array) -> Array:
    """How far two answers to the same clip, differently jittered, lie apart: the mean over clips.

    Parameters
    ----------
    first
        (n, k) predictions of the first pass; NaN where there is none.
    again
        (n, k) predictions for the jittered originals.

    Returns
    -------
    NDArray
        (k,) >= 0; 0 where no clip was asked twice.
    """
    difference = np.abs(first - again)
    asked = ~np.isnan(difference)
    return np.asarray(np.where(asked, difference, 0).sum(axis=0) / np.maximum(1, asked.sum(axis=0)))


def resolution(floor: Array, prediction: Array) -> Array:
    """Smallest effect that counts: ``max(5e-4, 2 noise floor, 0.05 SD of the predictions)``.

    Parameters
    ----------
    floor
        (k,) noise floor.
    prediction
        (n, k) predictions of the first pass; NaN where there is none.

    Returns
    -------
    NDArray
        (k,) on the unit scale.
    """
    spread = np.zeros(prediction.shape[1])
    good = ~np.isnan(prediction).any(axis=1)
    if good.any():
        spread = prediction[good].std(axis=0)
    return np.asarray(np.maximum(SMALLEST_EFFECT, np.maximum(2 * floor, 0.05 * spread)))
