"""Where and when the measurements were taken, weighted by how much they moved the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .additive import AdditiveModel
from .features import EVENTS, Reading, calmed
from .picture import TRACKS, FaceTracks

if TYPE_CHECKING:
    from contract import Claim

ROWS, COLUMNS = 36, 64
"""Size of the spatial map."""
_BIN_S = 1.0
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def face_regions(face: FaceTracks) -> dict[str, list[Box]]:
    """Return the boxes in which each cue of the face was measured, in pixels of a frame."""
    x, y, unit = float(np.median(face.x)), float(np.median(face.y)), face.unit

    def box(x0: float, y0: float, x1: float, y1: float) -> Box:
        return (x + x0 * unit, y + y0 * unit, x + x1 * unit, y + y1 * unit)

    return {
        "smile": [box(-0.6, 0.5, 0.6, 1.15)],
        "gaze": [box(-0.75, -0.25, -0.12, 0.2), box(0.12, -0.25, 0.75, 0.2)],
        "posture": [box(-1.0, -1.2, 1.0, 1.5)],
    }


def space_map(reading: Reading, model: AdditiveModel) -> NDArray[np.float64] | None:
    """Return a map of shape (36, 64), >= 0: how far the prediction moves if nothing happens there; or None.

    Posture, light and framing are always there and have no place, so they are left out.
    """
    total = spread(reading, {cue: _moved(reading, model, calmed(reading, (cue,))) for cue in EVENTS})
    return total if total.max() > total.min() else None


def spread(reading: Reading, amounts: Mapping[str, float]) -> NDArray[np.float64]:
    """Return a map of shape (36, 64) with an amount for each cue where it was measured."""
    picture = reading.picture
    total = np.zeros((ROWS, COLUMNS))
    height, width = picture.key_frame.shape[:2]
    regions = {} if picture.face is None else face_regions(picture.face)
    for cue, amount in amounts.items():
        for x0, y0, x1, y1 in regions.get(cue, []):
            rows = slice(max(round(y0 / height * ROWS), 0), max(round(y1 / height * ROWS), 0))
            columns = slice(max(round(x0 / width * COLUMNS), 0), max(round(x1 / width * COLUMNS), 0))
            total[rows, columns] += amount
        if cue == "motion":  # gestures were measured where the lower half of the picture changes
            total += amount * picture.stir_map
    return total


def time_weights(reading: Reading, model: AdditiveModel) -> list[float] | None:
    """Return one weight a second: how far the prediction moves without the events in it; None without events."""
    bins = max(int(np.ceil(reading.duration_s / _BIN_S - 1e-6)), 1)
    total = np.zeros(bins)
    for cue in EVENTS:
        total += _moved(reading, model, calmed(reading, (cue,))) * happens(reading, cue, bins)
    return total.tolist() if total.max() > total.min() else None


def happens(reading: Reading, cue: str, bins: int) -> NDArray[np.float64]:
    """Return the share of an event in each second, shape (bins,); the shares sum to 1, or are all 0."""
    picture = reading.picture
    if cue == "motion":
        times, track = picture.sweep_times, picture.sweep
    elif picture.face is not None:
        times, track = picture.face.times, getattr(picture.face, TRACKS[cue][0])
    else:
        return np.zeros(bins)
    strays = np.abs(track - np.median(track)) ** 2 if track.size else track  # small ones are sway and noise
    seconds = np.minimum((times / _BIN_S).astype(int), bins - 1)
    shares = np.bincount(seconds, strays, minlength=bins)
    return np.asarray(shares / (shares.sum() or 1.0))


def _moved(reading: Reading, model: AdditiveModel, values: NDArray[np.float64]) -> float:
    """Return how much the predictions would move, over all targets, with these measurements."""
    shares = importance(model.targets)
    return float(shares @ np.abs(model.raw(values) - model.raw(reading.values)))


def importance(targets: Sequence[str]) -> NDArray[np.float64]:
    """Return the weight of each target in a joint map: the interview counts as much as all others together."""
    shares = np.full(len(targets), 0.5 / max(len(targets) - 1, 1))
    if "interview" in targets:
        shares[targets.index("interview")] = 0.5
    return np.asarray(shares / shares.sum())


def cue_claims(contributions: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    """Return every contribution as a claim."""
    return [
        {"cue": cue, "target": target, "contribution": float(np.clip(value, -1, 1))}
        for target, row in contributions.items()
        for cue, value in row.items()
    ]
