"""Check machine-readable evidence and normalise it: a grid over space, seconds over time, cue claims."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.errors import Problem
from ingest.settings import ExplanationFormat, Grid, Target
from model_process.packing import OTHER

MAXIMUM_MAPS = 512
MAXIMUM_CLAIMS = 200
MAXIMUM_SIDE = 4096
MAXIMUM_NUMBERS = 4_000_000
MAXIMUM_DEPTH = 3
"""Nesting of lists: maps over time are lists of lists of lists."""
LIMITS = (1e-100, 1e100)
"""A largest weight outside these is a mistake: sums or ratios of weights would overflow or underflow."""
ROUNDING = 1e-9
"""Share of the largest weight by which others may be below 0: smoothing filters leave such remainders."""
BIN_S = 1.0
SLACK_S = 0.1
"""How far an interval may reach beyond the clip's end: duration is rounded in many places."""
DIGITS = 6
SMALLEST = 7
"""Rows of the smallest map that is told from a number of maps, if the axes are in another order."""
SLIMMEST = 8
"""Largest ratio of the sides of a map; a slimmer one is a list of tokens, or has its axes in another order."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CueClaim:
    """One claim: this cue moved this target."""

    cue: str
    """From the task's vocabulary."""
    target: str
    """One of the task's targets."""
    contribution: float
    """In [-1, 1]; positive means that the cue raised the target."""


@dataclass(frozen=True)
class Evidence:
    """The valid parts of the evidence for one prediction; at least one is given."""

    space: Weights | None
    """Maps over time, shape (maps, rows, columns), >= 0."""
    time: Weights | None
    """One weight a second, >= 0."""
    cues: tuple[CueClaim, ...] | None
    """Claims, each pair of cue and target once."""

    def record(self) -> dict[str, Any]:
        """Return the evidence as it is written to the output files."""
        return {
            "space": None
            if self.space is None
            else {"rows": self.space.shape[1], "columns": self.space.shape[2], "weights": _rounded(self.space)},
            "time": None if self.time is None else {"bin_s": BIN_S, "weights": _rounded(self.time)},
            "cues": None
            if self.cues is None
            else [
                {"cue": claim.cue, "target": claim.target, "contribution": claim.contribution} for claim in self.cues
            ],
        }


def check_evidence(
    value: object,
    form: ExplanationFormat,
    targets: tuple[Target, ...],
    duration_s: float,
    problems: list[Problem],
) -> Evidence | None:
    """Return the valid parts, or None when there is none; a bad part counts as absent and adds a problem."""
    if value is None:
        return None
    if not isinstance(value, dict):
        problems.append(_bad("evidence", kind(value), "a dict with space, time or cues"))
        return None
    if unknown := [key for key in value if key not in {"space", "time", "cues"}]:
        problems.append(
            _bad("evidence", f"the keys {', '.join(map(repr, unknown[:5]))[:200]}", "only space, time, cues")
        )
    evidence = Evidence(
        space=_check_space(value.get("space"), form, problems),
        time=_check_time(value.get("time"), duration_s, problems),
        cues=_check_cues(value.get("cues"), form, targets, problems),
    )
    parts = (evidence.space, evidence.time, evidence.cues)
    return None if all(part is None for part in parts) else evidence


def seconds_of(duration_s: float) -> int:
    """Return how many seconds a clip has, the last one perhaps in part, at least 1."""
    return max(1, math.ceil(duration_s / BIN_S - 1e-6))


def as_number(value: object) -> float | None:
    """Return a plain number, or an array with one element, as a float; None for anything else (booleans included)."""
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iuf":
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf


def kind(value: object) -> str:
    """Describe a value of the wrong type in a few words."""
    if value is None:
        return "None"
    if isinstance(value, dict) and OTHER in value:
        return str(value[OTHER])[:100]
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, list):
        return f"a list of {len(value)} values"
    return f"{type(value).__name__} {value!r:.40}"


def area_average(maps: Weights, rows: int, columns: int) -> Weights:
    """Average maps of shape (n, h, w) over the cells of a grid, exactly, whatever the sizes: (n, rows, columns)."""
    averaged: Weights = _overlaps(maps.shape[1], rows) @ maps @ _overlaps(maps.shape[2], columns).T
    return averaged


def _overlaps(pixels: int, cells: int) -> Weights:
    """Return the share of each cell that each pixel covers, shape (cells, pixels); rows sum to 1."""
    edges = np.arange(cells + 1) * (pixels / cells)
    low = np.maximum(edges[:-1, None], np.arange(pixels)[None, :])
    high = np.minimum(edges[1:, None], np.arange(1, pixels + 1)[None, :])
    overlaps: Weights = np.clip(high - low, 0, None) * (cells / pixels)
    return overlaps


def _check_space(value: object, form: ExplanationFormat, problems: list[Problem]) -> Weights | None:
    if value is None:
        return None
    expected = "an array of h x w or t x h x w finite numbers >= 0, not all equal"
    array, grid = _as_array(value), form.evidence.grid
    if array is None:
        problems.append(_bad("space", kind(value), expected))
        return None
    # One channel, as Keras and PyTorch keep it, means the same as none.
    maps = array.squeeze(-1) if array.ndim > 2 and array.shape[-1] == 1 else array
    maps = maps.squeeze(1) if maps.ndim == 4 and maps.shape[1] == 1 else maps
    if maps.ndim not in {2, 3} or maps.size == 0 or (maps.ndim == 3 and len(maps) > MAXIMUM_MAPS):
        problems.append(_bad("space", f"shape {array.shape}", expected))
        return None
    if fix := _other_axes(maps.shape, grid):
        problems.append(_bad("space", f"shape {array.shape}", expected, fix))
        return None
    if max(maps.shape[-2:]) > MAXIMUM_SIDE:
        problems.append(_bad("space", f"shape {array.shape}", f"maps of at most {MAXIMUM_SIDE} pixels a side"))
        return None
    maps = _without_rounding(maps)
    if not np.isfinite(maps).all() or maps.min() < 0 or not LIMITS[0] <= maps.max() <= LIMITS[1]:
        problems.append(_bad("space", "numbers that are negative, all zero, too large or not finite", expected))
        return None
    if maps.min() == maps.max():
        problems.append(_bad("space", "the same value everywhere, which marks nothing", expected))
        return None
    return area_average(maps.reshape((-1, *maps.shape[-2:])), grid.rows, grid.columns)


def _other_axes(shape: tuple[int, ...], grid: Grid) -> str:
    """Return how to correct maps whose axes mean something else than ([t,] h, w), by their proportions; else nothing.

    Maps of networks are square, or have the proportions of the picture, which are those of the grid.
    """

    def is_map(height: int, width: int) -> bool:
        like_picture = abs(width - height * grid.columns / grid.rows) <= max(1.0, 0.02 * width)
        return height == width or like_picture

    height, width = shape[-2:]
    if is_map(height, width):
        return ""
    if is_map(width, height):
        return "swap the axes: .swapaxes(-1, -2)"
    if len(shape) == 3 and ((shape[0] >= SMALLEST and is_map(*shape[:2])) or SLIMMEST * width < height):
        return (
            "take the mean of the channels: .mean(axis=-1)"
            if width <= 4
            else "time comes first: np.moveaxis(maps, -1, 0)"
        )
    if SLIMMEST * min(height, width) < max(height, width):
        return "reshape each map to its rows and columns"
    return ""


def _without_rounding(weights: Weights) -> Weights:
    """Return 0 for what is below 0 only by rounding, as after a smoothing filter, whose sums run."""
    least = -ROUNDING * weights.max(initial=0.0)
    return np.where((weights < 0) & (weights >= least), 0.0, weights)


def _check_time(value: object, duration_s: float, problems: list[Problem]) -> Weights | None:
    if value is None:
        return None
    bins = seconds_of(duration_s)
    expected = (
        f"{bins} weights >= 0, one per second, or a list of [start_s, end_s, weight] inside 0 to {duration_s:.2f} s"
    )
    array = _as_array(value)
    weights: Weights
    if array is None or array.size == 0 or not np.isfinite(array).all() or np.abs(array).max() > LIMITS[1]:
        found = kind(value) if array is None else "numbers that are missing, too large or not finite"
        problems.append(_bad("time", found, expected))
        return None
    if array.ndim == 2 and array.shape[1] == 3:
        start, end, weight = array.T
        if (start < 0).any() or (end > duration_s + SLACK_S).any() or (start >= end).any():
            problems.append(_bad("time", "an interval that is empty or outside the clip", expected))
            return None
        edges = np.arange(bins + 1) * BIN_S
        overlap = np.minimum(end[:, None], edges[1:]) - np.maximum(start[:, None], edges[:-1])
        weights = (np.clip(overlap, 0, None) * weight[:, None]).sum(axis=0) / BIN_S
    elif array.shape == (bins,):
        weight = weights = array
    else:
        problems.append(_bad("time", f"shape {array.shape}", expected))
        return None
    weight, weights = _without_rounding(weight), _without_rounding(weights)
    if (weight < 0).any():
        problems.append(_bad("time", "a negative weight", expected))
        return None
    if (weights.min() == weights.max() and bins > 1) or weights.max() < LIMITS[0]:
        problems.append(_bad("time", "the same weight everywhere, which marks nothing", expected))
        return None
    return weights


def _check_cues(
    value: object, form: ExplanationFormat, targets: tuple[Target, ...], problems: list[Problem]
) -> tuple[CueClaim, ...] | None:
    if value is None:
        return None
    names = {target.name for target in targets}
    if not isinstance(value, list) or len(value) > MAXIMUM_CLAIMS:
        problems.append(_bad("cues", kind(value), f"a list of at most {MAXIMUM_CLAIMS} claims"))
        return None
    claims: dict[tuple[str, str], CueClaim] = {}
    bad = False
    for position, item in enumerate(value):
        where = f"cues[{position}]"
        cue, target, contribution = (
            (item.get("cue"), item.get("target"), item.get("contribution")) if isinstance(item, dict) else (None,) * 3
        )
        number = as_number(contribution)
        if not isinstance(cue, str) or cue not in form.evidence.cues:
            problems.append(_bad(where, f"the cue {cue!r:.60}", "one of " + ", ".join(form.evidence.cues)))
        elif not isinstance(target, str) or target not in names:
            problems.append(_bad(where, f"the target {target!r:.60}", "one of " + ", ".join(sorted(names))))
        elif number is None or not -1 <= number <= 1:  # also false for NaN
            problems.append(_bad(where, f"contribution {kind(contribution)}", "a number from -1 to 1"))
        elif (cue, target) in claims:
            problems.append(_bad(where, f"a second claim about {cue} and {target}", "each pair once"))
        else:
            claims[cue, target] = CueClaim(cue, target, number)
            continue
        bad = True
    return None if bad or not claims else tuple(claims.values())


def _as_array(value: object) -> Weights | None:
    if not _only_numbers(value):
        return None
    try:
        array = np.asarray(value)
        # Checked before it becomes floats of eight times the size.
        fits = array.dtype.kind in "iuf" and array.size <= MAXIMUM_NUMBERS
        numbers: Weights | None = array.astype(np.float64) if fits else None
    except (TypeError, ValueError, MemoryError):  # ragged lists, mixed types
        return None
    return numbers


def _only_numbers(value: object) -> bool:
    """Check lists before NumPy reads them: it makes every cell as wide as the longest text."""
    items, count = [value], 0
    for _ in range(MAXIMUM_DEPTH + 1):
        deeper: list[object] = []
        for item in items:
            if isinstance(item, list | tuple):
                count += len(item)
            elif isinstance(item, np.ndarray) and item.dtype.kind in "iuf":
                count += item.size
            elif isinstance(item, bool) or not isinstance(item, int | float):
                return False
            if count > MAXIMUM_NUMBERS:
                return False
            if isinstance(item, list | tuple):
                deeper += item
        items = deeper
    return not items


def _bad(where: str, found: str, expected: str, fix: str = "") -> Problem:
    """Return the problem of one part, which then counts as absent."""
    return Problem("evidence_invalid", "explain", where, found, expected, fix)


def _rounded(weights: Weights) -> Any:  # noqa: ANN401 - nested lists of any depth
    scale = float(weights.max()) or 1.0
    digits = DIGITS - 1 - math.floor(math.log10(scale))
    return np.round(weights, max(0, digits)).tolist()
