"""Makes ``docs/meaning.md``: ``python -m tests.meaning.table`` scores every reference submission in several worlds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "ingestion_program"), str(PROJECT / "scoring_program")]  # as pytest's settings do

from tests.meaning.entrants import ENTRANTS, Entrant  # noqa: E402
from tests.meaning.simulate import scores_of, write_run  # noqa: E402
from tests.meaning.world import World, make_world  # noqa: E402

PAGE = PROJECT / "docs" / "meaning.md"
TEMPLATE = Path(__file__).with_name("meaning.md.in")
CLIPS = 150
SEEDS = (11, 12, 13, 14, 15)
POWER_CLIPS = (25, 50, 100)
POWER_PAIRS = 60
COLUMNS = {
    "faithfulness_space": "space",
    "faithfulness_time": "time",
    "cue_claims": "claims",
    "known_causes": "causes",
    "text": "text",
    "coverage": "coverage",
    "skill": "skill",
    "explanation": "total",
}
"""Score columns of the table and their headings."""


@dataclass(frozen=True)
class Row:
    """What one reference submission scores."""

    mean: dict[str, float]
    """Mean over the worlds, by column."""
    spread: dict[str, float]
    """Standard deviation over the worlds, by column."""


def score_in(world: World, entrant: Entrant) -> dict[str, float]:
    """Score one entrant in one world with the scoring program."""
    with TemporaryDirectory() as folder:
        scores = scores_of(write_run(Path(folder), entrant, world))
    return {key: scores[key] for key in COLUMNS}


def rows(entrants: Iterable[Entrant], worlds: Sequence[World]) -> dict[str, Row]:
    """Score entrants in several worlds; returns a row for each key."""
    table = {}
    for entrant in entrants:
        scores = [score_in(world, entrant) for world in worlds]
        values = {key: np.array([one[key] for one in scores]) for key in COLUMNS}
        mean = {key: float(of.mean()) for key, of in values.items()}
        table[entrant.key] = Row(mean, {key: float(of.std()) for key, of in values.items()})
    return table


def ordered_right(clips: int, pairs: int) -> dict[str, float]:
    """Return how often noise 0.5 scores above noise 0.6 on the same clips, by column."""
    less = next(entrant for entrant in ENTRANTS if entrant.key == "noise_0.5")
    more = replace(less, noise=0.6)
    columns = ("faithfulness_space", "explanation")
    wins = dict.fromkeys(columns, 0)
    for number in range(pairs):
        world = make_world(clips, 1000 + number)
        better, worse = score_in(world, less), score_in(world, more)
        for key in columns:
            wins[key] += better[key] > worse[key]
    return {key: won / pairs for key, won in wins.items()}


def table_text(table: Mapping[str, Row]) -> str:
    """Write the table of submissions in Markdown: means, and the spread of the total."""
    lines = [
        "| submission | " + " | ".join(COLUMNS.values()) + " |",
        "|---" + "|--:" * len(COLUMNS) + "|",
    ]
    for entrant in ENTRANTS:
        row = table[entrant.key]
        axes = [f"{row.mean[key]:.2f}" for key in COLUMNS if key != "explanation"]
        total = f"**{row.mean['explanation']:.1f}** ± {row.spread['explanation']:.1f}"
        lines.append(f"| {entrant.title} | " + " | ".join([*axes, total]) + " |")
    return "\n".join(lines)


def power_text(powers: Mapping[int, Mapping[str, float]]) -> str:
    """Write the table of paired comparisons in Markdown."""
    lines = ["| clips | space alone | total |", "|--:|--:|--:|"]
    for clips, shares in powers.items():
        lines.append(f"| {clips} | {shares['faithfulness_space']:.0%} | {shares['explanation']:.0%} |")
    return "\n".join(lines)


def read_table(page: str) -> dict[str, dict[str, float]]:
    """Return the means that a page states, by title of the submission."""
    stated = {}
    titles = {entrant.title for entrant in ENTRANTS}
    for line in page.splitlines():
        title, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if title in titles:
            numbers = [float(cell.split("±")[0].strip(" *")) for cell in cells]
            stated[title] = dict(zip(COLUMNS, numbers, strict=True))
    return stated


def main() -> None:
    """Score everything and write the page."""
    table = rows(ENTRANTS, [make_world(CLIPS, seed) for seed in SEEDS])
    powers = {clips: ordered_right(clips, POWER_PAIRS) for clips in POWER_CLIPS}
    figures = {f"{key}.{column}": value for key, row in table.items() for column, value in row.mean.items()}
    page = TEMPLATE.read_text(encoding="utf-8")
    page = page.replace("{table}", table_text(table)).replace("{power}", power_text(powers))
    for name, value in figures.items():
        page = page.replace("{" + name + "}", f"{value:.0f}" if name.endswith("explanation") else f"{value:.2f}")
    for name, value in {"entrants": len(ENTRANTS), "clips": CLIPS, "seeds": len(SEEDS), "pairs": POWER_PAIRS}.items():
        page = page.replace("{" + name + "}", str(value))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
