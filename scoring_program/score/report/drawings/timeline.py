"""Seconds of a clip drawn as SVG: their weights, and which were hidden."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_MOST_BARS = 240
"""More bars would be thinner than a pixel and a half on a card."""
_FULL = 100
_MOST_TICKS = 8
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_RUNS_TOLD = 6


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
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return tuple(found)


def lane(places: Sequence[int]) -> str:
    """Draw hidden bins as blocks: path data for a drawing as wide as there are bins, and 1 high."""
    return "".join(f"M{start} 0h{end - start}v1h-{end - start}z" for start, end in runs(places))


def spoken(places: Sequence[int], bin_s: float) -> str:
    """Describe bins in seconds, such as ``1 to 3 s and 5 to 6 s``."""
    told = [f"{_seconds(start * bin_s)} to {_seconds(end * bin_s)} s" for start, end in runs(places)]
    if len(told) > _MOST_RUNS_TOLD:
        told = [*told[: _MOST_RUNS_TOLD - 1], f"{len(told) - _MOST_RUNS_TOLD + 1} more intervals"]
    return " and ".join(filter(None, (", ".join(told[:-1]), *told[-1:])))


def ticks(bins: int, bin_s: float) -> tuple[tuple[float, str], ...]:
    """Choose round seconds for a scale: (percentage of the length, seconds as written)."""
    length_s = bins * bin_s
    step = next((step for step in _STEPS_S if length_s / step <= _MOST_TICKS), length_s)
    count = int(length_s / step + 1e-9)
    return tuple((round(100 * number * step / length_s, 3), _seconds(number * step)) for number in range(count + 1))


def _seconds(value: float) -> str:
    return f"{value:.10g}" if value == round(value) else f"{value:.2f}".rstrip("0")
