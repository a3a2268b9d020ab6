"""Fit the weights: `python3 my_reader/train.py --data DIR [--out weights.json] [--workers N]`, in the starting kit.

DIR is a labelled folder: clips/, labels.csv and transcripts.json.
"""

import argparse
import sys
from collections.abc import Callable
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
from training import errors_of_unseen, measure_all, read_labelled, say_skill  # noqa: E402

Numbers = NDArray[np.float64]
PENALTY = 2.0
"""Strength of the ridge."""


def measure(job: tuple[Path, str]) -> Numbers:
    """Return the measurements of one file."""
    path, transcript = job
    cv2.setNumThreads(1)  # the processes share the cores already
    return read_clip(FileClip(path, transcript)).values


def fit(values: Numbers, labels: Numbers, targets: tuple[str, ...]) -> AdditiveModel:
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
    """Read the folder, fit, write, and say how well people who were left out are predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="labelled folder")
    parser.add_argument("--out", type=Path, default=HERE / "weights.json", help="where the weights go")
    parser.add_argument("--workers", type=int, default=2, help="processes that measure clips")
    options = parser.parse_args()
    data = read_labelled(options.data)
    values = measure_all(measure, data, options.workers)
    fit(values, data.labels, data.targets).save(options.out)

    def fitted(seen: Numbers, labels: Numbers) -> Callable[[Numbers], Numbers]:
        model = fit(seen, labels, data.targets)
        return lambda unseen: np.array([list(model.predict(row).values()) for row in unseen])

    errors = errors_of_unseen(fitted, values, data) if len(set(data.sources)) > 1 else None
    say_skill(data, errors, options.out.parent)


if __name__ == "__main__":
    main()
