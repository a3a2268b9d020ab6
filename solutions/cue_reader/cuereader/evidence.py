"""Where and when the measurements were taken, weighted by how much they moved the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from .additive import AdditiveModel
from .features import EVENTS, Reading
from .picture import FaceTracks
from .speech import telling_moments

if TYPE_CHECKING:
    from contract import Claim

ROWS, COLUMNS = 36, 64
"""Size of the spatial map."""
EVENTS_AND_WORDS = (*EVENTS, "words")
"""What has a moment."""
_BIN_S = 1.0
_EVENT_S = 1.6
"""How long an event takes."""
_STIRRED = 0.2
"""Change from which a cell belongs to a gesture, relative to the cell that changes most."""
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def face_regions(face: FaceTracks) -> dict[str, list[Box]]:
    """Return the boxes in which each cue of the face was measured, in pixels of a frame."""
    x, y, unit = float(np.median(face.x)), float(np.median(face.y)), face.unit

    def box(x0: float, y0: float, x1: float, y1: float) -> Box:
        return (x + x0 * unit, y + y0 * unit, x + x1 * unit, y + y1 * unit)

    return {
        "smile": [box(-0.9, 0.4, 0.9, 1.3)],
        "gaze": [box(-0.9, -0.5, 0.9, 0.35)],
        "posture": [box(-1.0, -1.2, 1.0, 1.5)],
    }


def space_map(reading: Reading, model: AdditiveModel) -> NDArray[np.float64] | None:
    """Return a map of shape (36, 64), >= 0: how far each place moved the predictions from an average clip's; or None.

    Posture, light and framing are always there and have no place, so they are left out.
    """
    sizes = joint_sizes(reading, model)
    total = spread(reading, {cue: sizes[cue] for cue in EVENTS})
    return total if total.max() > total.min() else None


def spread(reading: Reading, amounts: Mapping[str, float]) -> NDArray[np.float64]:
    """Return a map of shape (36, 64) with an amount for each cue where it was measured."""
    picture = reading.picture
    total, face = np.zeros((ROWS, COLUMNS)), np.zeros((ROWS, COLUMNS), np.bool_)
    height, width = picture.key_frame.shape[:2]
    regions = {} if picture.face is None else face_regions(picture.face)
    for cue, boxes in regions.items():
        for x0, y0, x1, y1 in boxes:
            rows = slice(max(round(y0 / height * ROWS), 0), max(round(y1 / height * ROWS), 0))
            columns = slice(max(round(x0 / width * COLUMNS), 0), max(round(x1 / width * COLUMNS), 0))
            total[rows, columns] += amounts.get(cue, 0.0)
            face[rows, columns] |= cue in EVENTS
    # Gestures were measured where the lower half of the picture changes, but a smile changes it, too.
    stirred = cv2.dilate((picture.stir_map >= _STIRRED).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.asarray(total + amounts.get("motion", 0.0) * (stirred & ~face))


def time_weights(reading: Reading, model: AdditiveModel) -> list[float] | None:
    """Return one weight a second: how far what happens and is said then moved the predictions; None without events."""
    bins = max(int(np.ceil(reading.duration_s / _BIN_S - 1e-6)), 1)
    total = np.zeros(bins)
    sizes = joint_sizes(reading, model)
    for cue in EVENTS_AND_WORDS:
        total += sizes[cue] * happens(reading, cue, bins)
    return total.tolist() if total.max() > total.min() else None


def happens(reading: Reading, cue: str, bins: int) -> NDArray[np.float64]:
    """Return how much of an event happens in each second, shape (bins,): 1 in its second, 0 in all others.

    A telling word counts in its second as much as it says, relative to all of them: bright and gloomy ones may cancel
    out in the sum. Where something else happens, words are not exchanged, so they are left out.
    """
    picture, weights = reading.picture, np.zeros(bins)
    if cue == "words":
        moments = telling_moments(reading.transcript, reading.level)
        for time_s, score in moments:
            weights[min(int(time_s / _BIN_S), bins - 1)] += abs(score)
        weights[np.sum([happens(reading, event, bins) for event in EVENTS], axis=0) > 0] = 0.0
        return np.asarray(weights / max(abs(sum(score for _, score in moments)), 1.0))
    if cue == "motion":
        times, tracks = picture.sweep_times, [picture.sweep] if picture.sweep.size else []
    elif picture.face is not None:
        face = picture.face
        # A blink closes the eyes, so only wide open ones count.
        wide = np.maximum(face.eye_open - np.median(face.eye_open), 0)
        times, tracks = face.times, [face.curve] if cue == "smile" else [face.gaze_x, wide]
    else:
        return weights
    strays = np.zeros(len(times))
    for track in tracks:
        strays += (track - np.median(track)) ** 2  # small ones are sway and noise
    middles = (np.arange(bins) + 0.5) * _BIN_S
    near = np.abs(times - middles[:, None]) < _EVENT_S / 2  # an event begins before its second and ends after it
    weights[int((near @ strays).argmax())] = float(strays.any())
    return weights


def joint_sizes(reading: Reading, model: AdditiveModel) -> dict[str, float]:
    """Return how far each cue moved the predictions away from those of an average clip, over all targets."""
    contributions = model.contributions(reading.values)
    shares = importance(model.targets)
    return {
        cue: float(shares @ [abs(contributions[target][cue]) for target in model.targets])
        for cue in contributions[model.targets[0]]
    }


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
