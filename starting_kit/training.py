"""Helpers for training scripts: read a labelled folder, measure its clips, and cross-validate over people."""

import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

Numbers = NDArray[np.float64]
Fit = Callable[[Numbers, Numbers], Callable[[Numbers], Numbers]]
"""Takes measurements (clips, features) and labels (clips, targets); returns a function that predicts the labels."""
FOLDS = 5
EVERY_S = 10
"""Interval between progress lines, seconds."""
FEW_CLIPS = 100
"""With fewer clips a model overfits."""
LEAST_SKILL = 0.05
"""Mean skill for new people below which a model has learnt nothing worth a rank."""


@dataclass(frozen=True)
class Labelled:
    """A folder with clips/, labels.csv and transcripts.json, such as the public data."""

    clips: Sequence[tuple[Path, str]]
    """(file, transcript) of n clips."""
    sources: Sequence[str]
    """Person or source video of each clip."""
    targets: tuple[str, ...]
    """Names of k targets."""
    labels: Numbers
    """Shape (n, k)."""


def read_labelled(folder: Path) -> Labelled:
    """Read the folder's tables."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    transcripts = json.loads((folder / "transcripts.json").read_text(encoding="utf-8"))
    targets = tuple(name for name in rows[0] if name not in ("clip_id", "source_id"))
    return Labelled(
        [(folder / "clips" / f"{row['clip_id']}.mp4", transcripts.get(row["clip_id"], "")) for row in rows],
        [row["source_id"] for row in rows],
        targets,
        np.array([[float(row[name]) for name in targets] for row in rows]),
    )


def measure_all(measure: Callable[[tuple[Path, str]], Numbers], data: Labelled, workers: int) -> Numbers:
    """Measure all clips in parallel, and print progress: on a terminal in one line, elsewhere every ten seconds.

    `measure`: computes a clip's features from (file, transcript); a module-level function, since processes call it.
    """
    measured: list[Numbers] = []
    told_s, terminal = time.monotonic(), sys.stdout.isatty()
    with ProcessPoolExecutor(workers) as pool:
        for values in pool.map(measure, data.clips):
            measured.append(values)
            last = len(measured) == len(data.clips)
            if last or terminal or time.monotonic() - told_s >= EVERY_S:
                end = "\r" if terminal and not last else "\n"
                print(f"measured {len(measured)} of {len(data.clips)} clips", end=end, flush=True)
                told_s = time.monotonic()
    return np.array(measured)


def errors_of_unseen(fit: Fit, values: Numbers, data: Labelled) -> tuple[Numbers, Numbers]:
    """Cross-validate over people: fit without some of them and predict those, until each was left out once.

    Returns mean absolute errors, (k,) each: of the fit, and of always answering the training mean.
    """
    ours, constant = np.empty_like(data.labels), np.empty_like(data.labels)
    folds = GroupKFold(min(FOLDS, len(set(data.sources))))
    for seen, unseen in folds.split(values, groups=data.sources):
        ours[unseen] = fit(values[seen], data.labels[seen])(values[unseen])
        constant[unseen] = data.labels[seen].mean(axis=0)
    return np.abs(ours - data.labels).mean(axis=0), np.abs(constant - data.labels).mean(axis=0)


def say_skill(data: Labelled, errors: tuple[Numbers, Numbers] | None) -> None:
    """Print the error for people left out of training, and warn if there are few clips.

    `errors`: as returned by `errors_of_unseen`; None if there is only one person.
    """
    clips, people = len(data.clips), len(set(data.sources))
    print(f"Trained on {clips} clips of {people} people or source videos.")
    if errors is not None:
        print("For people who were left out of training:")
        _say_each(zip(data.targets, *errors, strict=True))
        if (1 - errors[0] / np.maximum(errors[1], 1e-12)).mean() < LEAST_SKILL:
            print("WARNING: nothing was learnt: it predicts new people hardly better than the training mean does.")
    if clips < FEW_CLIPS:
        print(f"WARNING: with only {clips} clips, these numbers depend on luck. Train on {FEW_CLIPS} or more.")


def _say_each(errors: Iterable[tuple[str, float, float]]) -> None:
    for target, ours, constant in errors:
        skill = 1 - ours / constant if constant else 0.0
        print(f"  {target:24s} mean absolute error {ours:.4f}, skill over the constant {skill:+.3f}")
