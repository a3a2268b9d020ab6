"""Fit the weights of model.py: `python3 train.py --data public_data`.

Prints how well it predicts people whom it has not seen, which is what the challenge asks.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

HERE = Path(__file__).resolve().parent
# Where the starting kit lies: around this folder, or beside it in the organisers' bundle.
AROUND = [folder for parent in HERE.parents for folder in (parent, parent / "starting_kit")]
sys.path += [str(folder) for folder in AROUND if (folder / "file_clip.py").is_file()][:1]

from model import measure  # type: ignore[attr-defined]  # noqa: E402 - beside this file

from file_clip import FileClip  # noqa: E402 - found only now

PENALTIES = (1.0, 10.0, 100.0, 1000.0, 1e6)
"""Strengths of the ridge to choose from; the last leaves the constant, for clips from which nothing can be learned."""
FOLDS = 5
FEW_CLIPS = 100
"""Fewer clips say little about clips that were not seen."""
Numbers = NDArray[np.float64]


def measured(job: tuple[Path, str]) -> Numbers:
    """Return the measurements of one file."""
    values: Numbers = measure(FileClip(*job)).mean()
    return values


def all_measured(jobs: list[tuple[Path, str]], workers: int) -> Iterator[Numbers]:
    """Measure files side by side, and show how far it is."""
    with ProcessPoolExecutor(workers) as pool:
        for done, values in enumerate(pool.map(measured, jobs), 1):
            print(f"\rmeasured {done} of {len(jobs)} clips", end="" if done < len(jobs) else "\n", flush=True)
            yield values


def usual(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the mean and the spread of each measurement; where no clip differs, the spread is 1."""
    known = np.where(np.isfinite(values).any(axis=0), values, 0.0)
    spread = np.nanstd(known, axis=0)
    return np.nanmean(known, axis=0), np.where(spread > 1e-9, spread, 1.0)


def fit(values: Numbers, labels: Numbers, penalty: float) -> tuple[Numbers, Numbers, Ridge]:
    """Return means, spreads and the fitted ridge; what could not be measured counts as usual."""
    means, scales = usual(values)
    return means, scales, Ridge(alpha=penalty).fit(np.nan_to_num((values - means) / scales), labels)


def errors_of_unseen(values: Numbers, labels: Numbers, sources: list[str], penalty: float) -> tuple[Numbers, Numbers]:
    """Return the mean absolute errors of this model and of the constant for people who were left out, by target."""
    ours, constant = np.empty_like(labels), np.empty_like(labels)
    for seen, unseen in GroupKFold(min(FOLDS, len(set(sources)))).split(values, groups=sources):
        means, scales, ridge = fit(values[seen], labels[seen], penalty)
        ours[unseen] = ridge.predict(np.nan_to_num((values[unseen] - means) / scales)).reshape(len(unseen), -1)
        constant[unseen] = labels[seen].mean(axis=0)
    return np.abs(ours - labels).mean(axis=0), np.abs(constant - labels).mean(axis=0)


def main() -> None:
    """Read the folder, try on people who are left out, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, required=True, help="labelled folder: clips/, labels.csv, transcripts.json"
    )
    parser.add_argument("--task", type=Path, help="settings with the targets (default: those of Practice in the kit)")
    parser.add_argument("--out", type=Path, default=HERE / "weights.json", help="where the weights go")
    parser.add_argument("--workers", type=int, default=2, help="processes that measure clips")
    options = parser.parse_args()
    tasks = [parent / "reference_data" / "practice" / "task.yaml" for parent in HERE.parents]
    task = options.task or next(path for path in tasks if path.is_file())
    settings: dict[str, Any] = yaml.safe_load(task.read_text(encoding="utf-8"))
    with (options.data / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    transcripts = json.loads((options.data / "transcripts.json").read_text(encoding="utf-8"))
    jobs = [(options.data / "clips" / f"{row['clip_id']}.mp4", transcripts.get(row["clip_id"], "")) for row in rows]
    values = np.array(list(all_measured(jobs, options.workers)))
    targets = settings["targets"]
    labels = np.array([[float(row[target["name"]]) for target in targets] for row in rows])
    sources = [row["source_id"] for row in rows]
    tried = {one: errors_of_unseen(values, labels, sources, one) for one in PENALTIES} if len(set(sources)) > 1 else {}
    penalty = min(tried, key=lambda one: float(tried[one][0].mean()), default=PENALTIES[-1])
    means, scales, ridge = fit(values, labels, penalty)
    coefficients, intercepts = np.reshape(ridge.coef_, (len(targets), -1)), np.ravel(ridge.intercept_)
    learned = {
        "main_target": settings["main_target"],
        "vocabulary": settings["explanation_score"]["vocabulary"],
        "means": means.tolist(),
        "scales": scales.tolist(),
        "targets": {
            target["name"]: {
                **{key: target[key] for key in ("title", "minimum", "maximum")},
                "mean": float(intercept),
                "weights": weights.tolist(),
            }
            for target, intercept, weights in zip(targets, intercepts, coefficients, strict=True)
        },
    }
    options.out.write_text(json.dumps(learned, indent=1) + "\n", encoding="utf-8")
    print(f"Trained on {len(rows)} clips of {len(set(sources))} people or source videos, penalty {penalty:g}.")
    if tried:
        print("For people who were left out:")
        for target, error, constant in zip(targets, *tried[penalty], strict=True):
            skill = 1 - error / constant if constant else 0.0
            print(f"  {target['name']:24s} mean absolute error {error:.4f}, skill over the constant {skill:+.3f}")
    if len(rows) < FEW_CLIPS:
        print(f"WARNING: {len(rows)} clips are few: expect luck in these numbers, and train on {FEW_CLIPS} or more.")


if __name__ == "__main__":
    main()
