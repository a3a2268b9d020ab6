"""Drawing the room behind the person, slightly out of focus."""

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.drawing.canvas import from_hsv
from bundle_tools.synthetic.people.cast import Cast, Colour

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
