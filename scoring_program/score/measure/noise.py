"""Noise of the answers, and the smallest effect that counts."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from score.read.output.probe_record import ProbeCall

Array = NDArray[np.float64]
SMALLEST_EFFECT = 5e-4
"""Share of the range below which no effect counts, whatever the submission's own noise."""


def pass_difference(first: Array, again: Array) -> Array:
    """Mean difference between the answers of two passes to the same clip, which differ by a slight jitter.

    `first` and `again`: (n, k) predictions; NaN without one. Returns (k,) >= 0; 0 if no clip was asked twice.
    """
    difference = np.abs(first - again)
    asked = ~np.isnan(difference)
    return np.asarray(np.where(asked, difference, 0).sum(axis=0) / np.maximum(1, asked.sum(axis=0)))


def resolution(repeated: Array | None, targets: int) -> Array:
    """Smallest effect that counts: ``max(5e-4, 2 repeated)``: small is only what noise could have caused.

    All altered copies of a clip share their jitter, so noise from different jitter is not part of any effect.

    `repeated`: (k,) largest difference between two answers to the same copy; None if none was asked again.
    `targets`: k. Returns (k,) on the unit scale.
    """
    smallest = np.full(targets, SMALLEST_EFFECT)
    return smallest if repeated is None else np.maximum(smallest, 2 * repeated)


def repeated_difference(calls: Iterable[Sequence[ProbeCall]], span: Array) -> Array | None:
    """Largest difference between the answers of two processes to one altered copy.

    The copy is identical, so any difference comes from chance or from what the model saw before.

    `span`: (k,) width of each target's range. Returns (k,) >= 0; None if no copy has two valid answers.
    """
    differences = []
    for recorded in calls:
        first = {call.name: call.prediction for call in recorded if not call.again}
        for call in recorded:
            before = first.get(call.name)
            if call.again and before is not None and call.prediction is not None:
                differences.append(np.abs(np.subtract(before, call.prediction)) / span)
    return np.max(differences, axis=0) if differences else None
