"""Fit the weights of model.py: `python3 train.py --data public_data`.

Prints how well it predicts people whom it has not seen, which is what the challenge asks.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

HERE = Path(__file__).resolve().parent
# Where the starting kit may be: a folder above this one, or next to one in the organisers' bundle.
AROUND = [folder for parent in HERE.parents for folder in (parent, parent / "starting_kit")]
sys.path += [str(folder) for folder in AROUND if (folder / "file_clip.py").is_file()][:1]

from model import measure  # type: ignore[attr-defined]  # noqa: E402 - next to this file

from file_clip import FileClip  # noqa: E402 - only now on the module path
from training import errors_of_unseen, measure_all, read_labelled, say_skill  # noqa: E402

PENALTIES = (1.0, 10.0, 100.0, 1000.0, 1e6)
"""Ridge penalties to choose from; the last one reduces the model to a constant, in case nothing can be learned."""
Numbers = NDArray[np.float64]


def measured(job: tuple[Path, str]) -> Numbers:
    """Return the measurements of one file."""
    values: Numbers = measure(FileClip(*job)).mean()
    return values


def usual(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the mean and standard deviation of each measurement; 1 for the latter if all clips are equal."""
    known = np.where(np.isfinite(values).any(axis=0), values, 0.0)
    spread = np.nanstd(known, axis=0)
    return np.nanmean(known, axis=0), np.where(spread > 1e-9, spread, 1.0)


def fit(values: Numbers, labels: Numbers, penalty: float) -> tuple[Numbers, Numbers, Ridge]:
    """Return means, standard deviations and the fitted ridge; missing measurements count as average."""
    means, scales = usual(values)
    return means, scales, Ridge(alpha=penalty).fit(np.nan_to_num((values - means) / scales), labels)


def fitted(penalty: float) -> Callable[[Numbers, Numbers], Callable[[Numbers], Numbers]]:
    """Return a function that fits a ridge with this penalty and returns its predictor."""

    def of(seen: Numbers, labels: Numbers) -> Callable[[Numbers], Numbers]:
        means, scales, ridge = fit(seen, labels, penalty)
        return lambda unseen: np.reshape(ridge.predict(np.nan_to_num((unseen - means) / scales)), (len(unseen), -1))

    return of


def main() -> None:
    """Read the folder, choose a penalty by cross-validation over people, fit, and write the weights."""
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
    data = read_labelled(options.data)
    values = measure_all(measured, data, options.workers)
    tried = {}
    if len(set(data.sources)) > 1:
        tried = {candidate: errors_of_unseen(fitted(candidate), values, data) for candidate in PENALTIES}
    penalty = min(tried, key=lambda candidate: float(tried[candidate][0].mean()), default=PENALTIES[-1])
    means, scales, ridge = fit(values, data.labels, penalty)
    targets = {target["name"]: target for target in settings["targets"]}
    coefficients, intercepts = np.reshape(ridge.coef_, (len(targets), -1)), np.ravel(ridge.intercept_)
    learned = {
        "main_target": settings["main_target"],
        "vocabulary": settings["explanation_score"]["vocabulary"],
        "means": means.tolist(),
        "scales": scales.tolist(),
        "targets": {
            name: {
                **{key: targets[name][key] for key in ("title", "minimum", "maximum")},
                "mean": float(intercept),
                "weights": weights.tolist(),
            }
            for name, intercept, weights in zip(data.targets, intercepts, coefficients, strict=True)
        },
    }
    options.out.write_text(json.dumps(learned, indent=1) + "\n", encoding="utf-8")
    say_skill(data, tried.get(penalty))


if __name__ == "__main__":
    main()
