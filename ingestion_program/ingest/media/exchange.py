"""Exchanges: second versions of clips, whose parts can be shown in the first; how, see `blend`."""

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


Mask = npt.NDArray[np.bool_]


Corners = tuple[tuple[float, float], ...]
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

    def nearest(self, names: Sequence[str], height: int, width: int) -> Mask:
        """Return which pixels lie in these parts, or nearer to them than to any other; shape (height, width)."""
        chosen = np.array([part.name in names for part in self.parts])
        mask: Mask = chosen[_nearest_parts(self.parts, height, width)]
        return mask


@lru_cache(maxsize=8)
def _nearest_parts(parts: tuple[Part, ...], height: int, width: int) -> npt.NDArray[np.uint8]:
    """Return the number of the part that each pixel is nearest to, shape (height, width)."""
    nearest, least = np.zeros((height, width), np.uint8), np.full((height, width), np.inf, np.float32)
    for number, part in enumerate(parts):
        away = cv2.distanceTransform(1 - part.mask(height, width).view(np.uint8), cv2.DIST_L2, 5)
        nearest[away < least] = number  # the first of several that are as near
        cv2.min(away, least, dst=least)
    return nearest
