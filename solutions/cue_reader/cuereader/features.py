"""From a clip to the numbers that the linear model weighs. Every number belongs to one cue."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .picture import PictureReading, read_picture
from .speech import RATE, beats, loudness, syllables, valence

FEATURES: tuple[tuple[str, str], ...] = (
    ("mouth_curve", "smile"),
    ("mouth_width", "smile"),
    ("teeth", "smile"),
    ("gaze_sideways", "gaze"),
    ("gaze_white", "gaze"),
    ("nods", "motion"),
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


@dataclass(frozen=True)
class Reading:
    """All that was measured in one clip."""

    values: NDArray[np.float64]
    """In the order of ``FEATURES``; NaN where something could not be measured."""
    picture: PictureReading
    """What the frames show."""
    level: NDArray[np.float64]
    """Loudness of every 20 ms, or empty."""
    transcript: str
    """What is said."""
    duration_s: float
    """Length of the clip."""


def read_clip(clip: Any) -> Reading:  # noqa: ANN401 - the runner owns the type
    """Measure one clip; a pure function of the clip."""
    picture = read_picture(clip)
    sound = clip.audio(RATE)
    level = np.empty(0) if sound is None else loudness(sound)
    transcript, duration_s = clip.transcript, clip.duration_s
    return Reading(_measure(picture, level, transcript, duration_s), picture, level, transcript, duration_s)


def without_seconds(reading: Reading, start_s: float, end_s: float) -> NDArray[np.float64]:
    """Return what would be measured if the picture stood still from `start_s` to `end_s` and nothing were said.

    The shape is that of ``Reading.values``. From the tracks alone: the clip is not looked at again.
    """
    level = reading.level
    if level.size:
        times = (np.arange(level.size) + 0.5) / level.size * reading.duration_s
        level = np.where((start_s <= times) & (times < end_s), np.quantile(level, 0.05), level)
    words = reading.transcript.split()
    moments = [(place + 0.5) / len(words) * reading.duration_s for place in range(len(words))]
    kept = [word for word, time in zip(words, moments, strict=True) if not start_s <= time < end_s]
    return _measure(reading.picture.frozen(start_s, end_s), level, " ".join(kept), reading.duration_s)


def _measure(
    picture: PictureReading, level: NDArray[np.float64], transcript: str, duration_s: float
) -> NDArray[np.float64]:
    values = {
        "brightness": picture.brightness,
        "stir": float(np.sqrt(np.mean(picture.stir))) if picture.stir.size else np.nan,
        "voice_beats": beats(level) if level.size else np.nan,
        "syllables": syllables(transcript) / duration_s if transcript else np.nan,
        "valence": valence(transcript) if transcript else np.nan,
    }
    face = picture.face
    if face is not None:
        values |= {
            "mouth_curve": float(np.mean(face.curve)),
            "mouth_width": float(np.mean(face.mouth_width)),
            "teeth": float(np.mean(face.teeth)),
            "gaze_sideways": float(np.mean(np.abs(face.gaze_x))),
            "gaze_white": float(np.mean(np.abs(face.gaze_white))),
            "nods": float(np.std(face.y) / face.unit),
            "tilt": float(abs(np.median(face.roll))),
            "eye_white": float(np.median(face.eye_white)),
            "face_size": face.unit,
        }
    return np.array([values.get(name, np.nan) for name, _ in FEATURES], dtype=float)
