"""Noise of the answers, and the smallest effect that counts."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST_EFFECT = 5e-4
"""Share of the range below which no effect counts, whatever the submission's own noise."""


def noise_floor(first: Array, again: Array) -> Array:
    """Mean difference between two answers to the same clip with different jitter.

    `first`: (n, k) predictions of the first pass; NaN without one. `again`: (n, k) predictions for the jittered
    originals. Returns (k,) >= 0; 0 if no clip was asked twice.
    """
    difference = np.abs(first - again)
    asked = ~np.isnan(difference)
    return np.asarray(np.where(asked, difference, 0).sum(axis=0) / np.maximum(1, asked.sum(axis=0)))


def resolution(repeated: Array | None, prediction: Array) -> Array:
    """Smallest effect that counts: ``max(5e-4, 2 repeated, 0.05 SD of the predictions)``.

    All altered copies of a clip share their jitter, so noise from different jitter is not part of any effect.

    `repeated`: (k,) largest difference between two answers to the same copy; None if none was asked again.
    `prediction`: (n, k) predictions of the first pass; NaN without one. Returns (k,) on the unit scale.
    """
    spread = np.zeros(prediction.shape[1])
    good = ~np.isnan(prediction).any(axis=1)
    if good.any():
        spread = prediction[good].std(axis=0)
    smallest = np.maximum(SMALLEST_EFFECT, 0.05 * spread)
    return np.asarray(smallest if repeated is None else np.maximum(smallest, 2 * repeated))
