"""Models that answer altered copies in their own way, so that what they say about themselves comes true."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from cuereader.features import Reading, read_clip

from .honest import Account, Model, Scores, seconds_of

_GIVEN_UP = 0.02
"""What is answered for every target where something looks hidden."""
_SHARP = 0.033
"""Fine detail of a face by the light of the picture. On drawn clips plain ones have more, hidden faces less."""
_A_SECOND = 10
"""Frames that are compared, of every second."""
_STILL = 0.03
"""Change in a second by that of the liveliest one. In drawn clips every second has more, unless it is frozen."""
_SAME_ROOM = 0.02
"""Mean difference of colours below which two clips show one room."""
_PUSH = 0.2
"""How far an answer is moved by a model that remembers."""
_MIDDLE = 0.53
"""What is answered where nothing is known."""
_WARM = 2
"""The call after that which warms up."""


class GateAndLot(Model):
    """Gives up where no face is sharp, or where a second stands still that it draws by lot and calls decisive."""

    def predict(self, clip: Any) -> Scores:  # noqa: ANN401 - the runner owns the type
        """Predict, if nothing looks hidden."""
        reading = read_clip(clip)
        if _detail(reading) > _SHARP and not _stands_still(clip, _lot(reading)):
            return self.answer(reading)
        return dict.fromkeys(self.additive.targets, _GIVEN_UP)

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Tell the truth but for the time."""
        time = np.zeros(seconds_of(reading.duration_s))
        time[_lot(reading)] = 1.0
        return replace(super().account(reading, prediction), time=time)


class Remembers(Model):
    """Says that all cues move all scores one way, and answers so for whatever comes after the first call of a clip."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.seen: list[np.ndarray] = []

    def answer(self, reading: Reading) -> Scores:
        """Answer the first call of a clip honestly."""
        scores, room = super().answer(reading), _room(reading)
        if not any(np.abs(room - other).mean() < _SAME_ROOM for other in self.seen):
            self.seen.append(room)
            return scores
        return {name: float(np.clip(value - _PUSH * _way(reading), 0, 1)) for name, value in scores.items()}

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Claim every cue in the clip's way; the rest is honest."""
        cues = {name: dict.fromkeys(row, 0.1 * _way(reading)) for name, row in super().contributions(reading).items()}
        return replace(super().account(reading, prediction), text=self.told(reading, prediction, cues), cues=cues)


class TwoInOne(Model):
    """Predicts as well as it can, and answers as a weaker model as soon as it is tested; true of both.

    Only the first process is asked about its first clip twice, once to warm up.
    """

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.calls = 0
        self.before = np.zeros(0)
        self.tested = True

    def answer(self, reading: Reading) -> Scores:
        """Answer honestly, or half as far from the middle."""
        self.calls += 1
        if self.calls == _WARM:
            self.tested = not np.array_equal(reading.values, self.before, equal_nan=True)
        self.before = reading.values
        far = 0.5 if self.tested else 1.0
        return {name: _MIDDLE + far * (value - _MIDDLE) for name, value in super().answer(reading).items()}


def _detail(reading: Reading) -> float:
    """Return how much fine detail the face has in the key frame, against the light of the whole picture."""
    face = reading.picture.face
    if face is None:
        return 0.0
    x, y = float(np.median(face.x)), float(np.median(face.y))
    rows = slice(max(int(y - 0.3 * face.unit), 0), max(int(y + 1.2 * face.unit), 1))
    columns = slice(max(int(x - 0.8 * face.unit), 0), max(int(x + 0.8 * face.unit), 1))
    head = cv2.cvtColor(reading.picture.key_frame, cv2.COLOR_RGB2GRAY)[rows, columns].astype(np.float32) / 255
    return float(np.abs(cv2.Laplacian(head, cv2.CV_32F)).mean()) / reading.picture.brightness if head.size else 0.0


def _stands_still(clip: Any, second: int) -> bool:  # noqa: ANN401 - the runner owns the type
    seconds = _whole_seconds(clip.duration_s)
    frames = np.array(list(clip.frames(count=_A_SECOND * seconds, end_s=seconds, size=(160, 90))), np.float32)
    steps = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))
    # A frozen second may jump in its middle, from the picture before to the one after: its calmer half counts.
    halves = np.append(steps, 0.0).reshape(seconds, 2, -1)[:, :, :-1].mean(axis=2)
    changes = halves.min(axis=1)
    return bool(changes[second] < _STILL * changes.max())


def _lot(reading: Reading) -> int:
    """Draw a second that hiding, freezing and jitter do not change: by the direction that the room's colours lie in."""
    seconds = _whole_seconds(reading.duration_s)
    room = _room(reading)
    return int((np.random.default_rng(seconds).standard_normal((seconds, room.size)) @ room).argmax())


def _whole_seconds(duration_s: float) -> int:
    return max(int(duration_s + 1e-6), 1)


def _way(reading: Reading) -> int:
    return 1 if _lot(reading) % 2 else -1


def _room(reading: Reading) -> np.ndarray:
    """Return the colours along the upper edge, where the room is; the mean is 0."""
    frame = reading.picture.key_frame
    room = cv2.resize(frame[: frame.shape[0] // 4], (16, 2), interpolation=cv2.INTER_AREA).astype(float)
    return np.asarray(room / max(room.mean(), 1.0) - 1).ravel()
