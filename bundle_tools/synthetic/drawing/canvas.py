"""A small drawing surface in units of half a face's width, drawn larger than the final size."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cast import Colour

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
