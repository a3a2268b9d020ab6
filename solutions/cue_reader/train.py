"""Fit the weights: `python3 my_reader/train.py --data DIR [--out weights.json] [--workers N]`, in the starting kit.

DIR is a labelled folder: clips/, labels.csv and transcripts.json.
"""

import argparse
import csv
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np
from cuereader.additive import AdditiveModel
from cuereader.features import read_clip
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

HERE = Path(__file__).resolve().parent
# Where the starting kit lies: around this folder, or beside it in the organisers' bundle.
AROUND = [folder for parent in HERE.parents for folder in (parent, parent / "starting_kit")]
sys.path += [str(folder) for folder in AROUND if (folder / "file_clip.py").is_file()][:1]

from file_clip import FileClip  # noqa: E402 - found only now

PENALTY = 2.0
"""Strength of the ridge."""


def measure(job: tuple[Path, str]) -> NDArray[np.float64]:
    """Return the measurements of one file."""
    path, transcript = job
    cv2.setNumThreads(1)  # the processes share the cores already
    return read_clip(FileClip(path, transcript)).values


def fit(values: NDArray[np.float64], labels: NDArray[np.float64], targets: tuple[str, ...]) -> AdditiveModel:
    """Standardise the measurements and fit a ridge for every target.

    Parameters
    ----------
    values
        Shape (clips, features), NaN where something could not be measured: it then counts as average.
    labels
        Shape (clips, targets).
    targets
        Their names.
    """
    means = np.nanmean(values, axis=0)
    scales = np.maximum(np.nanstd(values, axis=0), 1e-6)
    blank = AdditiveModel(targets, means, scales, np.zeros(len(targets)), np.zeros((len(targets), len(means))))
    ridge = Ridge(alpha=PENALTY).fit(np.array([blank.standardised(row) for row in values]), labels)
    return AdditiveModel(targets, means, scales, np.asarray(ridge.intercept_), np.asarray(ridge.coef_))


def main() -> None:
    """Read the folder, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="labelled folder")
    parser.add_argument("--out", type=Path, default=HERE / "weights.json", help="where the weights go")
    parser.add_argument("--workers", type=int, default=2, help="processes that measure clips")
    options = parser.parse_args()
    with (options.data / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    targets = tuple(name for name in rows[0] if name not in ("clip_id", "source_id"))
    transcripts = json.loads((options.data / "transcripts.json").read_text(encoding="utf-8"))
    jobs = [(options.data / "clips" / f"{row['clip_id']}.mp4", transcripts.get(row["clip_id"], "")) for row in rows]
    with ProcessPoolExecutor(options.workers) as pool:
        values = np.array(list(pool.map(measure, jobs)))
    labels = np.array([[float(row[name]) for name in targets] for row in rows])
    model = fit(values, labels, targets)
    model.save(options.out)
    fitted = np.array([list(model.predict(row).values()) for row in values])
    error = np.abs(fitted - labels).mean(axis=0)
    constant = np.abs(labels - labels.mean(axis=0)).mean(axis=0)
    for name, share in zip(targets, 1 - error / constant, strict=True):
        print(f"{name:22s} skill on these {len(rows)} clips {share:.3f}")


if __name__ == "__main__":
    main()
