"""A canvas in floating-point pixels, the room behind a person, and the logo."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.person import Cast, Colour

Points = NDArray[np.float64]
"""Corners of a shape, shape (n, 2): x to the right, y down, in units."""
Mask = NDArray[np.float32]
"""How much of a pixel a shape covers, in [0, 1]."""

_SHIFT = 4
"""Bits of sub-pixel precision in OpenCV's drawing calls."""


@dataclass(frozen=True)
class Layer:
    """A finished drawing, ready to be composited onto a frame."""

    left: float
    """Left edge, units."""
    top: float
    """Upper edge, units."""
    scale: float
    """Pixels per unit."""
    pixels: NDArray[np.uint8]
    """Blue, green, red (even where nothing is drawn) and coverage, shape (height, width, 4)."""


class Canvas:
    """Colour and coverage of a layer, with anti-aliased shapes."""

    def __init__(self, box: tuple[float, float, float, float], scale: float, fill: Colour = (0, 0, 0)) -> None:
        self.left, self.top = box[0], box[1]
        self.scale = scale
        width, height = round((box[2] - box[0]) * scale), round((box[3] - box[1]) * scale)
        self.image: NDArray[np.float32] = np.empty((height, width, 3), np.float32)
        self.image[:] = fill
        self.alpha: Mask = np.zeros((height, width), np.float32)

    @classmethod
    def over(cls, layer: Layer, box: tuple[float, float, float, float]) -> "Canvas":
        """Return a canvas with a copy of a part of a layer."""
        x0, y0 = round((box[0] - layer.left) * layer.scale), round((box[1] - layer.top) * layer.scale)
        x1, y1 = round((box[2] - layer.left) * layer.scale), round((box[3] - layer.top) * layer.scale)
        part = cls((0, 0, 0, 0), layer.scale)
        part.left, part.top = layer.left + x0 / layer.scale, layer.top + y0 / layer.scale
        part.image = layer.pixels[y0:y1, x0:x1, :3].astype(np.float32)
        part.alpha = np.zeros(part.image.shape[:2], np.float32)
        return part

    def filled(self, colour: Colour) -> "Canvas":
        """Return a canvas of the same place and size in one colour."""
        other = Canvas((0, 0, 0, 0), self.scale)
        other.left, other.top, other.alpha = self.left, self.top, self.alpha
        other.image = np.empty_like(self.image)
        other.image[:] = colour
        return other

    def layer(self) -> Layer:
        """Return the finished drawing."""
        return Layer(self.left, self.top, self.scale, _rounded(np.dstack((self.image, 255 * self.alpha))))

    def put(self, layer: Layer) -> None:
        """Write the colours of this canvas into a layer."""
        x, y = round((self.left - layer.left) * self.scale), round((self.top - layer.top) * self.scale)
        height, width = self.alpha.shape
        layer.pixels[y : y + height, x : x + width, :3] = _rounded(self.image)

    def grid(self) -> tuple[Mask, Mask]:
        """Return x and y of every pixel, in units; broadcastable."""
        height, width = self.alpha.shape
        xs = self.left + (np.arange(width, dtype=np.float32) + 0.5) / self.scale
        ys = self.top + (np.arange(height, dtype=np.float32) + 0.5) / self.scale
        return xs[None, :], ys[:, None]

    def shape(self, *polygons: Points, blur: float = 0.0) -> Mask:
        """Return the mask of filled polygons; `blur` is the softness of the edge in units."""
        mask = np.zeros(self.alpha.shape, np.uint8)
        for polygon in polygons:
            cv2.fillPoly(mask, [self._pixels(polygon)], 255, cv2.LINE_AA, _SHIFT)
        return self._soft(mask, blur)

    def stroke(self, points: Points, width: float, *, blur: float = 0.0, closed: bool = False) -> Mask:
        """Return the mask of a line of a given width in units."""
        mask = np.zeros(self.alpha.shape, np.uint8)
        thickness = max(round(width * self.scale), 1)
        cv2.polylines(mask, [self._pixels(points)], closed, 255, thickness, cv2.LINE_AA, _SHIFT)
        return self._soft(mask, blur)

    def paint(self, mask: Mask, colour: Colour | NDArray[np.float32], opacity: float = 1.0) -> None:
        """Paint a colour through a mask."""
        weight = mask[..., None] * np.float32(opacity)
        np.add(self.image, weight * (np.asarray(colour, np.float32) - self.image), out=self.image)

    def cover(self, mask: Mask) -> None:
        """Make the layer opaque where the mask is."""
        np.maximum(self.alpha, mask, out=self.alpha)

    def shade(self, mask: Mask, strength: float) -> None:
        """Darken (strength < 0) or lighten (strength > 0) through a mask."""
        np.multiply(self.image, 1 + np.float32(strength) * mask[..., None], out=self.image)

    def _pixels(self, points: Points) -> NDArray[np.int32]:
        pixels = (np.asarray(points) - (self.left, self.top)) * self.scale - 0.5
        return np.round(pixels * (1 << _SHIFT)).astype(np.int32)

    def _soft(self, mask: NDArray[np.uint8], blur: float) -> Mask:
        result: Mask = np.divide(mask, 255, dtype=np.float32)
        if blur > 0:
            result = np.asarray(cv2.GaussianBlur(result, (0, 0), blur * self.scale), np.float32)
        return result


def ellipse(x: float, y: float, width: float, height: float, *, start: float = 0, end: float = 360) -> Points:
    """Return points of an ellipse by centre and half axes; angles in degrees, clockwise from the right."""
    angle = np.radians(np.linspace(start, end, 40))
    return np.stack((x + width * np.cos(angle), y + height * np.sin(angle)), axis=1)


def smooth(points: Sequence[tuple[float, float]] | Points, *, closed: bool = True, steps: int = 8) -> Points:
    """Return a Catmull-Rom curve through points."""
    corners = np.asarray(points, dtype=float)
    padded = (
        np.concatenate((corners[-1:], corners, corners[:2]))
        if closed
        else np.concatenate((corners[:1], corners, corners[-1:]))
    )
    a, b, c, d = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = np.linspace(0, 1, steps, endpoint=False)[:, None, None]
    curve = 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
    flat = curve.transpose(1, 0, 2).reshape(-1, 2)
    return flat if closed else np.concatenate((flat, corners[-1:]))


def mirror(points: Points) -> Points:
    """Return the points reflected left to right."""
    return points * (-1, 1)


def tint(colour: Colour, factor: float) -> Colour:
    """Return a colour made darker (factor < 1) or lighter (factor > 1)."""
    return (min(colour[0] * factor, 255), min(colour[1] * factor, 255), min(colour[2] * factor, 255))


def from_hsv(hue: float, saturation: float, value: float) -> Colour:
    """Return the colour of a hue (0-180), a saturation and a value (each 0-1)."""
    sector = (hue * 2 % 360) / 60

    def channel(offset: float) -> float:
        k = (offset + sector) % 6
        return 255 * (value - value * saturation * max(0.0, min(k, 4 - k, 1.0)))

    return (channel(1), channel(3), channel(5))


def _rounded(image: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.asarray(np.clip(image + 0.5, 0, 255), np.uint8)


_RADIUS = 17
_MIDDLE = (40, 36)
"""Distance of its middle from the corner, pixels."""
_ARMS = 3


class Logo:
    """A disc with turning arms."""

    def __init__(self, boldness: float, *, left: bool, random: np.random.Generator) -> None:
        self.boldness, self.left = boldness, left
        self.disc, self.arm = (from_hsv(float(hue), 0.55, 0.7) for hue in random.uniform(40, 150, 2))
        self.turns_per_s = float(random.uniform(0.3, 0.6))

    def draw(self, frame: NDArray[np.uint8], time_s: float) -> None:
        """Draw the logo onto a frame in place; a bolder logo is more opaque."""
        if self.boldness <= 0:
            return
        x = _MIDDLE[0] if self.left else frame.shape[1] - _MIDDLE[0]
        reach = _RADIUS + 3
        part = frame[_MIDDLE[1] - reach : _MIDDLE[1] + reach, x - reach : x + reach]
        drawn = part.copy()
        cv2.circle(drawn, (reach, reach), _RADIUS, self.disc, -1, cv2.LINE_AA)
        for arm in range(_ARMS):
            angle = 2 * math.pi * (self.turns_per_s * time_s + arm / _ARMS)
            tip = (round(reach + 13 * math.cos(angle)), round(reach + 13 * math.sin(angle)))
            cv2.line(drawn, (reach, reach), tip, (235, 238, 238), 5, cv2.LINE_AA)
        cv2.circle(drawn, (reach, reach), 5, self.arm, -1, cv2.LINE_AA)
        part[:] = cv2.addWeighted(drawn, self.boldness, part, 1 - self.boldness, 0)


SLOTS = ((60, 80), (580, 90), (158, 210), (492, 220), (245, 70), (420, 60), (38, 230), (612, 250))
"""Centres of the places for things, pixels of a 640 x 360 picture; things never overlap."""
REACH = (58, 65)
"""Half width and half height of a thing, including its blur, pixels."""
_KINDS = 4


@dataclass(frozen=True)
class Thing:
    """A thing on or at the wall."""

    kind: int
    """A picture, a shelf of books, a plant or a window."""
    hues: tuple[float, float, float]
    """Hues of its colours, 40-150 in OpenCV's units."""
    seed: int


def choose_things(clutter: float, random: np.random.Generator) -> dict[int, Thing]:
    """Return the thing at each place, by the place's index; `clutter` in [0, 1] sets the number of things."""
    order = random.permutation(len(SLOTS))
    things = [
        Thing(int(random.integers(_KINDS)), tuple(random.uniform(40, 150, 3).tolist()), int(random.integers(2**31)))
        for _ in SLOTS
    ]
    return {int(slot): things[slot] for slot in order[: round(clutter * len(SLOTS))]}


def draw_room(
    cast: Cast, things: Mapping[int, Thing], random: np.random.Generator, width: int, height: int
) -> NDArray[np.uint8]:
    """Return the room with these things, shape (height, width, 3), BGR."""
    wall = np.array(from_hsv(cast.wall_hue, 0.14, cast.wall_light), np.float32)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :, None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None, None]
    side = float(random.choice((-1.0, 1.0)))
    shade = np.clip(1.0 + 0.10 * side * x - 0.08 * y - 0.10 * (x**2 + y**2), 0, 1.2)
    room = np.clip(wall * shade, 0, 255).astype(np.uint8)
    for slot, thing in sorted(things.items()):
        _draw_thing(room, thing, SLOTS[slot])
    return np.asarray(cv2.GaussianBlur(room, (0, 0), 2.6), np.uint8)


def _draw_thing(room: NDArray[np.uint8], thing: Thing, at: tuple[int, int]) -> None:
    x, y = at
    random = np.random.default_rng(thing.seed)
    first, second, third = (from_hsv(hue, 0.45, 0.62) for hue in thing.hues)
    if thing.kind == 0:
        _box(room, x - 44, y - 32, x + 44, y + 32, (62, 60, 58))
        _box(room, x - 38, y - 26, x + 38, y + 26, (226, 228, 226))
        cv2.circle(room, (x - 12, y), 16, first, -1, cv2.LINE_AA)
        cv2.circle(room, (x + 14, y + 6), 12, second, -1, cv2.LINE_AA)
    elif thing.kind == 1:
        _box(room, x - 50, y + 26, x + 50, y + 32, (84, 88, 84))
        left = x - 46
        while left < x + 34:
            step, tall = int(random.integers(8, 15)), int(random.integers(30, 50))
            colour = (first, second, third)[int(random.integers(3))]
            _box(room, left, y + 26 - tall, left + step - 1, y + 26, colour)
            left += step
    elif thing.kind == 2:
        _box(room, x - 14, y + 14, x + 14, y + 44, (150, 152, 150))
        for angle in np.linspace(-1.2, 1.2, 9):
            tip = (int(x + 40 * np.sin(angle)), int(y + 12 - 48 * np.cos(angle)))
            cv2.line(room, (x, y + 14), tip, (74, 128 + int(40 * angle), 70), 7, cv2.LINE_AA)
    else:
        _box(room, x - 46, y - 56, x + 46, y + 50, (236, 236, 232))
        _box(room, x - 40, y - 50, x + 40, y + 44, (236, 214, 178))
        _box(room, x - 2, y - 50, x + 2, y + 44, (236, 236, 232))
        _box(room, x - 40, y - 4, x + 40, y, (236, 236, 232))


def _box(room: NDArray[np.uint8], left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
    cv2.rectangle(room, (left, top), (right, bottom), colour, -1)
