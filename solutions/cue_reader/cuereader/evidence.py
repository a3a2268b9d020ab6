"""Where and when the measurements were taken, weighted by how much they moved the score."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .features import Reading
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


def time_weights(reading: Reading, weights: Mapping[str, float]) -> list[float] | None:
    """Return one weight a second: each cue's weight shared out by how much of it happens when; None without any."""
    bins = max(int(np.ceil(reading.duration_s / _BIN_S - 1e-6)), 1)
    total = np.zeros(bins)
    face = reading.picture.face
    tracks: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    if face is not None:
        tracks["smile"] = (face.times, np.abs(face.curve))
        tracks["gaze"] = (face.times, np.abs(face.gaze_x))
        tracks["motion"] = (face.times, np.abs(face.y - np.median(face.y)))
    if reading.level.size:
        times = (np.arange(reading.level.size) + 0.5) / reading.level.size * reading.duration_s
        tracks["words"] = tracks["speech_rate"] = (times, reading.level)
    for cue, (times, activity) in tracks.items():
        sums = np.bincount(np.minimum(times // _BIN_S, bins - 1).astype(int), weights=activity, minlength=bins)
        if sums.sum() > 0:
            total += abs(weights.get(cue, 0.0)) * sums / sums.sum()
    return [float(v) for v in total] if total.max() > total.min() else None


def cue_claims(contributions: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return every contribution as a claim."""
    return [
        {"cue": cue, "target": target, "contribution": float(np.clip(value, -1, 1))}
        for target, row in contributions.items()
        for cue, value in row.items()
    ]
