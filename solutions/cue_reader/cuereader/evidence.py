"""Where and when the measurements were taken, weighted by how much they moved the score."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .additive import AdditiveModel
from .features import Reading, without_seconds
from .picture import FaceTracks

ROWS, COLUMNS = 36, 64
"""Size of the spatial map."""
_BIN_S = 1.0


def face_regions(face: FaceTracks) -> dict[str, list[tuple[float, float, float, float]]]:
    """Return by cue the boxes it was measured in: left, top, right, bottom in pixels of a frame."""
    x, y, unit = float(np.median(face.x)), float(np.median(face.y)), face.unit

    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        return (x + x0 * unit, y + y0 * unit, x + x1 * unit, y + y1 * unit)

    head = box(-1.0, -1.2, 1.0, 1.5)
    return {
        "smile": [box(-0.6, 0.5, 0.6, 1.15)],
        "gaze": [box(-0.75, -0.25, -0.12, 0.2), box(0.12, -0.25, 0.75, 0.2)],
        "motion": [head],
        "posture": [head],
        "lighting": [head],
        "framing": [head],
    }


def space_map(reading: Reading, weights: Mapping[str, float]) -> NDArray[np.float64] | None:
    """Return a map of shape (36, 64), >= 0: each cue's weight over the place it was measured in; None without any."""
    picture = reading.picture
    total = np.zeros((ROWS, COLUMNS))
    height, width = picture.key_frame.shape[:2]
    regions = {} if picture.face is None else face_regions(picture.face)
    for cue, boxes in regions.items():
        for x0, y0, x1, y1 in boxes:
            rows = slice(max(round(y0 / height * ROWS), 0), max(round(y1 / height * ROWS), 0))
            columns = slice(max(round(x0 / width * COLUMNS), 0), max(round(x1 / width * COLUMNS), 0))
            total[rows, columns] += abs(weights.get(cue, 0.0)) / len(boxes)
    # Gestures were measured where the lower half of the picture changes.
    total += abs(weights.get("motion", 0.0)) * picture.stir_map
    return total if total.max() > total.min() else None


def time_weights(reading: Reading, model: AdditiveModel) -> list[float] | None:
    """Return one weight a second: how much the prediction moves if nothing happens in it; None if nothing does."""
    usual = model.raw(reading.values)
    shares = importance(model.targets)
    bins = max(int(np.ceil(reading.duration_s / _BIN_S - 1e-6)), 1)
    moved = [
        float(shares @ np.abs(model.raw(without_seconds(reading, start, start + _BIN_S)) - usual))
        for start in np.arange(bins) * _BIN_S
    ]
    return moved if max(moved) > min(moved) else None


def importance(targets: Sequence[str]) -> NDArray[np.float64]:
    """Return how much each target counts in a map that speaks for all: the interview as much as all others together."""
    shares = np.full(len(targets), 0.5 / max(len(targets) - 1, 1))
    if "interview" in targets:
        shares[targets.index("interview")] = 0.5
    return np.asarray(shares / shares.sum())


def cue_weights(contributions: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return by cue how much it moved the targets, >= 0."""
    shares = importance(tuple(contributions))
    weights: dict[str, float] = {}
    for share, row in zip(shares, contributions.values(), strict=True):
        for cue, value in row.items():
            weights[cue] = weights.get(cue, 0.0) + share * abs(value)
    return weights


def cue_claims(contributions: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return every contribution as a claim."""
    return [
        {"cue": cue, "target": target, "contribution": float(np.clip(value, -1, 1))}
        for target, row in contributions.items()
        for cue, value in row.items()
    ]
