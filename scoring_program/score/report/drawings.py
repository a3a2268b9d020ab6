"""Drawings of the report, as data for inline SVG, and pictures as data URIs."""

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.metrics import percentile_interval
from score.report.page import NO_BREAK, number, plural, signed
from score.settings import Target

LARGEST = (1024, 1024)
"""Largest width and height of a shown picture: a small file can claim gigabytes of pixels."""
LARGEST_BYTES = 64 * 2**10
"""Largest size of a picture. Ingestion and `bundle data key-frames` write at most half of it."""
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA
_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
"""Frame types that browsers show: baseline, extended and progressive."""
_TABLES = frozenset({0xC4, 0xDB, 0xDD})
"""Huffman codes, quantisation, restart interval."""
_RESTARTS = frozenset(range(0xD0, 0xD8))


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Read (width, height) from a JPEG header without decoding; None without one."""
    for marker, begin, _ in _segments(data):
        if marker in _FRAMES and begin + 9 <= len(data):
            height, width = (int.from_bytes(data[at : at + 2], "big") for at in (begin + 5, begin + 7))
            return width, height
    return None


def data_uri(data: bytes) -> str | None:
    """Turn a JPEG file into a ``data:`` URI without comments, metadata, and data after its end.

    Returns None if the file is not a complete JPEG of an accepted size.
    """
    size = jpeg_size(data)
    if size is None or not (1 <= size[0] <= LARGEST[0] and 1 <= size[1] <= LARGEST[1]) or len(data) > LARGEST_BYTES:
        return None
    segments = [
        (marker, data[begin:end])
        for marker, begin, end in _segments(data)
        if marker in {_START, _SCAN, _END} or marker in _FRAMES or marker in _TABLES
    ]
    markers = [marker for marker, _ in segments]
    if markers[-1] != _END or _SCAN not in markers:
        return None
    return "data:image/jpeg;base64," + base64.b64encode(b"".join(part for _, part in segments)).decode()


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, begin and end of each JPEG segment, up to the end or the first invalid marker."""
    at = 0
    while data[at : at + 1] == b"\xff" and at + 2 <= len(data):
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        end = at + 2
        if marker not in {_START, _END}:
            end += int.from_bytes(data[end : end + 2], "big")
        if marker == _SCAN:
            end = _end_of_scan(data, end)
        if end > len(data) or end < at + 2 or (at == 0) != (marker == _START):
            return
        yield marker, at, end
        if marker == _END:
            return
        at = end


def _end_of_scan(data: bytes, at: int) -> int:
    """Find the marker that ends the compressed pixels: in them, 0xFF is always followed by 0 or a restart marker."""
    while (at := data.find(b"\xff", at)) >= 0:
        if at + 1 < len(data) and data[at + 1] != 0 and data[at + 1] not in _RESTARTS:
            return at
        at += 2
    return len(data) + 1


_RIGHT, _DOWN, _LEFT, _UP = range(4)
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_MOST_EDGES = 2000  # about 8 kB of path; a more scattered set does not show a place
_ACROSS = ("left", "middle", "right")
_DOWNWARDS = ("upper", "middle", "lower")


def outline(places: Iterable[int], rows: int, columns: int) -> str | None:
    """Trace the border of a set of cells.

    Loops run clockwise around cells and anticlockwise around holes, so either fill rule works.

    Returns path data in units of cells; empty without cells, None for a set that is too scattered.
    """
    edges = _edges(_mask(places, rows, columns))
    if len(edges) > _MOST_EDGES:
        return None
    leaving: dict[tuple[int, int], set[int]] = {}
    for x, y, heading in edges:
        leaving.setdefault((x, y), set()).add(heading)
    loops = [_loop(x, y, heading, leaving) for x, y, heading in edges if heading in leaving[x, y]]
    return "".join(loops)


def whereabouts(places: Iterable[int], rows: int, columns: int) -> str:
    """Describe where most of a set of cells is, such as ``upper left`` or ``middle``."""
    y, x = np.nonzero(_mask(places, rows, columns))
    if not len(x):
        return "nowhere"
    down = _DOWNWARDS[int((y.mean() + 0.5) / rows * 3)]
    across = _ACROSS[int((x.mean() + 0.5) / columns * 3)]
    return "middle" if down == across else f"{down} {across}"


def _mask(places: Iterable[int], rows: int, columns: int) -> NDArray[np.bool_]:
    mask = np.zeros(rows * columns, dtype=bool)
    mask[list(places)] = True
    return mask.reshape(rows, columns)


def _edges(mask: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return (x, y, heading) of every unit of border, with a cell on its right, line by line."""
    around = np.pad(mask, 1)
    here = around[1:-1, 1:-1]
    sides = (
        (_RIGHT, around[:-2, 1:-1], (0, 0)),
        (_DOWN, around[1:-1, 2:], (1, 0)),
        (_LEFT, around[2:, 1:-1], (1, 1)),
        (_UP, around[1:-1, :-2], (0, 1)),
    )
    edges = []
    for heading, neighbour, (right, down) in sides:
        y, x = np.nonzero(here & ~neighbour)
        edges += [(a + right, b + down, heading) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return sorted(edges, key=lambda edge: (edge[1], edge[0], edge[2]))


def _loop(x: int, y: int, heading: int, leaving: dict[tuple[int, int], set[int]]) -> str:
    """Follow the border from its upper left corner until it closes, and remove its edges."""
    path, run, start = f"M{x} {y}", 0, (x, y)
    while True:
        leaving[x, y].discard(heading)
        x, y, run = x + _STEPS[heading][0], y + _STEPS[heading][1], run + 1
        if (x, y) == start:
            return path + "z"  # closing the path draws the last side
        # If two cells touch at a corner, turn right to stay with the same cell, so that no loop crosses itself.
        turned = next(way for way in ((heading + 1) % 4, heading, (heading + 3) % 4) if way in leaving[x, y])
        if turned != heading:
            path += f"{'hv'[heading % 2]}{run * sum(_STEPS[heading])}"
            heading, run = turned, 0


_MOST_BARS = 240
"""More bars would be thinner than a pixel and a half on a card."""
_FULL = 100
_MOST_TICKS = 8
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_RUNS = 6


def bars(weights: NDArray[np.float64]) -> str:
    """Draw weights as bars.

    `weights`: (n,) >= 0, at least one above 0. Returns path data for a drawing that is n wide and 100 high. If there
    are too many bars, neighbours are merged, with the larger weight.
    """
    group = -(-len(weights) // _MOST_BARS)
    path = []
    for start in range(0, len(weights), group):
        width = min(group, len(weights) - start)
        height = round(_FULL * float(weights[start : start + width].max() / weights.max()))
        if height:
            path.append(f"M{start} {_FULL}v-{height}h{width}v{height}z")
    return "".join(path)


def runs(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Join consecutive numbers: pairs of the first and one past the last.

    `places`: ascending and distinct.
    """
    joined: list[tuple[int, int]] = []
    for at in places:
        if joined and joined[-1][1] == at:
            joined[-1] = (joined[-1][0], at + 1)
        else:
            joined.append((at, at + 1))
    return tuple(joined)


def lane(places: Sequence[int]) -> str:
    """Draw hidden bins as blocks: path data for a drawing as wide as there are bins, and 1 high."""
    return "".join(f"M{start} 0h{end - start}v1h-{end - start}z" for start, end in runs(places))


def spoken(places: Sequence[int], bin_s: float) -> str:
    """Describe bins in seconds, such as ``1 to 3 s and 5 to 6 s``."""
    seconds = [f"{_seconds(start * bin_s)} to {_seconds(end * bin_s)} s" for start, end in runs(places)]
    if len(seconds) > _MOST_RUNS:
        seconds = [*seconds[: _MOST_RUNS - 1], f"{len(seconds) - _MOST_RUNS + 1} more intervals"]
    return " and ".join(filter(None, (", ".join(seconds[:-1]), *seconds[-1:])))


def ticks(bins: int, bin_s: float) -> tuple[tuple[float, str], ...]:
    """Choose round seconds for a scale: (percentage of the length, seconds as written)."""
    length_s = bins * bin_s
    step = next((step for step in _STEPS_S if length_s / step <= _MOST_TICKS), length_s)
    count = int(length_s / step + 1e-9)
    return tuple((round(100 * number * step / length_s, 3), _seconds(number * step)) for number in range(count + 1))


def _seconds(value: float) -> str:
    return f"{value:.10g}" if value == round(value) else f"{value:.2f}".rstrip("0")


MOST_DOTS = 300
"""Above this many clips, a density plot replaces points, which would overlap and enlarge the page."""
CELLS = 25
"""Along each side of a density plot."""
_SHADES = 5
_MOST_BINS, _CLIPS_IN_BIN = 10, 4
_HARDLY = 0.02
"""Predictions that spread less than this share of the truth are all alike: a slope over them means nothing."""
_BARS = 21
_PLACES = 3

Array = NDArray[np.float64]


def scatter(truth: Array, predicted: Array, target: Target) -> dict[str, Any]:
    """Plot predicted against true values.

    `truth` and `predicted`: (n,) values in the target's range. `target`: its range is the scale of both axes.
    """
    x, y = ((values - target.minimum) / (target.maximum - target.minimum) for values in (predicted, truth))
    thin = len(truth) > MOST_DOTS
    dots = ((round(100 * a, 1), round(100 * b, 1)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    near = f"{float(np.mean(np.abs(x - y) <= 0.1)):.0%}".replace("%", f"{NO_BREAK}%")
    return {
        # (predicted, true) of each clip, percentages of the scale; or shades if there are too many.
        "dots": [] if thin else list(dots),
        "shades": _density(x, y) if thin else (),
        "summary": f"{plural(len(truth), 'clip')}; {near} lie within a tenth of the range of their true value",
        "cells": CELLS,
    }


def _density(x: Array, y: Array) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    """Return (opacity, cells as column and row from below), lightest first."""
    counts, _, _ = np.histogram2d(x, y, bins=CELLS, range=[[0, 1], [0, 1]])
    levels = np.ceil(_SHADES * np.sqrt(counts / counts.max())).astype(int)
    return tuple(
        (f"{level / _SHADES:.1f}", tuple((int(column), int(row)) for column, row in np.argwhere(levels == level)))
        for level in range(1, _SHADES + 1)
        if (levels == level).any()
    )


def calibration(
    truth: Array, predicted: Array, people: NDArray[np.intp], resampled: Callable[[Array], Array], level: float
) -> dict[str, Any]:
    """Compare the mean prediction and mean truth of clips with similar predictions.

    `truth` and `predicted`: (n,) values in the target's range. `people`: (n,) number of each clip's person, from 0.
    `resampled`: returns (b, m) sums of resamples of people from (people, m); without rows, there are no intervals.
    """
    count = max(1, min(_MOST_BINS, len(truth) // _CLIPS_IN_BIN))
    order = np.argsort(predicted, kind="stable")
    parts, most = np.array_split(order, count), int(people.max()) + 1
    clips_and_truth = [(np.bincount(people[p], minlength=most), np.bincount(people[p], truth[p], most)) for p in parts]
    drawn = resampled(np.array(clips_and_truth).reshape(-1, most).T).reshape(-1, count, 2)
    bins = tuple(_bin(part, truth, predicted, drawn[:, at], level) for at, part in enumerate(parts))
    if np.ptp(predicted) == 0:
        summary = "all predictions are the same"
    elif np.std(predicted) < _HARDLY * np.std(truth):
        summary = "the predictions hardly differ"
    else:
        slope = float(np.cov(predicted, truth, ddof=0)[0, 1] / np.var(predicted))
        summary = f"slope {number(slope, 2)}, where 1 is perfect"
    clips = [each["clips"] for each in bins]
    return {
        "bins": bins,
        "clips": " to ".join(map(str, sorted({min(clips), max(clips)}))),
        "summary": summary,
    }


def _bin(part: NDArray[np.intp], truth: Array, predicted: Array, drawn: Array, level: float) -> dict[str, Any]:
    there, ends = drawn[drawn[:, 0] > 0], None
    if len(there) > level * len(drawn):  # a resample seldom misses all people of a bin
        low, high = percentile_interval(there[:, 1] / there[:, 0], level)
        ends = float(low), float(high)
    means = {"predicted": float(predicted[part].mean()), "truth": float(truth[part].mean())}
    return {"clips": len(part), **means, "interval": ends}


def residuals(truth: Array, predicted: Array, target: Target) -> dict[str, Any]:
    """Count how often predictions are too low and too high, and by how much.

    `truth` and `predicted`: (n,) values in the target's range. `target`: the scale covers the largest residual, in
    steps of a tenth of the target's range.
    """
    off = predicted - truth
    step = (target.maximum - target.minimum) / 10
    end = step * max(1, math.ceil(float(np.abs(off).max()) / step - 1e-9))
    counts, edges = np.histogram(off, bins=_BARS, range=(-end, end))
    bars = tuple(
        (float(low), float(high), int(count), round(100 * count / counts.max(), 1))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    )
    mean, half = float(off.mean()), float(np.median(np.abs(off)))
    return {
        # (from, to, clips, percentage of the highest bar), from too low to too high.
        "bars": bars,
        "end": end,
        "width": round(100 / _BARS, 2),
        "summary": f"mean {signed(mean, _PLACES)}, half within ±{number(half, _PLACES)}",
    }
