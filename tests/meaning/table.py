"""Makes ``docs/meaning.md``: ``python -m tests.meaning.table`` tries every submission on five sets, some as if filmed.

Those that predict in their own way run in the real programs. The others tell their stories about the honest run.
``--sets filmed`` repeats only the part about clips that are played as if they were filmed.
"""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from score.axes.table import AxisSums
from tests import ROOT, there
from tests.meaning.entrants import ENTRANTS, Entrant
from tests.meaning.gates import Liar
from tests.meaning.recorded import BY_KEY, FILMED_KEYS, HONEST, WATCHED, Recorded, gathered, load, told
from tests.meaning.runs import CACHE, Scores, run_all
from tests.meaning.sets import CLIPS, COMMITTED, FILMED, SETS, ClipSet, clip_set
from tests.meaning.watched import STATISTICS, Watched, read_watched

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
FILMED_COLUMNS = ("faithfulness_space", "faithfulness_time", "cue_claims", "text", TOTAL)
"""Columns of the clips that are played as if filmed: nobody knows what caused their labels."""
SECTION = re.compile(r"^## Filmed clips\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
"""What the page says about them."""
LOTS = range(5)
"""Seeds of the lots that lies are drawn by."""
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


def filmed_rows(one: Recorded, watched: Mapping[str, Watched], lots: Iterable[int] = LOTS) -> dict[str, Scores]:
    """Return what submissions score on clips with a sham, by title; lies are means over `lots`."""

    def scores(tables: Iterable[AxisSums]) -> list[Scores]:
        values = [one.values(table) for table in tables]
        return [{column: float(of[column][0]) for column in FILMED_COLUMNS} for of in values]

    def mean(rows: Sequence[Scores]) -> Scores:
        return {column: float(np.mean([row[column] for row in rows])) for column in FILMED_COLUMNS}

    found = {BY_KEY[key].title: scores([one.table(one.told_by(key))])[0] for key in FILMED_KEYS}
    for remembers in (False, True):
        liars = [Liar(one, watched, seed=seed, remembers=remembers) for seed in lots]
        if not remembers:
            found["marks by lot"] = mean(scores(liar.alone() for liar in liars))
        after = " with memory" if remembers else ""
        gates = [mean(scores(liar.with_gate(gate) for liar in liars)) for gate in liars[0].gates]
        found[f"gates{after}: mean of {len(gates)}"] = mean(gates)
        found[f"gates{after}: best"] = max(gates, key=lambda row: row[TOTAL])
        found[f"learned gate{after}"] = mean(scores(liar.with_detector() for liar in liars))
    return found


def filmed_text(rows: Mapping[str, Scores]) -> str:
    """Write the table of clips that are played as if filmed in Markdown."""
    lines = [["submission", *(COLUMNS[key] for key in FILMED_COLUMNS)], ["---", *["--:"] * len(FILMED_COLUMNS)]]
    for title, row in rows.items():
        lines.append([title, *(f"{row[key]:.2f}" for key in FILMED_COLUMNS[:-1]), f"{row[TOTAL]:.1f}"])
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def filmed_figures(cache: Path, jobs: int) -> dict[str, str]:
    """Return what the page names about clips that are played as if filmed."""
    files = gathered(clip_set(FILMED, cache, jobs), FILMED_KEYS, cache)
    one = load(files)
    people = len(set(one.outcomes.sources.tolist()))
    rows = filmed_rows(one, read_watched(files[WATCHED]))
    counts = {"clips": CLIPS, "people": people, "statistics": len(STATISTICS)}
    return {"filmed.table": filmed_text(rows)} | {f"filmed.{name}": str(count) for name, count in counts.items()}


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
    page = SECTION.sub("", page)  # some are in its table, too
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    total = list(COLUMNS).index(TOTAL) + 1
    return {keys[line[0]]: float(line[total].strip("*")) for line in lines if line[0] in keys and "**" in line[total]}


def main() -> None:
    """Run everything that has changed, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", choices=(*SETS, FILMED), default=SETS, help="just these sets of clips"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="just these submissions")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of what was made before")
    options = parser.parse_args()
    if options.sets == [FILMED]:
        section = there(SECTION.search(TEMPLATE.read_text(encoding="utf-8")))[0]
        filled = fill(section, filmed_figures(options.cache, options.jobs))
        _say(filled)
        PAGE.write_text(SECTION.sub(lambda _: filled, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
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
        figures = figures_of(scores, SETS) | filmed_figures(options.cache, options.jobs)
        PAGE.write_text(fill(TEMPLATE.read_text(encoding="utf-8"), figures), encoding="utf-8")


def _wanted(entrant: Entrant, only: Sequence[str] | None) -> bool:
    return only is None or entrant.key in (HONEST, *only)  # the others are compared with it


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
