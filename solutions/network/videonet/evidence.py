"""Evidence from the network's own sums: claims, a map, a timeline and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from .network import CUES, EVENTS, TARGETS, NetworkOutput
from .reading import WINDOWS

if TYPE_CHECKING:
    from contract import Claim

ROWS, COLUMNS = 36, 64
"""Size of the map."""
_BELONGS = 0.3
"""Share of the largest value from which a place belongs to a cue."""
PICTURE = (355, 200)
"""Width and height of the picture."""


def claims(answer: NetworkOutput) -> list[Claim]:
    """Return for every cue and target how far the prediction moves when the cue is as in an average clip."""
    return [
        {"cue": cue, "target": target, "contribution": float(answer.scores[column] - answer.without[row, column])}
        for row, cue in enumerate(CUES)
        for column, target in enumerate(TARGETS)
    ]


def moved(answer: NetworkOutput) -> NDArray[np.float64]:
    """Return how far each cue moves the predictions from those of an average clip; half of it counts for the last."""
    shares = np.array([0.5 / (len(TARGETS) - 1)] * (len(TARGETS) - 1) + [0.5])
    return np.asarray(np.abs(answer.scores - answer.without) @ shares)


def space_map(answer: NetworkOutput) -> NDArray[np.float64] | None:
    """Return a map of shape (36, 64), >= 0: the place of each cue by how far it moves; None where nothing happens."""
    total = np.zeros((ROWS, COLUMNS))
    height, width = answer.frame.shape[:2]
    for amount, part, window in zip(moved(answer), answer.maps, EVENTS.values(), strict=False):
        # A small window belongs to its cue as a whole; the body moves only somewhere.
        strength = np.abs(part.sum(axis=0)) if window == "body" else np.ones_like(part[0])
        view = WINDOWS[window]
        # From cells of the window to pixels of the picture, and from there to cells of the map.
        step = np.diag((view.columns / strength.shape[1], view.rows / strength.shape[0]))
        matrix = answer.pose.matrix(view)
        matrix[:, 2] += matrix[:, :2] @ (np.diag(step) / 2 - 0.5) + 0.5
        matrix[:, :2] = matrix[:, :2] @ step
        matrix = np.diag((COLUMNS / width, ROWS / height)) @ matrix
        matrix[:, 2] -= 0.5
        smooth = cv2.GaussianBlur(strength, (0, 0), 1.5)
        laid = cv2.warpAffine(smooth.astype(np.float32), matrix, (COLUMNS, ROWS))
        total += amount * (laid >= max(_BELONGS * float(laid.max()), 1e-9))
    return total if total.max() > total.min() else None


def time_weights(answer: NetworkOutput) -> list[float] | None:
    """Return one weight a second: how far the prediction moves without what happens then; None where nothing does."""
    bins = max(int(np.ceil(answer.duration_s - 1e-6)), 1)
    total = np.zeros(bins)
    for amount, part in zip(moved(answer), answer.maps, strict=False):
        moments = part.sum(axis=(1, 2), dtype=np.float64)
        happens = np.maximum(moments * np.sign(moments.sum()), 0)
        times = (np.arange(len(moments)) + 0.5) * answer.duration_s / len(moments)
        weights = np.bincount(np.minimum(times.astype(int), bins - 1), happens, minlength=bins)
        total[int(weights.argmax())] += amount * weights.any()
    return total.tolist() if total.max() > total.min() else None


def picture(answer: NetworkOutput, space: NDArray[np.float64] | None) -> NDArray[np.uint8]:
    """Return the frame in the middle, red where the map is high; shape (200, 355, 3), RGB."""
    image = cv2.resize(answer.frame, PICTURE, interpolation=cv2.INTER_AREA).astype(np.float32)
    if space is not None:
        heat = cv2.resize((space / space.max()).astype(np.float32), PICTURE)[..., None] * 0.6
        image = image * (1 - heat) + heat * np.array((255, 60, 40), np.float32)
    return np.asarray(np.rint(image.clip(0, 255)), np.uint8)
