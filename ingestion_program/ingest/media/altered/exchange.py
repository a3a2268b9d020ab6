"""Exchanges: a second drawing of a clip in which every part differs, and the outline of each part.

Outside the parts both drawings are the same picture, so every mixture looks like an ordinary clip and leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.altered.mixing import Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ingest.media.altered.mixing import Shares
    from ingest.media.altered.region import Mask

Corners = tuple[tuple[float, float], ...]
INSIDE, OUTSIDE = 0.005, 0.01
"""How far on either side of an outline the drawings go over into each other, as shares of the width.

No farther than they show the same: a part keeps a little distance from its outline.
"""
MIDDLE = 0.02
"""How far inside of its outline a part that moves is the second drawing's alone, as a share of the width.

Up to there it gradually becomes so: what moves leaves noise wherever it passes, even where nothing is left to see.
"""
MOSTLY = 0.5
"""A part belongs to the second in which at least this share of it happens."""
_FINE = 16
"""Pixels of a cell's side at which it is measured how much of a part lies in it."""


@dataclass(frozen=True)
class Part:
    """Something in the picture that can be exchanged for another drawing of it."""

    name: str
    """What it is called in the records."""
    outline: Corners
    """Corners of a region that contains all of it: shares of width and height, 0 to 1."""
    event_s: tuple[float, float] | None
    """Seconds between which it happens; None for what is there all the time."""

    def mask(self, height: int, width: int) -> Mask:
        """Return which pixels of a picture lie in the outline, shape (height, width)."""
        drawn = np.zeros((height, width), np.uint8)
        corners = np.rint(np.array(self.outline) * (width, height)).astype(np.int32)
        cv2.fillPoly(drawn, [corners], 1)
        return drawn.view(np.bool_)

    def in_cells(self, rows: int, columns: int) -> npt.NDArray[np.float64]:
        """Return which share of it lies in each cell of a grid, row by row; they add up to 1, or are all 0."""
        return _in_cells(self, rows, columns)

    def in_seconds(self, seconds: int) -> npt.NDArray[np.float64]:
        """Return which share of it happens in each second [i, i + 1); all 0 for what is there all the time."""
        if self.event_s is None:
            return np.zeros(seconds)
        start, end = self.event_s
        begins = np.arange(seconds)
        inside = np.clip(np.minimum(end, begins + 1) - np.maximum(start, begins), 0, None)
        shares: npt.NDArray[np.float64] = inside / max(end - start, 1e-9)
        return shares


def mask_of(parts: Iterable[Part], height: int, width: int) -> Mask:
    """Return which pixels of a picture lie in one of these parts, shape (height, width)."""
    mask: Mask = np.zeros((height, width), np.bool_)
    for part in parts:
        mask |= part.mask(height, width)
    return mask


@lru_cache(maxsize=4096)
def _in_cells(part: Part, rows: int, columns: int) -> npt.NDArray[np.float64]:
    area = part.mask(rows * _FINE, columns * _FINE).reshape(rows, _FINE, columns, _FINE).sum(axis=(1, 3)).ravel()
    shares: npt.NDArray[np.float64] = area / max(int(area.sum()), 1)
    return shares


@dataclass(frozen=True)
class Exchange:
    """The second drawing of one clip."""

    path: Path
    """The video file."""
    sha256: str
    """Hash of the file when the run began."""
    parts: tuple[Part, ...]
    """What can be exchanged; no two outlines meet."""

    def weights(self, names: Sequence[str], height: int, width: int) -> Weights:
        """Return how much of the second drawing is shown where these parts are exchanged, see `mixing.mix`.

        Along the outlines one drawing goes over into the other.
        """
        parts = [part for part in self.parts if part.name in names]
        # What is there all the time stands still, and leaves no noise beside it.
        moving = [part for part in parts if part.event_s is not None]
        most = _slope(mask_of(parts, height, width), -OUTSIDE * width, INSIDE * width)
        return Weights(most, _slope(mask_of(moving, height, width), 0, MIDDLE * width))


def _slope(mask: Mask, start: float, end: float) -> Shares:
    """Return 0 to 1, growing smoothly between two distances from the edge of a mask, pixels inwards."""
    drawn = mask.view(np.uint8)
    if not mask.any() or mask.all():
        return drawn.astype(np.float32)
    inside, outside = (cv2.distanceTransform(one, cv2.DIST_L2, 5) for one in (drawn, 1 - drawn))
    ramp = np.clip((inside - outside - start) / (end - start), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)
