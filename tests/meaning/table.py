"""Makes ``docs/meaning.md``: ``python -m tests.meaning.table`` runs every submission on Practice.

What is recorded of five sets (``recorded.py``) fills a second table.
"""

import argparse
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tests import ROOT
from tests.meaning.entrants import ENTRANTS, Entrant
from tests.meaning.recorded import HONEST, KEYS, read
from tests.meaning.runs import CACHE, Scores, run_all
from tests.meaning.sets import CLIPS, COMMITTED, SETS, clip_set

PAGE = ROOT / "docs" / "meaning.md"
TEMPLATE = Path(__file__).with_name("meaning.md.in")
COLUMNS = {
    "faithfulness_space": "space",
    "faithfulness_time": "time",
    "cue_claims": "claims",
    "known_causes": "causes",
    "text": "text",
    "explanation": "total",
}
"""Score columns of the table and their headings."""
MEASURED = ("faithfulness_space", "faithfulness_time", "cue_claims", "known_causes")
"""The axes that a text does not enter."""
TOTAL = "explanation"
NOISE = (HONEST, "noise_0.5", "noise_1", "noise_2")
"""From the truth to hardly any of it."""


@dataclass(frozen=True)
class Row:
    """What one submission scores."""

    mean: dict[str, float]
    """Mean over the sets, by column."""
    spread: float
    """Standard deviation of the total between sets; 0 for one set."""
    behind: float
    """Mean of the total minus the honest one on the same set."""


def summarise(scores: Mapping[str, Sequence[Scores]]) -> dict[str, Row]:
    """Return a row for each submission from its scores on every set."""

    def totals(key: str) -> np.ndarray:
        return np.array([one[TOTAL] for one in scores[key]])

    rows = {}
    for key, of in scores.items():
        behind = totals(key) - totals(HONEST)
        mean = {column: float(np.mean([one[column] for one in of])) for column in COLUMNS}
        rows[key] = Row(mean, _deviation(totals(key)), float(behind.mean()))
    return rows


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def table_text(rows: Mapping[str, Row]) -> str:
    """Write the table of means in Markdown."""
    headings = ["submission", *COLUMNS.values(), "to honest"]
    lines = [headings, ["---", *["--:"] * (len(headings) - 1)]]
    for entrant in ENTRANTS:
        if entrant.key in rows:
            row = rows[entrant.key]
            cells = [f"{row.mean[key]:.2f}" for key in COLUMNS if key != TOTAL]
            lines.append([entrant.title, *cells, f"**{row.mean[TOTAL]:.1f}**", f"{row.behind:+.1f}"])
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def stories_text() -> str:
    """Write the table of what is recorded: totals on every set, and the difference to the honest one."""
    with tempfile.TemporaryDirectory() as temporary:
        sets = [read(name, Path(temporary) / name) for name in SETS]
    totals = {key: np.array([float(one.values(one.table(one.told_by(key)))[TOTAL][0]) for one in sets]) for key in KEYS}
    headings = [name if name in COMMITTED else f"fresh {name[1]}" for name in SETS]
    lines = [["submission", *headings, "to honest", "highest"], ["---", *["--:"] * (len(SETS) + 2)]]
    for entrant in ENTRANTS:
        if entrant.key in KEYS:
            behind = totals[entrant.key] - totals[HONEST]
            cells = [f"{total:.1f}" for total in totals[entrant.key]]
            lines.append([entrant.title, *cells, f"{behind.mean():+.1f}", f"{behind.max():+.1f}"])
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def noise_text(scores: Mapping[str, Sequence[Scores]]) -> str:
    """Say on how many steps, over all sets, more noise is worth less."""
    columns = {key: heading for key, heading in COLUMNS.items() if key in (*MEASURED, TOTAL)}
    steps = [pair for less, more in pairwise(NOISE) for pair in zip(scores[less], scores[more], strict=True)]
    won = [
        f"{heading} in {sum(better[key] > worse[key] for better, worse in steps)}" for key, heading in columns.items()
    ]
    return f"More noise lowers {', '.join(won[:-1])} and {won[-1]} of {len(steps)} comparisons."


def fill(template: str, figures: Mapping[str, str]) -> str:
    """Replace every ``{name}``.

    Raises KeyError for a name that has no figure.
    """
    return re.sub(r"\{([a-z][\w.]*)\}", lambda found: figures[found[1]], template)


def figures_of(scores: Mapping[str, Sequence[Scores]], sets: Sequence[str]) -> dict[str, str]:
    """Return everything that the page names, by the names of its template."""
    rows = summarise(scores)
    figures = {"table": table_text(rows), "noise": noise_text(scores), "entrants": str(len(rows))}
    figures |= {
        "spread": f"{max(row.spread for row in rows.values()):.1f}",
        "sets": str(len(sets)),
        "clips": str(CLIPS),
        "people": str(CLIPS // 2),
    }
    for key, row in rows.items():
        for column, heading in COLUMNS.items():
            figures[f"{key}.{heading}"] = f"{row.mean[column]:.{0 if column == TOTAL else 2}f}"
        figures[f"{key}.behind"] = f"{row.behind:+.1f}"
    return figures


def read_table(page: str) -> dict[str, float]:
    """Return the totals that a page states, by key of the submission."""
    keys = {entrant.title: entrant.key for entrant in ENTRANTS}
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    total = list(COLUMNS).index(TOTAL) + 1
    return {keys[line[0]]: float(line[total].strip("*")) for line in lines if line[0] in keys and "**" in line[total]}


def main() -> None:
    """Run everything that has changed, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1, help="how many sets of clips, Practice first")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="just these submissions; the page stays as it is")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of what was made before")
    options = parser.parse_args()
    names = SETS[: options.sets]
    entrants = [entrant for entrant in ENTRANTS if _wanted(entrant, options.only)]
    sets = [clip_set(name, options.cache, options.jobs) for name in names]
    scores = run_all(entrants, sets, options.cache, options.jobs, _say)
    for number, name in enumerate(names):
        _say(f"\n{name}\n\n{table_text(summarise({key: [of[number]] for key, of in scores.items()}))}")
    if len(names) > 1:
        _say(f"\nall sets\n\n{table_text(summarise(scores))}")
    if options.only is None:
        figures = figures_of(scores, names) | {"stories": stories_text()}
        page = fill(TEMPLATE.read_text(encoding="utf-8"), figures)
        PAGE.write_text(page, encoding="utf-8")


def _wanted(entrant: Entrant, only: Sequence[str] | None) -> bool:
    return only is None or entrant.key in (HONEST, *only)  # the others are compared with it


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
