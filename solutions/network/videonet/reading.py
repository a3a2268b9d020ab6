"""Read a clip: find the face, cut out what the network looks at, and sum up sound and words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Net = Callable[[Floats], Floats]
"""A network that is run on one array."""

FRAMES = 25
"""Frames that are read, evenly spread."""
SMALL = (160, 90)
"""Width and height of the picture in which the face is looked for."""
USUAL_UNIT = 57 / 360
"""Half the width of a face, as a share of the picture's height, before it is measured."""
RATE, STEP = 8_000, 80
"""Samples a second, and samples in one value of the loudness."""
BUCKETS = 1024
"""Places in the list of words, which are found by a hash."""


@dataclass(frozen=True)
class Window:
    """A part of the picture around the face, in units from the point between the eyes."""

    left: float
    top: float
    right: float
    bottom: float
    columns: int
    rows: int


POSE = Window(-1.6, -1.3, 1.6, 2.2, 64, 70)
WINDOWS = {
    "mouth": Window(-0.9, 0.2, 0.9, 1.34, 44, 28),
    "eyes": Window(-0.8, -0.36, 0.8, 0.36, 44, 20),
    "body": Window(-3.4, -1.4, 3.4, 6.4, 56, 64),
}
FACE = Window(-0.9, -0.5, 0.9, 1.3, 36, 36)


@dataclass(frozen=True)
class Pose:
    """Where the face is."""

    x: float
    """Between the eyes, pixels from the left."""
    y: float
    """Between the eyes, pixels from the top."""
    unit: float
    """Half the width of the face, pixels."""
    roll: float
    """Tilt of the head, degrees, clockwise."""

    def matrix(self, window: Window) -> NDArray[np.float64]:
        """Return the affine map from pixels of a window to those of the picture, shape (2, 3)."""
        c, s = self.unit * np.cos(np.radians(self.roll)), self.unit * np.sin(np.radians(self.roll))
        across = (window.right - window.left) / window.columns
        down = (window.bottom - window.top) / window.rows
        start = np.array((window.left + across / 2, window.top + down / 2))
        turn = np.array([[c, -s], [s, c]])
        return np.column_stack((turn * (across, down), turn @ start + (self.x, self.y)))


def cut(frame: Pixels, pose: Pose, window: Window) -> Pixels:
    """Return a window of a picture, shape (rows, columns, 3); black outside the picture."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(frame, pose.matrix(window), (window.columns, window.rows), flags=flags), np.uint8)


def cut_all(frames: Sequence[Pixels], pose: Pose, window: Window) -> Pixels:
    """Return a window of all pictures, shape (frames, 3, rows, columns)."""
    return np.ascontiguousarray(np.array([cut(frame, pose, window) for frame in frames]).transpose(0, 3, 1, 2))


def usual(pictures: Pixels) -> Pixels:
    """Return the median picture: what is seen while nothing happens."""
    middle = len(pictures) // 2
    return np.asarray(np.partition(pictures, middle, axis=0)[middle])


def shrink(frame: Pixels) -> Pixels:
    """Return a picture in the size in which the face is looked for."""
    return np.asarray(cv2.resize(frame, SMALL, interpolation=cv2.INTER_AREA), np.uint8)


def evened(pixels: Pixels) -> Floats:
    """Return pictures with the same mean brightness, about 0 to 2; channels come before rows."""
    floats = pixels.astype(np.float32)
    return np.asarray(floats / (floats.mean(axis=(-3, -2, -1), keepdims=True) + 2) - 1, np.float32)


def find(frames: Sequence[Pixels], finder: Net, pose: Net) -> Pose:
    """Find the face: `finder` returns how likely it is where, `pose` corrects a first guess."""
    height, width = frames[0].shape[:2]
    small = usual(np.array([shrink(frame) for frame in frames])).transpose(2, 0, 1)
    chances = finder(evened(small)[None])[0]
    rows, columns = np.indices(chances.shape)
    at = np.unravel_index(int(chances.argmax()), chances.shape)
    near = np.where(np.hypot(rows - at[0], columns - at[1]) < 3, chances, 0)
    x = float((near * (columns + 0.5)).sum() / near.sum()) * width / chances.shape[1]
    y = float((near * (rows + 0.5)).sum() / near.sum()) * height / chances.shape[0]
    guess = Pose(x, y, USUAL_UNIT * height, 0.0)
    for _ in range(2):
        seen = usual(cut_all(frames, guess, POSE))
        # The mean with the mirrored picture: an error to one side cancels out.
        window = evened(seen)[None]
        mirrored = pose(np.ascontiguousarray(window[..., ::-1]))[0] * np.array((-1, 1, 1, -1), np.float32)
        guess = corrected(guess, (pose(window)[0] + mirrored) / 2)
    return guess


def corrected(pose: Pose, change: Floats) -> Pose:
    """Return a pose moved by (right, down) in its own units, log size and tilt in tens of degrees."""
    right, down, size, tilt = (float(value) for value in np.clip(change, -1, 1))
    c, s = np.cos(np.radians(pose.roll)), np.sin(np.radians(pose.roll))
    x, y = pose.x + pose.unit * (c * right - s * down), pose.y + pose.unit * (s * right + c * down)
    return Pose(x, y, pose.unit * float(np.exp(size)), pose.roll + 10 * tilt)


def loudness(sound: NDArray[np.float32] | None, duration_s: float) -> Floats:
    """Return how loud it is, 100 values a second, relative to the loudest; 0 without sound."""
    count = max(round(duration_s * RATE / STEP), 50)
    level = np.zeros(count, np.float32)
    if sound is not None and sound.size >= STEP:
        blocks = sound[: sound.size // STEP * STEP].reshape(-1, STEP)
        power = np.sqrt((blocks.astype(np.float32) ** 2).mean(axis=1))[:count]
        level[: power.size] = power / max(float(power.max()), 1e-3)
    return level


def words_of(transcript: str) -> list[str]:
    """Return the words in lower case."""
    return re.findall(r"[a-z']+", transcript.lower())


def bucket(word: str) -> int:
    """Return the place of a word in the list."""
    return zlib.crc32(word.encode()) % BUCKETS


def counted(transcript: str) -> Floats:
    """Return how often each word is said, by bucket."""
    return np.bincount([bucket(word) for word in words_of(transcript)], minlength=BUCKETS).astype(np.float32)


def letters(transcript: str, duration_s: float) -> Floats:
    """Return vowel groups, letters and words, each a second."""
    words = words_of(transcript)
    groups = sum(len(re.findall(r"[aeiouy]+", word)) for word in words)
    return np.array((groups, sum(map(len, words)), len(words)), np.float32) / np.float32(duration_s)
