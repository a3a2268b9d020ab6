"""Cut a part of a face out of one frame and set it into another, in the same way whichever moment it comes from."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.decoding import Pixels
from bundle_tools.filmed import face
from bundle_tools.filmed.face import Array

Picture = NDArray[np.float32]

FEATHER, RING_FEATHER = 0.05, 0.04
"""Standard deviations of the blur of a mask's edge, in units."""
RING = (0.88, 1.22)
"""Where light is compared: between these sizes of the outline."""
DETAIL = (1.0, 1.3)
"""Where fine detail is compared."""
PAD = 0.30
"""Margin of the picture around an outline that is worked on, in units."""
WARP = 0.28
"""Standard deviation of the correction that makes the ring fit, in units."""
LIGHT = 0.22
"""Standard deviation of the correction of light, in units."""
FINE_SD = 1.2
"""Of the blur whose difference from the picture is its fine detail, pixels."""
GAINS = (0.7, 1.8)
"""Least and largest factor of fine detail."""
SURROUND, LOOK_SIDE = 1.45, 24
"""Around a part, up to this size of its outline, colours tell whether something covers it; cells across and down."""
GRID = 14
"""Rows and columns at which a warp is computed; it is linear between."""
QUARTER = 4
"""Light is compared in pictures smaller by this factor."""


@dataclass(frozen=True)
class Box:
    """A rectangle of whole pixels within a picture."""

    left: int
    top: int
    right: int
    """Exclusive, as is the bottom."""
    bottom: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.right - self.left, self.bottom - self.top

    def of(self, picture: Pixels) -> Pixels:
        """Return a view of this part of a picture."""
        return picture[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True)
class Cut:
    """The picture around a face, cut out of a frame."""

    pixels: Pixels
    """BGR."""
    left: int
    """Where it lay in the frame, pixels; so is the top."""
    top: int


def box_around(corners: NDArray[np.floating], margin: float, width: int, height: int) -> Box:
    """Return the box of points (k, 2), with a margin in pixels, within a picture."""
    left, top = np.maximum(np.floor(corners.min(0) - margin).astype(int), 0)
    right, bottom = np.minimum(np.ceil(corners.max(0) + margin).astype(int), (width, height))
    return Box(int(left), int(top), max(int(left) + 2, int(right)), max(int(top) + 2, int(bottom)))


class Patcher:
    """Sets one part of other frames into the frames of a shot; used by one thread."""

    def __init__(
        self, part: str, corners: tuple[int, ...], points: NDArray[np.floating], size: tuple[int, int]
    ) -> None:
        """Prepare for a shot.

        `corners`: landmarks around the part. `points`: smoothed landmarks of all frames, (n, 468, 2). `size`: width and
        height of the frames.
        """
        self._points, self._size = points, size
        mean = points.mean(0)
        self.unit = face.unit_of(mean)
        self.hull = mean[list(corners)].astype(np.float64)
        stable = list(face.STABLE)
        self.maps = face.affine(np.broadcast_to(mean[stable], (len(points), len(stable), 2)), points[:, stable])
        self._stable, self._ring = points[:, stable].astype(np.float64), points[:, list(face.RING[part])]
        self._left_top = np.floor(self.hull.min(0) - 2 * PAD * self.unit)
        self._canvas = tuple(np.ceil(np.ptp(self.hull, axis=0) + 4 * PAD * self.unit).astype(int).tolist())
        self._soft = self.mask(1.0, FEATHER)
        self._rim = np.clip(self.mask(RING[1], RING_FEATHER) - self.mask(RING[0], RING_FEATHER), 0, 1)
        self._around = np.clip(self.mask(DETAIL[1], FEATHER) - self.mask(DETAIL[0], FEATHER), 0, 1)
        rim = np.clip(self.mask(SURROUND, RING_FEATHER) - self.mask(1.0, RING_FEATHER), 0, 1)
        self._cells = cv2.resize(rim, (LOOK_SIDE, LOOK_SIDE), interpolation=cv2.INTER_AREA) > 0.5

    def mask(self, factor: float, feather: float) -> Picture:
        """Return a soft mask of the enlarged part in the mean face; `feather`: in units."""
        drawn = np.zeros(self._canvas[::-1], np.uint8)
        corners = face.grown(self.hull, factor) - self._left_top
        cv2.fillPoly(drawn, [np.rint(corners * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
        return np.asarray(cv2.GaussianBlur(drawn.astype(np.float32) / 255, (0, 0), feather * self.unit), np.float32)

    def outline(self, frame: int, factor: float = 1.0) -> Array:
        """Return the corners of the part in a frame, (k, 2), pixels."""
        return face.mapped(face.grown(self.hull, factor), self.maps[frame])

    def box(self, frame: int) -> Box:
        """Return the part of a frame that is worked on."""
        return box_around(self.outline(frame), PAD * self.unit, *self._size)

    def in_frame(self, mask: Picture, frame: int, box: Box) -> Picture:
        """Bring a mask of the mean face into a frame's box."""
        matrix = self.maps[frame].copy()
        matrix[:, 2] += matrix[:, :2] @ self._left_top - (box.left, box.top)
        return np.asarray(cv2.warpAffine(mask, matrix, box.size, flags=cv2.INTER_LINEAR), np.float32)

    def patch(self, frame: int, box: Box, moment: int, cut: Cut) -> Picture:
        """Return the part of another moment as it would lie in a frame's box, float BGR.

        An affine map by the stable landmarks is corrected smoothly, so that the ring around the part fits.
        """
        to_moment = face.affine(self._stable[frame], self._stable[moment])
        ring = self._ring[frame]
        miss = self._ring[moment] - face.mapped(ring, to_moment)
        x, y = np.linspace(box.left, box.right - 1, GRID), np.linspace(box.top, box.bottom - 1, GRID)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        weights = np.exp(-0.5 * ((grid[:, None] - ring[None]) ** 2).sum(-1) / (WARP * self.unit) ** 2)
        source = face.mapped(grid, to_moment) + (weights @ miss) / (weights.sum(1, keepdims=True) + 0.05)
        source = (source - (cut.left, cut.top)).reshape(GRID, GRID, 2).astype(np.float32)
        width, height = box.size
        across, down = np.linspace(0, GRID - 1, width, dtype=np.float32), np.linspace(0, GRID - 1, height)
        full = cv2.remap(source, *np.meshgrid(across, down.astype(np.float32)), cv2.INTER_LINEAR)
        columns, rows = np.ascontiguousarray(full[..., 0]), np.ascontiguousarray(full[..., 1])
        picture = cv2.remap(cut.pixels, columns, rows, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(picture, np.float32)

    def surroundings(self, frame: int, cut: Cut) -> Picture:
        """Return the colours (CIELAB, levels of 255) of cells around the part, less their mean, (k, 3)."""
        side = 4 * LOOK_SIDE
        step = np.array(self._canvas) / side
        matrix = self.maps[frame].copy()
        matrix[:, 2] += matrix[:, :2] @ self._left_top - (cut.left, cut.top)
        matrix[:, :2] *= step
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        fine = cv2.warpAffine(cut.pixels, matrix, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        small = cv2.resize(fine, (LOOK_SIDE, LOOK_SIDE), interpolation=cv2.INTER_AREA)
        colours = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)[self._cells].astype(np.float32)
        return np.asarray(colours - colours.mean(0), np.float32)

    def put(self, frame: int, box: Box, picture: Pixels, patch: Picture) -> None:
        """Blend a patch into a frame, in place; its light is made to fit along the rim."""
        here = box.of(picture).astype(np.float32)
        small = tuple(max(8, side // QUARTER) for side in box.size)
        rim = cv2.resize(self.in_frame(self._rim, frame, box), small, interpolation=cv2.INTER_AREA)
        lacking = cv2.resize(here - patch, small, interpolation=cv2.INTER_AREA) * rim[..., None]
        deviation = LIGHT * self.unit / QUARTER
        light = cv2.GaussianBlur(lacking, (0, 0), deviation) / (
            cv2.GaussianBlur(rim, (0, 0), deviation)[..., None] + 0.01
        )
        lit = patch + cv2.resize(light, box.size, interpolation=cv2.INTER_LINEAR)
        mixed = here + self.in_frame(self._soft, frame, box)[..., None] * (lit - here)
        box.of(picture)[:] = np.clip(np.rint(mixed), 0, 255)

    def detail(self, frame: int, box: Box, picture: Picture) -> float:
        """Return the energy of fine detail around the part in a frame's box."""
        weight = self.in_frame(self._around, frame, box)
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        fine = grey - cv2.GaussianBlur(grey, (0, 0), FINE_SD)
        return float((fine * fine * weight).sum() / (weight.sum() + 1e-6))


def with_detail(patch: Picture, gain: float) -> Picture:
    """Return a patch whose fine detail is multiplied."""
    return np.asarray(patch + (gain - 1) * (patch - cv2.GaussianBlur(patch, (0, 0), FINE_SD)), np.float32)
