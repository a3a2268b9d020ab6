"""Measurements of the frames of a clip, frame by frame and summarised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from .face import (
    EYE_DISTANCE,
    PATCH,
    UNIT_PIXELS,
    Eyes,
    FaceBox,
    Frame,
    Map,
    brightness,
    face_patch,
    find_eyes,
    find_face,
    paleness,
    redness,
)

if TYPE_CHECKING:
    from contract import Clip

FRAMES = 30
"""Frames that are measured, evenly spread."""

CLEARLY = 0.15
"""Change of a pixel, relative to the mean brightness, that exceeds noise."""

Track = NDArray[np.float64]
"""One number a frame, shape (frames,)."""


@dataclass(frozen=True)
class FaceTracks:
    """Measurements of each frame in which the eyes were found."""

    times: Track
    """Seconds."""
    x: Track
    """Between the eyes, pixels from the left."""
    y: Track
    """Between the eyes, pixels from the top."""
    unit: float
    """Half the width of the face, pixels."""
    roll: Track
    """Tilt of the head, degrees."""
    curve: Track
    """How much the corners of the mouth rise over its middle, units; negative when they hang."""
    mouth_width: Track
    """Spread of the lips sideways, units."""
    teeth: Track
    """Share of the mouth that shows teeth."""
    gaze_x: Track
    """Offset of the iris sideways against the middle of the eye, units."""
    gaze_white: Track
    """Offset of the iris sideways against the white of the eye, units."""
    eye_white: Track
    """Brightness of the white of the eyes, 0-1: a measure of the light that hardly depends on the person."""
    eye_open: Track
    """Height of what is dark at the upper lid over the middle of the eye, units: more when the eye is wide open."""


@dataclass(frozen=True)
class PictureReading:
    """Measurements of a clip's frames."""

    face: FaceTracks | None
    """None if no face was found."""
    brightness: float
    """Mean brightness of all pixels, 0-1."""
    stir_map: NDArray[np.float64]
    """How much each place of the lower half changes at most in a step, 0-1, shape (36, 64)."""
    stir: Track
    """Change of the lower half of the picture from frame to frame, 0-1; shape (frames - 1,)."""
    sweep: Track
    """How much of the lower half changes clearly from frame to frame, pixels of a clip's frame; shape (frames - 1,)."""
    key_frame: Frame
    """The frame in the middle of the clip."""
    key_eyes: Eyes | None
    """The eyes in the key frame, if found."""
    duration_s: float
    """Length of the clip."""

    @property
    def sweep_times(self) -> Track:
        """Seconds in the middle of each step from frame to frame."""
        return np.asarray((np.arange(self.sweep.size) + 1.0) * self.duration_s / (self.sweep.size + 1))


def read_picture(clip: Clip) -> PictureReading:
    """Measure a clip's frames."""
    frames = list(clip.frames(count=FRAMES))
    level = max(float(np.mean([cv2.mean(frame)[:3] for frame in frames[::5]])) / 255, 0.02)
    half = frames[0].shape[0] // 2
    pixels = frames[0].shape[0] * frames[0].shape[1] / (160 * 90)
    # Every other row: as good for what moves, at half the cost.
    small = [_shrunk(frame[half::2], (160, 45)) for frame in frames]
    stir, clearly, moved = [], [], []
    for before, after in pairwise(small):
        change = cv2.absdiff(after, before)
        stir.append(float(np.mean(cv2.mean(change)[:3])) / level)
        # Channel by channel: NumPy is slow along an axis of three.
        red, green, blue = cv2.split(change)
        clearly.append(np.count_nonzero(cv2.max(cv2.max(red, green), blue) > CLEARLY * level))
        moved.append((red + green + blue) / 3)
    changes = np.zeros((90, 160), np.float32)
    changes[45:] = np.max(moved, axis=0) if moved else 0
    stir_map = np.asarray(cv2.resize(changes, (64, 36), interpolation=cv2.INTER_AREA), np.float64)
    box = find_face(frames[len(frames) // 4 :: max(len(frames) // 2, 1)])
    eyes = [None if box is None else find_eyes(frame, box) for frame in frames]
    times = (np.arange(len(frames)) + 0.5) * clip.duration_s / len(frames)
    middle = len(frames) // 2
    return PictureReading(
        face=None if box is None else _read_face(frames, eyes, box, times),
        brightness=level,
        stir_map=stir_map / max(float(stir_map.max()), 1e-6),
        stir=np.array(stir),
        sweep=pixels * np.array(clearly, float),
        key_frame=frames[middle].copy(),  # kept until the next clip, whereas the memory of the others is used again
        key_eyes=eyes[middle],
        duration_s=clip.duration_s,
    )


def _shrunk(frame: Frame, size: tuple[int, int]) -> Map:
    """Return a picture of this size, width first; brightness 0 to 1."""
    return np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255, np.float32)


def _read_face(frames: list[Frame], eyes: list[Eyes | None], box: FaceBox, times: Track) -> FaceTracks | None:
    pairs = [(frame, pair, time) for frame, pair, time in zip(frames, eyes, times, strict=True) if pair is not None]
    if len(pairs) < 3:
        return None
    unit = float(np.median([pair.distance for _, pair, _ in pairs])) / EYE_DISTANCE
    roll = float(np.median([pair.roll for _, pair, _ in pairs]))
    patches = np.stack([face_patch(frame, pair.middle, unit, roll) for frame, pair, _ in pairs])
    red = redness(patches)
    seen = np.array([(time, *pair.middle, pair.roll) for _, pair, time in pairs]).T
    return FaceTracks(seen[0], seen[1], seen[2], unit, seen[3], *_mouths(red), *_looks(patches, red, box.skin))


def _window(x0: float, y0: float, x1: float, y1: float) -> tuple[slice, slice, slice]:
    """Return where in face patches, shape (frames, height, width), a part lies that is given in units."""
    return (
        slice(None),
        slice(round((y0 - PATCH[1]) * UNIT_PIXELS), round((y1 - PATCH[1]) * UNIT_PIXELS)),
        slice(round((x0 - PATCH[0]) * UNIT_PIXELS), round((x1 - PATCH[0]) * UNIT_PIXELS)),
    )


def _mouths(red: Map) -> tuple[Track, Track, Track]:
    """Return the curve of the lips, their width and the share of teeth, by the redness of face patches."""
    skin = np.median(red[_window(-0.6, 0.2, 0.6, 0.5)], axis=(1, 2))[:, None, None]
    weight: Map = np.clip(red[_window(-0.6, 0.48, 0.6, 1.22)] - 1.12 * skin - 0.012, 0, 0.08)
    _, height, width = weight.shape
    weight *= _ellipse(height, width)  # hair may hang beside the chin
    x = (np.arange(width) + 0.5 - width / 2) / UNIT_PIXELS
    y = (np.arange(height) + 0.5) / UNIT_PIXELS
    columns = weight.sum(axis=1, dtype=np.float64)
    total = columns.sum(axis=1) + 1e-6
    aside = x - (columns @ x / total)[:, None]
    spread = np.sqrt((columns * aside**2).sum(axis=1) / total)
    # The middle line of the lips as a parabola, weighted by how red they are.
    heights = np.einsum("nyx,y->nx", weight, y) / (columns + 1e-6)
    design = np.stack((np.ones_like(aside), aside, aside**2), axis=2)
    scaled = (design * columns[..., None]).transpose(0, 2, 1)
    solution = np.linalg.solve(scaled @ design + 1e-4 * np.eye(3), scaled @ heights[..., None])
    teeth = paleness(red[_window(-0.4, 0.62, 0.4, 1.1)], np.maximum(skin, 0.02)) > 0.5
    return -solution[:, 2, 0] * spread**2, spread, teeth.mean(axis=(1, 2))


@cache
def _ellipse(height: int, width: int) -> NDArray[np.bool_]:
    down, across = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    inside: NDArray[np.bool_] = down**2 + across**2 < 1
    return inside


def _looks(patches: Frame, red: Map, skin: float) -> tuple[Track, Track, Track, Track]:
    """Return the offset of the irises against eyes and white, how bright the white is, and how open the eyes are."""
    grey = brightness(patches.reshape(-1, *patches.shape[2:])).reshape(red.shape)
    pale = paleness(red, skin)
    measured = []
    for side in (-1, 1):
        middle = side * EYE_DISTANCE / 2
        cheek = np.median(grey[_window(middle - 0.2, 0.25, middle + 0.2, 0.4)], axis=(1, 2))[:, None, None]
        where = _window(middle - 0.27, -0.07, middle + 0.27, 0.11)  # below the lashes
        light = grey[where]
        # The columns that are darkest between the lids.
        columns = grey[_window(middle - 0.27, -0.065, middle + 0.27, 0.06)].mean(axis=1)
        dark = np.clip(np.quantile(columns, 0.15, axis=1, keepdims=True) - columns, 0, 1) ** 2
        white = np.clip(
            pale[where] ** 2 * (light > 0.7 * cheek) + 2 * np.clip(light / np.maximum(cheek, 0.02) - 1.05, 0, 1), 0, 1
        ).sum(axis=1)
        iris = _middle(dark)
        rows = grey[_window(middle - 0.17, -0.22, middle + 0.17, -0.02)].mean(axis=2)
        lid = np.clip(np.median(rows, axis=1, keepdims=True) - rows, 0, 1) ** 2
        bright = np.quantile(light, 0.93, axis=(1, 2))
        measured.append((iris - 0.27, iris - _middle(white), bright, -_middle(lid)))
    of_eye, of_white, bright, high = np.mean(measured, axis=0)
    return of_eye, of_white, bright, high


def _middle(weights: Map) -> Track:
    """Return the weighted middle of each row of weights, units from its start."""
    middle = weights @ np.arange(weights.shape[1]) / (weights.sum(axis=1) + 1e-6) / UNIT_PIXELS
    return np.asarray(middle, np.float64)
