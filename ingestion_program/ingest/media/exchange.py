"""Exchanges: second drawings of clips whose parts can be shown in the first, without a seam.

In a second drawing every part is its counterpart. Outside the parts both drawings are the same, so every mixture is
like an ordinary clip and leaves no trace. But both were compressed separately. Even where they show the same, they
differ by compression noise, and a hard edge between them would be a visible line. So the first drawing's own pixels
stay wherever both show the same. The exception is the middle of a moving part: in the first drawing it leaves noise
wherever it passes, which would reveal it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ingest.media.video import Frame

Mask = npt.NDArray[np.bool_]


Corners = tuple[tuple[float, float], ...]
INSIDE, OUTSIDE = 0.005, 0.01
"""How far the drawings are blended on the inner and outer side of an outline, as shares of the width.

Within this distance both drawings show the same, because every part keeps away from its outline.
"""
MIDDLE = 0.02
"""Distance from its outline at which a moving part is taken from the second drawing alone, as a share of the width.

Up to there the drawings are blended: what moves leaves compression noise wherever it passes, even where the
pictures look the same.
"""
_FINE = 16
"""Side of a cell in pixels when the share of a part in it is measured."""


@dataclass(frozen=True)
class Part:
    """Something in a clip that can be exchanged for another drawing of it."""

    name: str
    """Its kind and, if there are several of that kind, a hyphen and a number."""
    outline: Corners
    """Corners of a region that contains the whole part, as shares of width and height, 0 to 1; empty if only heard."""
    event_s: tuple[float, float] | None
    """When it begins and ends, in seconds; None for a part that is always there."""
    transcript: str | None = None
    """The clip's words with those of this part exchanged; None for a part that is not heard."""
    keys: tuple[tuple[float, Corners], ...] = ()
    """For a moving part: seconds, ascending, and its outline then; `outline` is around all of them."""

    def __post_init__(self) -> None:
        # Drawn outlines repeat corners. Kept once each, the exchanges of 10,000 clips take half the memory.
        kept: dict[tuple[float, float], tuple[float, float]] = {}
        object.__setattr__(self, "outline", tuple(kept.setdefault(corner, corner) for corner in self.outline))

    @property
    def kind(self) -> str:
        """What it is; several parts can be of one kind."""
        return re.sub(r"-\d+$", "", self.name)

    def mask(self, height: int, width: int) -> Mask:
        """Return which pixels of a picture lie in the outline, shape (height, width)."""
        drawn = np.zeros((height, width), np.uint8)
        if self.outline:
            cv2.fillPoly(drawn, [np.rint(np.array(self.outline) * (width, height)).astype(np.int32)], 1)
        return drawn.view(np.bool_)

    def corners_at(self, time_s: float) -> npt.NDArray[np.float64]:
        """Return the outline at a moment, shares of width and height, shape (corners, 2); linear between its keys."""
        if not self.keys:
            return np.array(self.outline)
        times = [time for time, _ in self.keys]
        corners = np.array([corners for _, corners in self.keys]).reshape(len(times), -1)
        return np.array([np.interp(time_s, times, values) for values in corners.T]).reshape(-1, 2)

    def in_cells(self, rows: int, columns: int) -> npt.NDArray[np.float64]:
        """Return the share of the part in each cell of a grid, row by row; the shares sum to 1, or are all 0."""
        return _in_cells(self, rows, columns)

    def in_seconds(self, seconds: int) -> npt.NDArray[np.float64]:
        """Return the share of its event in each second [i, i + 1); all 0 for a part that is always there."""
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
    sha256: str
    """Hash of the file when the run began."""
    parts: tuple[Part, ...]
    """Parts that can be exchanged; their outlines do not touch, unless they move."""
    first: Path | None = None
    """What the second pass shows in place of the clip; None for the clip itself."""
    first_sha256: str = ""
    """Hash of that file when the run began; empty without one."""
    joins_s: tuple[float, ...] = ()
    """Seconds, ascending, between which all parts can be exchanged for one span of time."""

    def spans_s(self, end_s: float) -> list[tuple[float, float]]:
        """Return begin and end of the spans of a clip of that length, seconds; none without joins."""
        return list(pairwise((0.0, *self.joins_s, end_s))) if self.joins_s else []

    @property
    def heard(self) -> dict[str, str]:
        """The transcripts of the parts that are heard, by name."""
        return {part.name: part.transcript for part in self.parts if part.transcript is not None}

    def heard_s(self, names: Sequence[str]) -> list[tuple[float, float]]:
        """Return when those of these parts that are heard begin and end, in seconds."""
        heard = (part for part in self.parts if part.name in names and part.transcript is not None)
        return [part.event_s for part in heard if part.event_s is not None]

    def weights(self, height: int, width: int) -> Weights:
        """Return how much of the second drawing is shown where all parts are exchanged, see `Blend`.

        The drawings are blended along the outlines.
        """
        # Parts that are always there do not move, so they leave no noise around them.
        moving = [part for part in self.parts if part.event_s is not None]
        most = _slope(mask_of(self.parts, height, width), -OUTSIDE * width, INSIDE * width)
        return Weights(most, _slope(mask_of(moving, height, width), 0, MIDDLE * width))

    def nearest(self, names: Sequence[str], height: int, width: int) -> Mask:
        """Return which pixels lie in these parts, or nearer to them than to any other; shape (height, width)."""
        chosen = [number for number, part in enumerate(self.parts) if part.name in names]
        return np.isin(_nearest_parts(self.parts, height, width), chosen)


@lru_cache(maxsize=8)
def _nearest_parts(parts: tuple[Part, ...], height: int, width: int) -> npt.NDArray[np.uint8]:
    """Return the number of the part that each pixel is nearest to, shape (height, width)."""
    outside = (1 - part.mask(height, width).view(np.uint8) for part in parts)
    away = [cv2.distanceTransform(mask, cv2.DIST_L2, 5) for mask in outside]
    nearest: npt.NDArray[np.uint8] = np.argmin(away, axis=0).astype(np.uint8)
    return nearest


def _slope(mask: Mask, start: float, end: float) -> Shares:
    """Return a smooth ramp from 0 to 1 between two distances from the edge of a mask, in pixels, inwards."""
    drawn = mask.view(np.uint8)
    if not mask.any() or mask.all():
        return drawn.astype(np.float32)
    inside, outside = (cv2.distanceTransform(mask, cv2.DIST_L2, 5) for mask in (drawn, 1 - drawn))
    ramp = np.clip((inside - outside - start) / (end - start), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


Shares = npt.NDArray[np.float32]
SAME, OTHER = 2.0, 6.0
"""Mean local difference in luma, of 255, up to which both drawings show the same, and from which they certainly differ.

Between these values they are blended. H.264's noise rarely reaches 6."""
AROUND = 5
"""Side, in pixels, of the square over which the mean is taken."""
_STEPS = 16
"""Steps a level."""


@dataclass(frozen=True, eq=False)
class Weights:
    """How much of the second drawing is shown, 0 to 1, both of shape (height, width)."""

    most: Shares
    """Where the drawings differ."""
    least: Shares
    """Where they show the same."""

    def within(self, mask: Mask) -> Weights:
        """Return the same within a mask, and 0 elsewhere."""
        return Weights(self.most * mask, self.least * mask)


def _share_of_second() -> Shares:
    levels = np.arange(256) / _STEPS
    ramp = np.clip((levels - SAME) / (OTHER - SAME), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


_SHARES = _share_of_second()


class Blend:
    """Shows the parts of a second drawing in the first one; used by one thread.

    Its arrays are made once: fresh ones for every frame would cost as much as what is computed in them.
    """

    def __init__(self, weights: Weights) -> None:
        """Prepare for frames of one size; `weights`: how much of the second drawing is shown at each pixel."""
        self._weights = weights
        size = weights.most.shape
        self._difference, self._mixed = np.empty((*size, 3), np.uint8), np.empty((*size, 3), np.uint8)
        self._grey, self._around = np.empty(size, np.uint8), np.empty(size, np.uint8)
        self._share, self._rest = np.empty(size, np.float32), np.empty(size, np.float32)

    def mix(self, first: Frame, second: Frame) -> Frame:
        """Return the first drawing with parts of the second, valid until the next call.

        `first` and `second`: the same frame of both drawings, BGR, shape (height, width, 3).
        """
        cv2.absdiff(first, second, dst=self._difference)
        cv2.cvtColor(self._difference, cv2.COLOR_BGR2GRAY, dst=self._grey)
        # The table treats all levels above 255 / _STEPS alike.
        cv2.convertScaleAbs(self._grey, dst=self._grey, alpha=_STEPS)
        cv2.blur(self._grey, (AROUND, AROUND), dst=self._around)
        cv2.LUT(self._around, _SHARES, dst=self._share)
        cv2.multiply(self._share, self._weights.most, dst=self._share)
        cv2.max(self._share, self._weights.least, dst=self._share)
        np.subtract(1, self._share, out=self._rest)
        cv2.blendLinear(first, second, self._rest, self._share, dst=self._mixed)
        return self._mixed


class Composite:
    """Takes some pixels from one picture and the others from a second; used by one thread.

    It takes as long whatever is chosen.
    """

    def __init__(self, second: Mask) -> None:
        """Prepare for frames of one size; `second`: what is taken from the second picture, shape (height, width)."""
        self._second = np.where(second, 255, 0).astype(np.uint8)[..., None].repeat(3, axis=2)
        self._chosen = np.empty_like(self._second)

    def mix(self, first: Frame, second: Frame) -> Frame:
        """Return parts of both pictures, valid until the next call; all are of shape (height, width, 3)."""
        cv2.bitwise_xor(first, second, dst=self._chosen)
        cv2.bitwise_and(self._chosen, self._second, dst=self._chosen)
        cv2.bitwise_xor(first, self._chosen, dst=self._chosen)
        return self._chosen


class MovingComposite(Composite):
    """Takes parts of a filmed clip from its second version, each within its outline at that moment; for one thread.

    Its edge is hard: a mean of two encodings has less noise than either, which detectors notice.
    """

    def __init__(self, parts: Sequence[Part], taken: Sequence[str], height: int, width: int) -> None:
        """Prepare for frames of one size; `taken`: names of the parts from the second version."""
        super().__init__(np.zeros((height, width), np.bool_))
        # Those that are taken come last, so that no other one covers them.
        self._parts = sorted((part for part in parts if part.outline), key=lambda part: part.name in taken)
        self._taken, self._scale = frozenset(taken), (width, height)
        self._inside = np.empty((height, width), np.uint8)

    def mix_at(self, first: Frame, second: Frame, time_s: float) -> Frame:
        """Return parts of both pictures as they are at a moment, see `mix`."""
        self._inside.fill(0)
        for part in self._parts:
            corners = np.rint(part.corners_at(time_s) * self._scale).astype(np.int32)
            cv2.fillPoly(self._inside, [corners], 255 if part.name in self._taken else 0)
        cv2.merge([self._inside] * 3, dst=self._second)
        return self.mix(first, second)
