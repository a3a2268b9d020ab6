"""The table of runs, and their ranks under other rules."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bundle_tools.challenge.compare.bands import ABOVE
from score.diagnostics import TITLES

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
