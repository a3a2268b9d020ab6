"""A drawn face whose landmarks are known, played as if it were filmed."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels
from bundle_tools.filmed.face import EYES, HULL, LIDS, MOUTH, RING
from bundle_tools.filmed.track import LANDMARKS, Points, Region

FPS, WIDTH, HEIGHT, UNIT = 12, 288, 240, 72
STEADY = {
    33: (-0.5, 0), 133: (-0.17, 0), 362: (0.17, 0), 263: (0.5, 0), 168: (0, 0), 6: (0, 0.1), 197: (0, 0.2),
    195: (0, 0.27), 5: (0, 0.33), 4: (0, 0.4), 10: (0, -0.6), 151: (0, -0.5), 9: (0, -0.35), 127: (-0.75, -0.05),
    356: (0.75, -0.05), 234: (-0.78, 0.15), 454: (0.78, 0.15), 98: (-0.13, 0.45), 327: (0.13, 0.45), 2: (0, 0.48),
    54: (-0.6, -0.4), 284: (0.6, -0.4), 103: (-0.5, -0.5), 332: (0.5, -0.5),
}  # fmt: skip
"""Landmarks that no expression moves: x to the right and y down, from between the eyes, in units."""
OVALS = {
    MOUTH: ((0.0, 0.78), (0.36, 0.24), (0.50, 0.38)),
    EYES: ((0.0, -0.08), (0.72, 0.32), (0.86, 0.48)),
}
"""Middle of a part, half its size, and half that of the ring around it, in units."""
SIDE = 320
"""Of the canvas on which a face is drawn, pixels; its unit is 90."""


@dataclass(frozen=True)
class Drawn:
    """A clip and its landmarks."""

    content: bytes
    points: Points
    """(n, 468, 3); NaN without a face."""


class Known:
    """A tracker that knows the landmarks of successive frames."""

    def __init__(self, points: Points, faces: int = 1) -> None:
        self._left: Iterator[Points] = iter(points)
        self._faces = faces

    def faces(self, picture: Pixels) -> list[Region]:
        return [Region(0, 0, 2 * UNIT, 0)] * self._faces

    def landmarks(self, picture: Pixels) -> Points | None:
        points = next(self._left)
        return points if np.isfinite(points).all() else None


@lru_cache(maxsize=8)
def draw(seed: int = 0, seconds: float = 9.0, unit: float = UNIT, cut_s: float | None = None) -> Drawn:
    """Draw a clip: a swaying, textured face that talks, looks around and blinks; in the dark after a cut."""
    random = np.random.default_rng(seed)
    count = round(seconds * FPS)
    times = np.arange(count) / FPS
    opening, width, lift, lids, brows, glance, x, y, roll = (_wave(random, times) for _ in range(9))
    skin = np.clip(np.array((120, 150, 200)) + random.normal(0, 3, (SIDE, SIDE, 1)), 0, 255).astype(np.uint8)
    points = np.zeros((count, LANDMARKS, 3), np.float32)
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as container:
        track = container.add_stream("libx264", rate=FPS, options={"crf": "14", "preset": "ultrafast"})
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for at in range(count):
            local = landmarks(opening[at], width[at], lift[at], lids[at], brows[at])
            canvas = _face(local, glance[at], skin)
            angle, scale = 0.04 * roll[at], unit / 90
            turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            middle = np.array([WIDTH / 2 + 4 * x[at], HEIGHT * 0.42 + 3 * y[at]])
            matrix = np.column_stack([turn, middle - turn @ (SIDE / 2, SIDE * 0.4)])
            frame = np.asarray(cv2.warpAffine(canvas, matrix, (WIDTH, HEIGHT), borderValue=(90, 90, 90)), np.uint8)
            if cut_s is not None and times[at] >= cut_s:
                frame //= 2
            points[at, :, :2] = (local * 90 + (SIDE / 2, SIDE * 0.4)) @ turn.T + matrix[:, 2]
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="bgr24")
            picture = picture.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
            container.mux(track.encode(picture))
        container.mux(track.encode(None))
    return Drawn(target.getvalue(), points)


def landmarks(opening: float, width: float, lift: float, lids: float, brows: float) -> NDArray[np.float64]:
    """Return the landmarks of an expression, each value about -1 to 1; (468, 2), in units."""
    points = np.zeros((LANDMARKS, 2))
    for part, (middle, inner, outer) in OVALS.items():
        for names, half in ((RING[part], outer), (HULL[part], inner)):
            angles = 2 * np.pi * np.arange(len(names)) / len(names)
            points[list(names)] = np.array(middle) + np.column_stack([np.cos(angles), np.sin(angles)]) * half
    gape, half_width = 0.09 + 0.06 * opening, 0.22 + 0.04 * width
    points[[13, 14]] = [(0, 0.78 - gape), (0, 0.78 + gape)]
    points[[61, 291]] = [(-half_width, 0.78 - 0.05 * lift), (half_width, 0.78 - 0.05 * lift)]
    for corners, side in zip(LIDS, (-0.335, 0.335), strict=True):
        for name, angle in zip(corners, (np.pi, 4.0, 5.4, 0, 0.9, 2.2), strict=True):
            points[name] = (side + 0.165 * np.cos(angle), (0.06 + 0.03 * lids) * np.sin(angle))
    for name, (x, y) in STEADY.items():
        points[name] = x, y
    for name, x in ((159, -0.335), (386, 0.335)):
        points[name] = x, -0.06 - 0.03 * lids
    for name, x in ((145, -0.335), (374, 0.335)):
        points[name] = x, 0.06 + 0.03 * lids
    points[[105, 334]] = [(-0.335, -0.24 - 0.05 * brows), (0.335, -0.24 - 0.05 * brows)]
    return points


def _wave(random: np.random.Generator, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a smooth, lasting change between about -1 and 1."""
    periods, phases = random.uniform(0.9, 3.2, 3), random.uniform(0, 2 * np.pi, 3)
    return np.asarray(np.sin(2 * np.pi * times[:, None] / periods + phases).mean(1) * 1.5)


def _face(local: NDArray[np.float64], glance: float, skin: Pixels) -> Pixels:
    at, canvas = local * 90 + (SIDE / 2, SIDE * 0.4), skin.copy()

    def oval(points: NDArray[np.float64], colour: tuple[int, int, int], thickness: int = -1) -> None:
        (left, top), (right, bottom) = points.min(0), points.max(0)
        middle, half = ((left + right) / 2, (top + bottom) / 2), ((right - left) / 2, (bottom - top) / 2)
        cv2.ellipse(canvas, (middle, (2 * half[0], 2 * half[1]), 0), colour, thickness, cv2.LINE_AA)

    oval(at[[13, 14, 61, 291]], (60, 60, 150), 5)
    oval(at[[13, 14, 61, 291]], (30, 20, 60))
    for corners in LIDS:
        eye = at[list(corners)]
        oval(eye, (235, 235, 235))
        x, y = np.rint(eye.mean(0)).astype(int).tolist()
        cv2.circle(canvas, (x + round(7 * glance), y), 4, (30, 30, 30), -1, cv2.LINE_AA)
    for name in (105, 334):
        x, y = np.rint(at[name]).astype(int).tolist()
        cv2.line(canvas, (x - 14, y), (x + 14, y), (40, 50, 70), 4, cv2.LINE_AA)
    return canvas
