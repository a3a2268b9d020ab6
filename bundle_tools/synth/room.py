"""Drawing the room behind the person, slightly out of focus."""

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synth.canvas import from_hsv
from bundle_tools.synth.cast import Cast, Colour

_SLOTS = ((60, 80), (580, 90), (150, 210), (500, 220), (245, 70), (420, 60), (40, 230), (610, 250))
"""Middles of the places where things hang or stand, pixels of a 640 x 360 picture."""


def draw_room(cast: Cast, clutter: float, random: np.random.Generator, width: int, height: int) -> NDArray[np.uint8]:
    """Return the room, shape (height, width, 3), BGR; `clutter` in [0, 1] sets how many things there are."""
    wall = np.array(from_hsv(cast.wall_hue, 0.14, cast.wall_light), np.float32)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :, None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None, None]
    side = float(random.choice((-1.0, 1.0)))
    shade = np.clip(1.0 + 0.10 * side * x - 0.08 * y - 0.10 * (x**2 + y**2), 0, 1.2)
    room = np.clip(wall * shade, 0, 255).astype(np.uint8)
    order = random.permutation(len(_SLOTS))
    kinds = random.integers(0, 4, len(_SLOTS))
    hues = random.uniform(40, 150, (len(_SLOTS), 3))
    for number in range(round(clutter * len(_SLOTS))):
        slot = order[number]
        _draw_thing(room, int(kinds[slot]), _SLOTS[slot], hues[slot], random)
    return np.asarray(cv2.GaussianBlur(room, (0, 0), 2.6), np.uint8)


def _draw_thing(
    room: NDArray[np.uint8], kind: int, at: tuple[int, int], hues: NDArray[np.float64], random: np.random.Generator
) -> None:
    x, y = at
    first, second, third = (from_hsv(float(hue), 0.45, 0.62) for hue in hues)
    if kind == 0:
        _box(room, x - 44, y - 32, x + 44, y + 32, (62, 60, 58))
        _box(room, x - 38, y - 26, x + 38, y + 26, (226, 228, 226))
        cv2.circle(room, (x - 12, y), 16, first, -1, cv2.LINE_AA)
        cv2.circle(room, (x + 14, y + 6), 12, second, -1, cv2.LINE_AA)
    elif kind == 1:
        _box(room, x - 56, y + 26, x + 56, y + 32, (84, 88, 84))
        left = x - 50
        while left < x + 42:
            step, tall = int(random.integers(8, 15)), int(random.integers(30, 50))
            colour = (first, second, third)[int(random.integers(3))]
            _box(room, left, y + 26 - tall, left + step - 1, y + 26, colour)
            left += step
    elif kind == 2:
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
