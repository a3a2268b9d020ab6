"""Compose a frame: room, person, logo, light and grain."""

import math
from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.body import HAND_OUTLINE, NECK_Y, Performance, draw_body, draw_hand
from bundle_tools.synthetic.canvas import Layer, Logo, Points, Thing, draw_room, from_hsv
from bundle_tools.synthetic.face import EYES_BOX, MOUTH_BOX, draw_back_hair, draw_expression, draw_head
from bundle_tools.synthetic.person import Cast, Cues, stream

WIDTH, HEIGHT = 640, 360

Picture = NDArray[np.uint8]
"""Shape (360, 640, 3), BGR."""

_SMALLEST, _LARGEST = 44.0, 74.0
"""Half the width of a face in pixels at framing 0 and 1."""
_DIMMEST, _BRIGHTEST = 0.42, 1.04
"""Gain of all light at lighting 0 and 1."""
_MARGIN_X, _MARGIN_TOP, _MARGIN_BOTTOM = 1.25, 1.65, 2.0
"""Least distance of the middle of a face from the edges of the picture, units."""
_NEAREST = 0.7
"""Least distance of a face from the middle of the picture, as a share of the largest."""
_PIVOT = (0.0, 1.3)
"""Point around which the head tilts, units."""
_LEAST_RAISED = 0.01
"""A hand that is raised less is not drawn."""
_SUPERSAMPLING = 1.6
_GRAINS = 6


class Scene:
    """Draws the frames of one clip."""

    def __init__(
        self, seed: int, cast: Cast, cues: Cues, performance: Performance, things: Mapping[int, Thing]
    ) -> None:
        self.cast, self.cues, self.acts = cast, cues, performance
        random = stream(seed, "place")
        self.scale = _SMALLEST + (_LARGEST - _SMALLEST) * cues.framing
        self.x, self.y = _place_head(random, self.scale)
        light = float(random.choice((-1.0, 1.0)) * random.uniform(0.5, 1.0))
        drawn = _SUPERSAMPLING * self.scale
        self.room = draw_room(cast, things, stream(seed, "wall"), WIDTH, HEIGHT)
        self.body = draw_body(cast, drawn, cues.clothing, light)
        self.head = draw_head(cast, drawn, stream(seed, "hair"), light)
        self.hair = draw_back_hair(cast, drawn, stream(seed, "hair"))
        self.hand = draw_hand(cast, drawn, cues.clothing)
        levels = np.arange(256) * (_DIMMEST + (_BRIGHTEST - _DIMMEST) * cues.lighting)
        self.light = np.clip(np.round(levels), 0, 255).astype(np.uint8)
        self.mobile = from_hsv(float(random.uniform(40, 150)), 0.5, 0.7)
        self.mobile_x = random.uniform(60, WIDTH - 60)
        self.logo = Logo(cues.logo, left=self.x > WIDTH / 2, random=stream(seed, "logo"))
        grain = np.round(stream(seed, "grain").standard_normal((_GRAINS, HEIGHT, WIDTH), np.float32) * 1.3)
        self.lighter = [cv2.merge([np.clip(pattern, 0, 9).astype(np.uint8)] * 3) for pattern in grain]
        self.darker = [cv2.merge([np.clip(-pattern, 0, 9).astype(np.uint8)] * 3) for pattern in grain]

    def draw(self, index: int) -> Picture:
        """Return one frame."""
        acts = self.acts
        frame = self.room.copy()
        self._draw_mobile(frame, index)
        head_at, roll = self._head_at(index)
        body_at = (self.x + 0.3 * self.scale * acts.head_x[index], self._breathing(index) + NECK_Y * self.scale)
        if self.hair is not None:
            _lay(frame, self.hair, _PIVOT, head_at, roll, self.scale)
        _lay(frame, self.body, (0.0, NECK_Y), body_at, acts.shoulders, self.scale)
        _lay(frame, self._expression(index), _PIVOT, head_at, roll, self.scale)
        if acts.hand[index] >= _LEAST_RAISED:
            _lay(frame, self.hand, (0.0, 0.0), *self._hand_at(index), self.scale, flip=self._side > 0)
        self.logo.draw(frame, float(acts.times[index]))
        frame = np.asarray(cv2.LUT(frame, self.light), np.uint8)
        frame = np.asarray(cv2.add(frame, self.lighter[index % _GRAINS]), np.uint8)
        return np.asarray(cv2.subtract(frame, self.darker[index % _GRAINS]), np.uint8)

    def _expression(self, index: int) -> Layer:
        acts = self.acts
        return draw_expression(
            self.head,
            self.cast,
            gaze=(float(acts.gaze_x[index]), float(acts.gaze_y[index])),
            lids=float(acts.eyelids[index]),
            smile=float(acts.smile[index]),
            jaw=float(acts.jaw[index]),
            turn=float(acts.turn[index]),
        )

    def outlines(self) -> dict[str, Points]:
        """Return the corners, in pixels, of the region of each cue, which contains it at any intensity."""
        frames = range(len(self.acts.times))
        regions = {
            "smile": [_corners(MOUTH_BOX, _PIVOT, *self._head_at(index), self.scale) for index in frames],
            "gaze": [_corners(EYES_BOX, _PIVOT, *self._head_at(index), self.scale) for index in frames],
            "motion": [
                _moved(HAND_OUTLINE * (-self._side, 1.0), (0.0, 0.0), *self._hand_at(index), self.scale)
                for index in frames
                if self.acts.hand[index] >= _LEAST_RAISED
            ],
        }
        return {cue: in_picture(np.concatenate(seen)) for cue, seen in regions.items() if seen}

    def _breathing(self, index: int) -> float:
        return float(self.y + self.scale * self.acts.breath[index])

    def _head_at(self, index: int) -> tuple[tuple[float, float], float]:
        """Return where the pivot of the head is, pixels, and its tilt, degrees."""
        acts = self.acts
        x = self.x + self.scale * acts.head_x[index]
        y = self._breathing(index) + self.scale * (_PIVOT[1] + acts.head_y[index] + acts.slump)
        return (float(x), float(y)), float(acts.roll[index])

    @property
    def _side(self) -> float:
        """The side of the hand: towards the middle of the picture, where there is room."""
        return 1.0 if self.x < WIDTH / 2 else -1.0

    def _hand_at(self, index: int) -> tuple[tuple[float, float], float]:
        """Return where the palm is, pixels, and the tilt of the forearm, degrees."""
        raised, wave = float(self.acts.hand[index]), float(self.acts.wave[index])
        # The sleeve must reach down to the edge of the picture.
        highest = float(np.clip(self.y + 2.75 * self.scale, HEIGHT - 3.4 * self.scale, HEIGHT - 0.75 * self.scale))
        lowest = HEIGHT + self.scale
        x = self.x + self._side * (2.0 + 0.3 * wave) * self.scale
        return (x, lowest + (highest - lowest) * raised + 0.12 * self.scale * wave), self._side * (-12 + 20 * wave)

    def _draw_mobile(self, frame: Picture, index: int) -> None:
        """Draw a swinging ball on a thread, eye-catching but without meaning."""
        if self.cues.background < 0.15:
            return
        angle = 0.5 * self.cues.background * math.sin(2 * math.pi * self.acts.times[index] / 1.7)
        tip = (self.mobile_x + 62 * math.sin(angle), 62 * math.cos(angle))
        at = (round(tip[0] * 16), round(tip[1] * 16))
        cv2.line(frame, (round(self.mobile_x * 16), 0), at, (120, 120, 120), 1, cv2.LINE_AA, 4)
        cv2.circle(frame, at, 9 * 16, self.mobile, -1, cv2.LINE_AA, 4)


def _place_head(random: np.random.Generator, scale: float) -> tuple[float, float]:
    """Return the centre of the face: well away from that of the picture, which would otherwise be a good guess.

    `scale`: pixels per unit: the whole face stays in the picture, even when the head sinks.
    """
    farthest = WIDTH / 2 - _MARGIN_X * scale
    x = WIDTH / 2 + random.choice((-1.0, 1.0)) * random.uniform(_NEAREST * farthest, farthest)
    y = random.uniform(_MARGIN_TOP * scale, HEIGHT - _MARGIN_BOTTOM * scale)
    return float(x), float(y)


def _corners(
    box: tuple[float, float, float, float],
    pivot: tuple[float, float],
    at: tuple[float, float],
    degrees: float,
    scale: float,
) -> Points:
    left, top, right, bottom = box
    return _moved(np.array([(left, top), (right, top), (right, bottom), (left, bottom)]), pivot, at, degrees, scale)


def _moved(points: Points, pivot: tuple[float, float], at: tuple[float, float], degrees: float, scale: float) -> Points:
    """Return points in units as pixels: `pivot` comes to rest at `at`, all are turned clockwise by `degrees`."""
    c, s = scale * math.cos(math.radians(degrees)), scale * math.sin(math.radians(degrees))
    moved: Points = (points - pivot) @ np.array([[c, s], [-s, c]]) + at
    return moved


def in_picture(points: Points) -> Points:
    """Return the corners of the convex region around points, clipped to the picture."""
    hull = cv2.convexHull(points.astype(np.float32))
    picture = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], np.float32)
    _, corners = cv2.intersectConvexConvex(hull, picture)
    return np.zeros((0, 2)) if corners is None else np.asarray(corners[:, 0], float)


def to_yuv(frame: Picture) -> NDArray[np.uint8]:
    """Return a frame as planar YUV 4:2:0, shape (540, 640), as the encoder expects."""
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2YUV_I420), np.uint8)


def _lay(
    frame: Picture,
    layer: Layer,
    pivot: tuple[float, float],
    at: tuple[float, float],
    degrees: float,
    scale: float,
    *,
    flip: bool = False,
) -> None:
    """Draw a layer onto the frame: `pivot` (units) comes to rest at `at` (pixels), turned clockwise by `degrees`."""
    shrink = scale / layer.scale
    c, s = shrink * math.cos(math.radians(degrees)), shrink * math.sin(math.radians(degrees))
    px, py = (pivot[0] - layer.left) * layer.scale - 0.5, (pivot[1] - layer.top) * layer.scale - 0.5
    mirror = -1.0 if flip else 1.0
    matrix = np.array([[c * mirror, -s, 0.0], [s * mirror, c, 0.0]])
    matrix[:, 2] = (at[0] - 0.5, at[1] - 0.5) - matrix[:, :2] @ (px, py)
    height, width = layer.pixels.shape[:2]
    corners = matrix[:, :2] @ np.array([(0, width, width, 0), (0, 0, height, height)]) + matrix[:, 2:]
    x0, y0 = (max(math.floor(v) - 1, 0) for v in corners.min(axis=1))
    x1 = min(math.ceil(corners[0].max()) + 1, WIDTH)
    y1 = min(math.ceil(corners[1].max()) + 1, HEIGHT)
    if x0 >= x1 or y0 >= y1:
        return
    matrix[:, 2] -= (x0, y0)
    size = (x1 - x0, y1 - y0)
    warped = np.asarray(cv2.warpAffine(layer.pixels, matrix, size, flags=cv2.INTER_LINEAR), np.uint8)
    weight = warped[..., 3] * np.float32(1 / 255)
    part = np.ascontiguousarray(frame[y0:y1, x0:x1])
    colour = np.ascontiguousarray(warped[..., :3])
    frame[y0:y1, x0:x1] = cv2.blendLinear(part, colour, 1 - weight, weight)
