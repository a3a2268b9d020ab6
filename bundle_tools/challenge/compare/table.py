"""Bands of runs whose totals cannot be told apart, from totals on common bootstrap resamples.

A run is *above* another if its total is higher in at least 95 % of the resamples. That relation alone is not a ranking:
A may be above C while B, between them, is neither below A nor above C. So bands are formed from the top. The best run
without a band opens one. The next runs, in the order of totals, join it until a run is below (or above) one of its
members; that run opens the next band. Hence no member of a band is above another, and bands are in the order of totals.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.error_analysis import TITLES

ABOVE = 0.95


@dataclass(frozen=True)
class Contender:
    """One run with its total, on all clips and on each resample."""

    name: str
    """Unique name in the table."""
    total: float
    """The explanation score, 0 to 100."""
    draws: NDArray[np.float64]
    """(resamples,) the score on each resample; entry j is the same resample for every run."""


def shares_above(contenders: Sequence[Contender]) -> NDArray[np.float64]:
    """Return how often each run's total is strictly higher than each other's.

    Returns (runs, runs) shares of the resamples, in [0, 1]; the diagonal is 0.
    """
    draws = np.stack([contender.draws for contender in contenders])
    # One row at a time, because all pairs of a hundred runs would fill the memory.
    return np.stack([(row > draws).mean(axis=1) for row in draws])


def bands(contenders: Sequence[Contender], share: float = ABOVE) -> dict[str, int]:
    """Return each run's band, 1 for the best.

    `contenders`: in any order, at least one. `share`: share of the resamples from which a run is above another, in
    (0.5, 1]. Returns name -> band, best total first; equal totals are sorted by name.
    """
    ordered = sorted(contenders, key=lambda one: (-one.total, one.name))
    above = shares_above(ordered) >= share
    parted = above | above.T
    found: dict[str, int] = {}
    band, first = 1, 0
    for place, contender in enumerate(ordered):
        if parted[place, first:place].any():
            band, first = band + 1, place
        found[contender.name] = band
    return found


def places(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Return each value's place, 1 for the highest; equal values share the better place, and the next place is skipped.

    Examples
    --------
    >>> places([0.2, 0.5, 0.5, 0.1])
    [3, 1, 1, 4]
    """
    found = np.asarray(values, dtype=float)
    return [int((found > value).sum()) + 1 for value in found]


def middle_ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each value's rank, 1 for the highest; equal values share the middle of their ranks.

    Examples
    --------
    >>> middle_ranks([0.2, 0.5, 0.5, 0.1]).tolist()
    [3.0, 1.5, 1.5, 4.0]
    """
    found = np.asarray(values, dtype=float)
    return np.array([(found > value).sum() + ((found == value).sum() + 1) / 2 for value in found])


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each run's mean rank over several criteria of equal weight.

    `values`: (runs, criteria), higher is better; at least one criterion. Returns (runs,) in [1, runs], lower is better.
    """
    return np.asarray(np.mean([middle_ranks(column) for column in np.asarray(values, dtype=float).T], axis=0))


# More columns would not fit side by side.
MOST_PAIRED = 12
LONGEST_NAME = 40
LARGE_REACTION = "!"


@dataclass(frozen=True)
class Row:
    """One run among the others."""

    name: str
    band: int
    """1 for the best; runs within a band cannot be told apart."""
    place: int
    """Place by total, 1 for the highest."""
    total: float
    """The explanation score, 0 to 100."""
    interval: tuple[float, float] | None
    """Interval of the total over common resamples; None with a single source."""
    arithmetic: float
    """The total with a plain weighted mean of the axes, 0 to 100."""
    arithmetic_place: int
    """Place by `arithmetic`, 1 for the highest."""
    mean_rank: float
    """Mean of the ranks on each axis, on coverage and on skill, >= 1; lower is better."""
    mean_rank_place: int
    """Place by `mean_rank`, 1 for the lowest."""
    coverage: float
    """In [0, 1]."""
    skill: float
    """Share of the way from the constant to the reference, in [0, 1]."""
    axes: dict[str, float]
    """Axis -> value in [0, 1]."""
    reasons: dict[str, int] | None
    """Numbers of clips right or wrong, grounded or not; None if the phase has no known causes."""
    reaction_size: float | None
    """How strongly the model reacts to hiding, relative to its claims; None with too few clips."""
    large_reaction: bool | None
    """Whether that is so large that the code deserves a look."""
    above: dict[str, float]
    """Name of each other run -> share of the resamples in which this one's total is higher."""


def record(rows: Sequence[Row], phase: str, resamples: int) -> dict[str, Any]:
    """Return the comparison as JSON data."""
    return {"phase": phase, "resamples": resamples, "share": ABOVE, "runs": [asdict(row) for row in rows]}


def lines(rows: Sequence[Row], phase: str, resamples: int) -> list[str]:
    """Return the comparison for a terminal: the ranking, the axes, and who is above whom."""
    names = [_short(row.name) for row in rows]
    ranking = [["band", "place", "total", "95 % interval", "arithmetic mean", "mean rank", "run"]]
    axes = [[*(rows[0].axes if rows else ()), "coverage", "skill'", "run"]]
    for row, name in zip(rows, names, strict=True):
        interval = f"[{row.interval[0]:.2f}, {row.interval[1]:.2f}]" if row.interval else "-"
        ranking.append(
            [
                str(row.band),
                str(row.place),
                f"{row.total:.2f}",
                interval,
                f"{row.arithmetic:.2f} ({row.arithmetic_place})",
                f"{row.mean_rank:.2f} ({row.mean_rank_place})",
                name,
            ]
        )
        axes.append([*(f"{value:.4f}" for value in (*row.axes.values(), row.coverage, row.skill)), name])
    text = [f"Phase {phase}, {len(rows)} runs, {resamples} common resamples of the sources.", "", *_aligned(ranking)]
    text += ["", *_aligned(axes)]
    text += ["", *_aligned(_beside(rows, names))]
    if any(row.large_reaction for row in rows):
        text.append(f"{LARGE_REACTION} Altering the picture moves this model more than it claims: read its code.")
    if 1 < len(rows) <= MOST_PAIRED:
        pairs = [["higher than", *(str(number) for number in range(1, len(rows) + 1)), "run"]]
        for number, (row, name) in enumerate(zip(rows, names, strict=True), 1):
            shares = ["-" if other.name == row.name else f"{row.above[other.name]:.2f}" for other in rows]
            pairs.append([str(number), *shares, name])
        text += ["", *_aligned(pairs)]
    text += [
        "",
        f"A run is above another if its total is higher in {ABOVE:.0%} of the resamples; a band begins with the",
    ]
    return [*text, "best run that has none above it, and ends before the first run that is below one of its members."]


def _beside(rows: Sequence[Row], names: Sequence[str]) -> list[list[str]]:
    """Return unscored values: clips right for the right reason or not, and the reaction size."""
    titles = TITLES if any(row.reasons for row in rows) else {}
    cells = [[*titles.values(), "reaction size", "run"]]
    for row, name in zip(rows, names, strict=True):
        mark = f" {LARGE_REACTION}" if row.large_reaction else ""
        size = "-" if row.reaction_size is None else f"{row.reaction_size:.2f}"
        cells.append([*(str(row.reasons[key]) if row.reasons else "-" for key in titles), size + mark, name])
    return cells


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    # The name comes last, aligned left, because it may have any length.
    return [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in cells
    ]


def _short(name: str) -> str:
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
