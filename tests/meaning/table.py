"""Makes ``docs/meaning.md``: ``python -m tests.meaning.table`` tries every submission on five sets.

Those that predict in their own way run in the real programs. The others tell their stories about the honest run.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tests import ROOT
from tests.meaning.entrants import ENTRANTS, Entrant
from tests.meaning.recorded import HONEST, gathered, load, told
from tests.meaning.runs import CACHE, Scores, run_all
from tests.meaning.sets import CLIPS, COMMITTED, SETS, ClipSet, clip_set

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
ROUNDING = 0.01
"""Largest difference of two totals of which one is rounded."""


@dataclass(frozen=True)
class Row:
    """What one submission scores."""

    mean: dict[str, float]
    """Mean over the sets, by column."""
    behind: tuple[float, ...]
    """On each set, the total minus the honest one."""


def summarise(scores: Mapping[str, Sequence[Scores]]) -> dict[str, Row]:
    """Return a row for each submission from its scores on every set."""
    rows = {}
    for key, of in scores.items():
        mean = {column: float(np.mean([one[column] for one in of])) for column in COLUMNS}
        behind = tuple(one[TOTAL] - honest[TOTAL] for one, honest in zip(of, scores[HONEST], strict=True))
        rows[key] = Row(mean, behind)
    return rows


def table_text(rows: Mapping[str, Row], sets: Sequence[str]) -> str:
    """Write the table of means and differences in Markdown."""
    names = [name if name in COMMITTED else f"fresh {name[1]}" for name in sets]
    headings = ["submission", *COLUMNS.values(), "to honest", *names]
    lines = [headings, ["---", *["--:"] * (len(headings) - 1)]]
    for entrant in ENTRANTS:
        if entrant.key in rows:
            row = rows[entrant.key]
            cells = [f"{row.mean[key]:.2f}" for key in COLUMNS if key != TOTAL]
            behind = [f"{each:+.1f}" for each in (np.mean(row.behind), *row.behind)]
            lines.append([entrant.title, *cells, f"**{row.mean[TOTAL]:.1f}**", *behind])
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def stories(entrants: Sequence[Entrant], sets: Sequence[ClipSet], cache: Path, jobs: int) -> dict[str, list[Scores]]:
    """Score what submissions say about the honest run; returns by key of the submission its scores on each set."""
    found: dict[str, list[Scores]] = {entrant.key: [] for entrant in entrants}
    for clips in sets:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda entrant: told(entrant, clips, cache), entrants))  # noqa: B023 - done before the next
        one = load(gathered(clips, found, cache))
        for key, of in found.items():
            values = one.values(one.table(one.told_by(key)))
            of.append({column: float(values[column][0]) for column in COLUMNS})
    return found


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
    figures = {"table": table_text(rows, sets), "noise": noise_text(scores), "entrants": str(len(rows))}
    figures |= {"clips": str(CLIPS), "honest.totals": _listed([of[TOTAL] for of in scores[HONEST]])}
    for key, row in rows.items():
        figures[f"{key}.behind"] = f"{np.mean(row.behind):+.1f}"
    return figures


def _listed(totals: Sequence[float]) -> str:
    *most, last = (f"{total:.1f}" for total in totals)
    return f"{', '.join(most)} and {last}" if most else last


def read_table(page: str) -> dict[str, float]:
    """Return the totals that a page states, by key of the submission."""
    keys = {entrant.title: entrant.key for entrant in ENTRANTS}
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    total = list(COLUMNS).index(TOTAL) + 1
    return {keys[line[0]]: float(line[total].strip("*")) for line in lines if line[0] in keys and "**" in line[total]}


def main() -> None:
    """Run everything that has changed, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", choices=SETS, default=SETS, help="just these sets of clips"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="just these submissions")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of what was made before")
    options = parser.parse_args()
    entrants = [entrant for entrant in ENTRANTS if _wanted(entrant, options.only)]
    sets = [clip_set(name, options.cache, options.jobs) for name in options.sets]
    run = [entrant for entrant in entrants if entrant.own or entrant.key == HONEST]
    scores = run_all(run, sets, options.cache, options.jobs, _say)
    told_scores = stories([entrant for entrant in entrants if not entrant.own], sets, options.cache, options.jobs)
    for real, again in zip(scores[HONEST], told_scores[HONEST], strict=True):
        if abs(real[TOTAL] - again[TOTAL]) > ROUNDING:
            raise RuntimeError(f"the honest run has {real[TOTAL]}, its records {again[TOTAL]}")
    scores |= told_scores
    _say(f"\n{table_text(summarise(scores), options.sets)}")
    if options.only is None and options.sets == SETS:  # otherwise the page stays as it is
        page = fill(TEMPLATE.read_text(encoding="utf-8"), figures_of(scores, SETS))
        PAGE.write_text(page, encoding="utf-8")


def _wanted(entrant: Entrant, only: Sequence[str] | None) -> bool:
    return only is None or entrant.key in (HONEST, *only)  # the others are compared with it


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
