"""Measure the features of a clip that the linear model weighs. Each belongs to one cue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .picture import PictureReading, read_picture
from .speech import RATE, beats, loudness, syllables, valence

if TYPE_CHECKING:
    from contract import Clip

FEATURES: tuple[tuple[str, str], ...] = (
    ("mouth_curve", "smile"),
    ("mouth_width", "smile"),
    ("teeth", "smile"),
    ("gaze_sideways", "gaze"),
    ("gaze_white", "gaze"),
    ("eyes_wide", "gaze"),
    ("sweep", "motion"),
    ("stir", "motion"),
    ("tilt", "posture"),
    ("eye_white", "lighting"),
    ("brightness", "lighting"),
    ("face_size", "framing"),
    ("voice_beats", "speech_rate"),
    ("syllables", "speech_rate"),
    ("valence", "words"),
)
"""Name of each number and the cue that it measures; the first number of a cue says how much of it there is."""
CUES = tuple(dict.fromkeys(cue for _, cue in FEATURES))
"""The cues that are measured."""
EVENTS = ("smile", "gaze", "motion")
"""Cues with a time and a place; the others are always there, everywhere."""
_EVENT_S = 1.2


@dataclass(frozen=True)
class Reading:
    """All measurements of one clip."""

    values: NDArray[np.float64]
    """Features in the order of ``FEATURES``; NaN for missing measurements."""
    picture: PictureReading
    """What the frames show."""
    level: NDArray[np.float64]
    """Loudness of every 20 ms, or empty."""
    transcript: str
    """What is said."""
    duration_s: float
    """Length of the clip."""


def read_clip(clip: Clip) -> Reading:
    """Measure one clip; a pure function of the clip."""
    picture = read_picture(clip)
    sound = clip.audio(RATE)
    level = np.empty(0) if sound is None else loudness(sound)
    transcript, duration_s = clip.transcript, clip.duration_s
    return Reading(_measure(picture, level, transcript, duration_s), picture, level, transcript, duration_s)


def _measure(
    picture: PictureReading, level: NDArray[np.float64], transcript: str, duration_s: float
) -> NDArray[np.float64]:
    values = {
        "brightness": picture.brightness,
        "stir": float(np.sqrt(max(np.mean(picture.stir) - np.median(picture.stir), 0.0)))
        if picture.stir.size
        else np.nan,
        "voice_beats": beats(level) if level.size else np.nan,
        "syllables": syllables(transcript) / duration_s if transcript else np.nan,
        "valence": valence(transcript) if transcript else np.nan,
    }
    face = picture.face
    if face is not None:
        values |= {
            "mouth_curve": _event(face.times, face.curve),
            "mouth_width": _event(face.times, face.mouth_width),
            "teeth": _event(face.times, face.teeth),
            "gaze_sideways": abs(_event(face.times, face.gaze_x)),
            "gaze_white": abs(_event(face.times, face.gaze_white)),
            "eyes_wide": _event(face.times, face.eye_open),
            "sweep": float(np.log(_liveliest(picture.sweep) / face.unit**2 + 0.03)),
            "tilt": float(abs(np.median(face.roll))),
            "eye_white": float(np.median(face.eye_white)),
            "face_size": face.unit,
        }
    return np.array([values.get(name, np.nan) for name, _ in FEATURES], dtype=float)


def _liveliest(sweep: NDArray[np.float64]) -> float:
    """Return the mean of the liveliest steps but one, which may be a stray."""
    return float(np.sort(sweep)[-4:-1].mean()) if sweep.size > 3 else 0.0


def _event(times: NDArray[np.float64], track: NDArray[np.float64]) -> float:
    """Return the largest deviation of a track from its usual value, over about a second.

    The usual value differs between faces: it depends on the person, not on events.
    """
    strays = track - np.median(track)
    near = np.abs(times[:, None] - times) <= _EVENT_S / 2
    smooth = near @ strays / near.sum(axis=1)
    return float(smooth[np.argmax(np.abs(smooth))])
