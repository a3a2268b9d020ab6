"""Exchanges: a second drawing of a clip in which every part is another, and where each of these parts is.

Outside of the parts both drawings are the same picture, so any mixture of them is a clip like any other: what is hidden
leaves no trace of having been hidden.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ingest.errors import Problem
from ingest.probes.mixing import Shares, Weights
from ingest.probes.region import Mask
from ingest.table import check_file, problem
from ingest.video import ClipFacts, UnreadableClip, read_facts

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
_FORM = "{format_version: 1, clips: {clip_id: {file, sha256, parts: [{name, outline, event_s}]}}}"


@dataclass(frozen=True)
class Part:
    """Something in the picture that can be exchanged for another drawing of it."""

    name: str
    """What it is called in the records."""
    outline: Corners
    """Corners of a region outside of which nothing of it is seen: shares of width and height, 0 to 1."""
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


def read_exchanges(input_data: Path, name: str, clips: dict[str, Path], problems: list[Problem]) -> dict[str, Exchange]:
    """Return the exchange of every clip that has one; what is wrong is added to `problems`.

    Parameters
    ----------
    clips
        By id the file of every clip of the list.
    """
    try:
        content = json.loads((input_data / name).read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(problem("exchanges_unreadable", name, str(error)[:200], "a JSON file", "rewrite it"))
        return {}
    listed = content.get("clips") if isinstance(content, dict) else None
    if not isinstance(listed, dict) or content.get("format_version") != 1:
        problems.append(problem("exchanges_unreadable", name, "other JSON", _FORM, "rewrite it"))
        return {}
    exchanges = {}
    for clip_id, entry in listed.items():
        where = f"{name}, clip {ascii(clip_id)[1:-1][:64]}"
        if clip_id not in clips:
            problems.append(problem("clip_unknown", where, "no such clip", "a clip of the list", "remove the entry"))
            continue
        try:
            ours = read_facts(clips[clip_id])
        except UnreadableClip:
            continue  # said when it is that clip's turn
        try:
            file, sha256 = entry["file"], entry["sha256"]
            if not (isinstance(file, str) and isinstance(sha256, str)):
                raise TypeError("file and sha256 are texts")
            parts = tuple(_part(part, ours) for part in entry["parts"])
            if len({part.name for part in parts}) < len(parts):
                raise ValueError("a part twice")
        except (KeyError, TypeError, ValueError) as error:
            found = f"{type(error).__name__}: {error}"[:100]
            problems.append(problem("exchange_entry", where, found, _FORM, "correct the entry"))
            continue
        path = input_data / file
        if check_file(input_data, file, sha256, where, problems) and _alike(ours, path, where, problems):
            exchanges[clip_id] = Exchange(path, sha256.lower(), parts)
    return exchanges


def _part(entry: Any, clip: ClipFacts) -> Part:  # noqa: ANN401 - from a JSON file
    outline = tuple((float(x) / clip.width, float(y) / clip.height) for x, y in entry["outline"])
    if len(outline) < 3 or not all(0 <= value <= 1 for corner in outline for value in corner):
        raise ValueError("an outline needs three corners or more, pixels of the clip")
    event = entry.get("event_s")
    if event is None:
        return Part(str(entry["name"]), outline, None)
    start, end = map(float, event)
    if not 0 <= start < end:
        raise ValueError("event_s needs a start before its end, seconds")
    return Part(str(entry["name"]), outline, (start, end))


def _alike(clip: ClipFacts, exchange: Path, where: str, problems: list[Problem]) -> bool:
    """Tell whether both have the same frames: of another length or size a mixture would show."""
    try:
        found = _size(read_facts(exchange))
    except UnreadableClip as error:
        found = f"a file that cannot be decoded ({error})"
    if found == _size(clip):
        return True
    problems.append(problem("exchange_differs", where, found, f"{_size(clip)}, as its clip", "make the exchange anew"))
    return False


def _size(facts: ClipFacts) -> str:
    return f"{len(facts.times)} frames of {facts.width} x {facts.height}"
