"""Compare runs and diagnose one, with the scoring program's own numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import programs
from runs import read_rows
from score.columns import columns
from score.cues import LEAKS, TITLES, cue_cells, unclaimed
from score.errors import ScoringError
from score.evaluate import ClipScores, clip_scores, column_values, evaluate
from score.metrics import resample_weights
from score.pipeline import prepare
from score.run import Run

RESAMPLES = 1000
SURE = 0.95
"""Share of resamples from which a submission counts as better; the organisers use the same limit."""


class Incomparable(Exception):
    """Runs that cannot be compared; the arguments are the reasons."""


def compare(folders: Sequence[Path]) -> list[str]:
    """Compare runs with the first one; return the lines to print.

    Raises Incomparable with every reason why they cannot be compared.
    """
    read = {folder: _read_run(folder) for folder in folders}
    problems = [result for result in read.values() if isinstance(result, str)]
    runs = {folder: result for folder, result in read.items() if not isinstance(result, str)}
    if len({run.clip_ids for run in runs.values()}) > 1:
        counts = ", ".join(f"{folder} {len(run.clip_ids)}" for folder, run in runs.items())
        problems.append(f"expected runs over the same clips, found different clips: {counts}. Run all clips")
    if problems:
        raise Incomparable(*problems)
    there, whole = (
        len(read_rows(reference / "labels.csv")) for reference in (folders[0] / "input/ref", programs.REFERENCE_DATA)
    )
    lines = _table([folder.name for folder in folders], [runs[folder] for folder in folders], enough=there >= whole)
    if there < whole:
        lines += ["", f"Only {there} of {whole} clips: too few to compare. Run all clips, without --clips."]
    elif len(folders) > 1:
        meaning = f"share of {RESAMPLES} resamples of the people in which the total is higher or lower than that of"
        lines += [
            "",
            f"better in, worse in: {meaning} {folders[0].name}. From {SURE:.0%}, the difference is more than luck.",
        ]
    return lines


def diagnose(folder: Path) -> list[str]:
    """Show cue by cue what a run claimed, and what its predictions did; return the lines to print.

    Raises Incomparable if it cannot be read.
    """
    run = _prepared(folder)
    if isinstance(run, str):
        raise Incomparable(run)
    settings = replace(run.settings, bootstrap=replace(run.settings.bootstrap, resamples=0))
    cues = evaluate(run.outcomes, settings, run.results.run.duration_s).cues
    names = unclaimed(cues)
    summary = f"Moved the prediction unclaimed, on so many clips: {names}." if names else "No cue moved it unclaimed."
    sizes = "Claim and effect: mean sizes on the tested clips, for the target of each clip."
    return [*_aligned([TITLES, *map(cue_cells, cues)]), "", summary, f"{sizes} {LEAKS}"]


def _read_run(folder: Path) -> ClipScores | str:
    """Return the data from which scoring computes the columns, or why there is none."""
    run = _prepared(folder)
    return run if isinstance(run, str) else clip_scores(run.outcomes, run.settings)


def _prepared(folder: Path) -> Run | str:
    """Read what scoring read of a run, or return why that is impossible."""
    if not (folder / "input/res/run.json").is_file():
        return f"{folder}: expected a folder written by `kit.py run`, found none (no input/res/run.json)"
    try:
        return prepare(folder / "input")
    except ScoringError as error:
        return f"{folder}: {error.headline} Run it again"


def _table(names: Sequence[str], runs: Sequence[ClipScores], *, enough: bool) -> list[str]:
    """Return a line per score, and two lines with how often each run is better or worse than the first.

    `enough`: whether there are enough clips to compare.
    """
    first = runs[0]
    usual = [column_values(run, np.ones((1, first.groups))) for run in runs]
    shown = [column for column in columns(first.settings) if column.key in usual[0] and not column.hidden]
    rows = [["", *names]]
    rows += [
        [column.key, *(f"{column.rounded(resampled[column.key][0]):.{column.decimals}f}" for resampled in usual)]
        for column in shown
    ]
    if enough and first.groups > 1 and len(runs) > 1:
        # The same people are drawn for all runs, so that the comparison is paired.
        weights = np.concatenate(list(resample_weights(first.groups, RESAMPLES, first.settings.bootstrap.seed)))
        drawn = [column_values(run, weights)[shown[0].key] for run in runs]
        rows.append(["better in", "", *(f"{(resampled > drawn[0]).mean():.0%}" for resampled in drawn[1:])])
        rows.append(["worse in", "", *(f"{(resampled < drawn[0]).mean():.0%}" for resampled in drawn[1:])])
    return _aligned(rows)


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]).rstrip() for cells in rows]
