"""Plausibility: maps against what people pointed at; a separate column, not part of the total.

An honest explanation of a biased model is implausible, so scoring plausibility would reward telling people what they
expect.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from score.order import above_chance_auc
from score.read.answers import Explanation
from score.read.known import Observation

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def clip_plausibility(
    clip_ids: Sequence[str],
    explanations: Sequence[Explanation],
    observations: Mapping[str, Sequence[Observation]],
) -> tuple[Array, Array]:
    """Compare each clip's maps in space and time with what people pointed at.

    Returns (n, 2) ``2 AUC - 1`` in space and time, 0 without a map; and (n, 2) 1 if people pointed at a part of the
    frame, or of the clip's length, else 0.
    """
    values, defined = np.zeros((len(clip_ids), 2)), np.zeros((len(clip_ids), 2))
    for clip, (clip_id, explanation) in enumerate(zip(clip_ids, explanations, strict=True)):
        points = observations.get(clip_id, ())
        boxes = [point.box for point in points if point.box]
        shape = explanation.space.shape if explanation.space is not None else (9, 16)
        bins = len(explanation.time) if explanation.time is not None else 0
        seconds = np.zeros(bins, dtype=bool)
        for point in points:
            start, end = (min(time_s / explanation.bin_s, bins) for time_s in (point.start_s, point.end_s))
            seconds[int(start) : math.ceil(end)] = True
        for part, mask, weights in ((0, _cells(boxes, shape), explanation.space), (1, seconds, explanation.time)):
            if not mask.size or not 0 < mask.sum() < mask.size:
                # Without a timeline the clip's length is unknown, but a timeline still counts as missing.
                defined[clip, part] = float(part == 1 and weights is None and bool(points))
                continue
            defined[clip, part] = 1
            if weights is not None:
                values[clip, part] = above_chance_auc(weights.ravel(), mask)
    return values, defined


def _cells(boxes: Sequence[tuple[float, float, float, float]], shape: tuple[int, ...]) -> Mask:
    """Mark the cells whose centre lies in a box, and the cell that contains the centre of a box."""
    rows, columns = shape
    mask = np.zeros((rows, columns), dtype=bool)
    y, x = (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    for left, top, right, bottom in boxes:
        mask |= ((top <= y) & (y <= bottom))[:, None] & ((left <= x) & (x <= right))[None, :]
        row, column = int((top + bottom) / 2 * rows), int((left + right) / 2 * columns)
        mask[min(row, rows - 1), min(column, columns - 1)] = True
    return mask.ravel()
