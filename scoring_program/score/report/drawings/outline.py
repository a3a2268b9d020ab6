"""Cells of a grid as an outline for SVG.

The drawing's viewBox is the grid itself, so every coordinate is an integer and the outlined area is exact, whatever the
number of cells and the size of the picture.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

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
    found = []
    for heading, neighbour, (right, down) in sides:
        y, x = np.nonzero(here & ~neighbour)
        found += [(a + right, b + down, heading) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return sorted(found, key=lambda edge: (edge[1], edge[0], edge[2]))


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
