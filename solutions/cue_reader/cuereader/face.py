"""Find the face, and then its eyes in every frame, by colour alone.

An eye is a patch without skin colour that has skin below it and beside it. Colour is taken as a ratio, so that
light and skin tone matter little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""Shape (height, width, 3), RGB."""
Map = NDArray[np.float32]
"""One number a pixel."""

EYE_DISTANCE = 0.84
"""Distance between the eyes in units: a unit is about half the width of a face."""
UNIT_PIXELS = 40
"""Pixels per unit of an upright face patch."""
PATCH = (-1.1, -0.55, 1.1, 1.35)
"""Left, top, right and bottom of a face patch in units; the origin lies between the eyes."""

_ROWS = 180
"""Height of the pictures in which eyes are looked for, pixels."""
_UNITS = tuple(34 * 1.13**step for step in range(8))
"""Sizes of face to look for, pixels per unit in a picture 360 pixels high."""
_GOOD = 0.12
"""Score from which a pair of eyes is accepted."""
_STEP = 2
"""Pixels from one place that is looked at to the next, across and down; `_centre` finds the rest of the way."""
_NO_PAIR = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class FaceBox:
    """Rough place of the face in a clip."""

    x: float
    """Between the eyes, pixels from the left."""
    y: float
    """Between the eyes, pixels from the top."""
    unit: float
    """Pixels per unit."""
    skin: float
    """Redness of the skin, as `redness` counts it."""


@dataclass(frozen=True)
class Eyes:
    """Places of the eyes in one frame."""

    left: tuple[float, float]
    """Middle of the eye at the left of the picture, pixels."""
    right: tuple[float, float]
    """Middle of the eye at the right of the picture, pixels."""

    @property
    def middle(self) -> tuple[float, float]:
        """The point between the eyes, pixels."""
        return ((self.left[0] + self.right[0]) / 2, (self.left[1] + self.right[1]) / 2)

    @property
    def distance(self) -> float:
        """Distance between the eyes, pixels."""
        return float(np.hypot(self.right[0] - self.left[0], self.right[1] - self.left[1]))

    @property
    def roll(self) -> float:
        """Tilt of the head, degrees, clockwise."""
        return float(np.degrees(np.arctan2(self.right[1] - self.left[1], self.right[0] - self.left[0])))


def find_face(frames: Sequence[Frame]) -> FaceBox | None:
    """Return where the face is, or None; the median over the frames in which a good pair of eyes is found."""
    faces = []
    for frame in frames:
        scale = frame.shape[0] / _ROWS
        size = (round(frame.shape[1] / scale), _ROWS)
        small = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
        red, grey = redness(small), brightness(small)
        pairs = [(_best_pair(red, grey, 0.5 * unit, (0.0, 0.0, 0.0)), 0.5 * unit) for unit in _UNITS]
        (score, x, y, _), unit = max(pairs)
        rows = slice(round(y + 0.2 * unit), round(y + 0.56 * unit))
        cheeks = red[rows, round(x - 0.5 * unit) : round(x + 0.5 * unit)]
        if score > _GOOD and cheeks.size:
            faces.append((x * scale, y * scale, unit * scale, float(np.median(cheeks))))
    if not faces:
        return None
    x, y, unit, skin = (float(v) for v in np.median(np.array(faces), axis=0))
    return FaceBox(x, y, unit, max(skin, 0.02))


def find_eyes(frame: Frame, box: FaceBox) -> Eyes | None:
    """Return the eyes near the expected place, or None."""
    unit = box.unit
    x0, x1 = max(round(box.x - 1.3 * unit), 0), min(round(box.x + 1.3 * unit), frame.shape[1])
    y0, y1 = max(round(box.y - 0.7 * unit), 0), min(round(box.y + 1.1 * unit), frame.shape[0])
    if x1 - x0 < 1.5 * unit or y1 - y0 < unit:
        return None
    scale = frame.shape[0] / _ROWS
    size = (round((x1 - x0) / scale), round((y1 - y0) / scale))
    part = np.asarray(cv2.resize(frame[y0:y1, x0:x1], size, interpolation=cv2.INTER_AREA), np.uint8)
    across, down, unit = (x1 - x0) / size[0], (y1 - y0) / size[1], unit / scale
    red, grey = redness(part), brightness(part)
    odd = oddness(red, grey, unit)
    score, x, y, rise = _best_pair(red, grey, unit, ((box.x - x0) / across, (box.y - y0) / down, 0.1), odd)
    if score < 0.5 * _GOOD:
        return None
    half = EYE_DISTANCE / 2 * unit
    places = (_centre(odd, x + side * half, y + side * rise / 2, unit) for side in (-1, 1))
    # The middle of a small pixel lies between the pixels that it stands for.
    left, right = (((x + 0.5) * across - 0.5 + x0, (y + 0.5) * down - 0.5 + y0) for x, y in places)
    return Eyes(left, right)


def oddness(red: Map, grey: Map, unit: float) -> Map:
    """Return how little a pixel looks like the skin around it, 0 to 1: paler, brighter or darker."""
    size = _odd(1.2 * unit, 1.2 * unit)
    local = cv2.blur(grey, size) + 0.015
    pale = 1 - red / np.maximum(cv2.blur(red, size), 0.03)
    dark, bright = 1.2 * (0.75 - grey / local), 2 * (grey / local - 1.12)
    return np.asarray(np.clip(np.maximum(np.maximum(pale, dark), bright), 0, 1), np.float32)


def _best_pair(
    red: Map, grey: Map, unit: float, near: tuple[float, float, float], odd: Map | None = None
) -> tuple[float, float, float, float]:
    """Return score, x, y of the point between the best pair of eyes and how much lower the right one is.

    Only places with skin around them are looked at.

    Parameters
    ----------
    red, grey
        Redness and brightness of the pixels.
    unit
        Pixels per unit.
    near
        Expected x and y, and how much a unit of distance from there costs.
    odd
        Oddness of the pixels, if it is known already.
    """
    height, width = red.shape
    half, down, nose, brow = (round(part * unit) for part in (EYE_DISTANCE / 2, 0.38, 0.3, 0.5))
    skin: Map = np.asarray(cv2.blur(np.clip((red - 0.02) / 0.02, 0, 1), _odd(0.26 * unit, 0.22 * unit)), np.float32)
    if height <= brow + down or width <= 2 * half:
        return _NO_PAIR

    def neighbour(right: int, below: int) -> Map:
        return skin[brow + below : height - down + below, half + right : width - half + right]

    around = np.minimum(neighbour(0, 0), neighbour(0, nose))
    for other in (neighbour(0, -brow), neighbour(half, down), neighbour(-half, down)):
        np.minimum(around, other, out=around)
    around = around[::_STEP, ::_STEP]
    y, x = np.nonzero(around > 0.5 * _GOOD)  # no score is higher than this
    if not x.size:
        return _NO_PAIR
    around = around[y, x]
    y, x = _STEP * y + brow, _STEP * x + half
    # What follows looks no further than this.
    far, wide = round(1.2 * unit), round(1.6 * unit)
    top, left = max(int(y.min()) - far, 0), max(int(x.min()) - wide, 0)
    part = slice(top, int(y.max()) + far), slice(left, int(x.max()) + wide)
    red, grey, y, x = red[part], grey[part], y - top, x - left
    near_x, near_y = near[0] - left, near[1] - top
    bare = oddness(red, grey, unit) if odd is None else odd[part]
    # An eye is small, whereas the wall beside the head and the teeth are pale all around.
    pale = cv2.blur(bare, _odd(0.42 * unit, 0.18 * unit)) - cv2.blur(bare, _odd(0.85 * unit, 0.5 * unit))
    reach = np.ones(_odd(0.3 * unit, 0.35 * unit)[::-1], np.uint8)
    lips = np.asarray(cv2.dilate(cv2.blur(red, _odd(0.1 * unit, 0.1 * unit)), reach), np.float32)
    height, width = red.shape
    pixel = y * width + x  # NumPy finds pixels faster by one number than by two
    lower = y + round(0.82 * unit)
    lip = np.where(lower < height, lips.take(np.minimum(lower, height - 1) * width + x), 0)
    mouth = np.clip(3 * (lip / np.maximum(red.take(pixel + nose * width), 0.03) - 1), 0.3, 1)
    cost = near[2] * (((x - near_x) / unit) ** 2 + ((y - near_y) / unit) ** 2)
    best = _NO_PAIR
    for rise in np.array((-0.14, -0.07, 0, 0.07, 0.14)) * unit:
        to_eye = round(rise / 2) * width + half
        pair = np.minimum(pale.take(pixel - to_eye), pale.take(pixel + to_eye))
        score = np.maximum(pair, 0) * around * mouth - cost
        at = int(score.argmax())
        if score[at] > best[0]:
            best = (float(score[at]), float(x[at] + left), float(y[at] + top), float(rise))
    return best


def face_patch(frame: Frame, middle: tuple[float, float], unit: float, roll: float) -> Frame:
    """Return the face upright and at one size, shape (76, 88, 3)."""
    scale = unit / UNIT_PIXELS
    c, s = scale * np.cos(np.radians(roll)), scale * np.sin(np.radians(roll))
    origin = np.array((PATCH[0], PATCH[1])) * UNIT_PIXELS + 0.5
    matrix = np.array([[c, -s, 0.0], [s, c, 0.0]])
    matrix[:, 2] = matrix[:, :2] @ origin + middle
    size = (round((PATCH[2] - PATCH[0]) * UNIT_PIXELS), round((PATCH[3] - PATCH[1]) * UNIT_PIXELS))
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(frame, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def redness(pixels: Frame) -> Map:
    """Return how much red exceeds green and blue, as a share of all three: the same in any light."""
    red, green, blue = (np.ascontiguousarray(pixels[..., i]).astype(np.float32) for i in range(3))
    return np.asarray((red - np.maximum(green, blue)) / (red + green + blue + 12), np.float32)


def brightness(pixels: Frame) -> Map:
    """Return the brightness of every pixel, 0 to 1."""
    return np.asarray(
        cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY).astype(np.float32) / 255, np.float32
    )


def paleness(red: Map, skin: float | Map) -> Map:
    """Return how little skin colour a pixel has, 0 to 1, by its redness: the white of an eye and teeth have none."""
    return np.asarray(np.clip((skin - red) / skin, 0, 1), np.float32)


def _centre(pale: Map, x: float, y: float, unit: float) -> tuple[float, float]:
    """Return the centre of the pale pixels near a point, by two steps of mean shift."""
    height, width = pale.shape
    for _ in range(2):
        x0, x1 = max(round(x - 0.3 * unit), 0), min(round(x + 0.3 * unit) + 1, width)
        y0, y1 = max(round(y - 0.16 * unit), 0), min(round(y + 0.16 * unit) + 1, height)
        weight = pale[y0:y1, x0:x1] ** 2
        total = float(weight.sum())
        if total < 1e-3:
            break
        x = float((weight.sum(axis=0) * np.arange(x0, x1)).sum()) / total
        y = float((weight.sum(axis=1) * np.arange(y0, y1)).sum()) / total
    return x, y


def _odd(width: float, height: float) -> tuple[int, int]:
    return (max(int(width) | 1, 3), max(int(height) | 1, 3))
