"""Put runs side by side, and say which difference is more than luck: python3 compare.py runs/first runs/second.

The first run named is the one that the others are compared with. Of runs over fewer clips than the phase has
(`run.py --clips`) only the scores are shown.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doctor import ROOT

if TYPE_CHECKING:
    from score.evaluation.evaluate import ClipScores

RESAMPLES = 1000
SURE = 0.95
"""Share of the resamples from which on the organisers, too, call a submission better than another."""


def read_run(folder: Path) -> "ClipScores | str":
    """Read what `run.py` left behind.

    Returns
    -------
    ClipScores or str
        What the scoring program computes the columns from, or why there is nothing.
    """
    from score.errors import ScoringError  # noqa: PLC0415 - the program's path is known only now
    from score.evaluation.evaluate import clip_scores  # noqa: PLC0415
    from score.pipeline import prepare  # noqa: PLC0415

    if not (folder / "input/res/run.json").is_file():
        return f"{folder}: expected a folder that run.py wrote with --out, found no input/res/run.json in it"
    try:
        prepared = prepare(folder / "input")
    except ScoringError as error:
        return f"{folder}: {error.headline} Run it again"
    return clip_scores(prepared.outcomes, prepared.settings)


def count_clips(reference: Path) -> int:
    """Count the clips of a phase, or of a part of it, by its labels; 0 where there are none."""
    labels = reference / "labels.csv"
    if not labels.is_file():
        return 0
    with labels.open(encoding="utf-8-sig", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


def table(names: Sequence[str], runs: Sequence["ClipScores"], *, enough: bool = True) -> list[str]:
    """Write a line for each score, and two for how often each run is better or worse than the first.

    Parameters
    ----------
    names
        How the runs are called.
    runs
        As many, all over the same clips.
    enough
        Whether these are clips enough to say which run is better.
    """
    from score.columns import columns  # noqa: PLC0415
    from score.evaluation.evaluate import column_values  # noqa: PLC0415
    from score.measure.bootstrap import resample_weights  # noqa: PLC0415

    first = runs[0]
    usual = [column_values(run, np.ones((1, first.groups))) for run in runs]
    shown = [column for column in columns(first.settings) if column.key in usual[0]]
    rows = [["", *names]]
    rows += [
        [column.key, *(f"{column.rounded(one[column.key][0]):.{column.decimals}f}" for one in usual)]
        for column in shown
    ]
    if enough and first.groups > 1 and len(runs) > 1:
        # The same persons are drawn for all runs: what a resample is kind to, it is kind to in each of them.
        weights = np.concatenate(list(resample_weights(first.groups, RESAMPLES, first.settings.bootstrap.seed)))
        drawn = [column_values(run, weights)[shown[0].key] for run in runs]
        rows.append(["better in", "", *(f"{(one > drawn[0]).mean():.0%}" for one in drawn[1:])])
        rows.append(["worse in", "", *(f"{(one < drawn[0]).mean():.0%}" for one in drawn[1:])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]).rstrip() for cells in rows]


def main(arguments: list[str] | None = None) -> int:
    """Compare runs.

    Returns
    -------
    int
        0 if there was something to compare, else 1.
    """
    parser = argparse.ArgumentParser(description="Put the scores of several runs side by side.")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a folder that run.py wrote (--out)")
    folders: list[Path] = parser.parse_args(arguments).runs
    sys.path.insert(0, str(ROOT / "scoring_program"))
    read = {folder: read_run(folder) for folder in folders}
    problems = [found for found in read.values() if isinstance(found, str)]
    runs = {folder: found for folder, found in read.items() if not isinstance(found, str)}
    if len({run.clip_ids for run in runs.values()}) > 1:
        counts = ", ".join(f"{folder} {len(run.clip_ids)}" for folder, run in runs.items())
        problems.append(
            f"expected runs over the same clips, found other clips or another number of them: {counts}. Run all clips"
        )
    for problem in problems:
        sys.stdout.write(f"{problem}.\n")
    if problems:
        return 1
    there = count_clips(folders[0] / "input/ref")
    whole = count_clips(ROOT / "reference_data/practice")
    for line in table([folder.name for folder in folders], [runs[folder] for folder in folders], enough=there >= whole):
        sys.stdout.write(line + "\n")
    if there < whole:
        sys.stdout.write(f"\nOnly {there} of {whole} clips: too few to compare. Run all of them, without --clips.\n")
    elif len(folders) > 1:
        said = f"share of {RESAMPLES} resamples of the persons in which the total is higher or lower than that of"
        sys.stdout.write(f"\nbetter in, worse in: {said} {folders[0].name}. From {SURE:.0%} on it is more than luck.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
