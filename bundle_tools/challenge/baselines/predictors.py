"""Predictions that need no model: each shows how well one can do without watching a clip.

All arrays are on the unit scale; every clip is predicted from others only, never from its own label.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

FOLDS = 10
FEWEST_PEOPLE = 4
_ALPHAS = np.logspace(-1, 4, 11)
_QUANTILES = 100


def look_up(truth: Array, sources: Numbers, constant: Array) -> Array | None:
    """Predict each clip from the labels of other clips of the same source, without watching any.

    This measures leakage between splits. The mean label m of the siblings is shrunk towards the constant c,
    ``p = c + s (m - c)``; s in [0, 1] is the least-squares slope over the clips of all *other* sources.

    `truth`: (n, k) labels.
    `sources`: (n,) index of each clip's source.
    `constant`: (k,) prediction for clips without siblings.
    Returns (n, k) predictions; None where no source has two clips.
    """
    _, people, sizes = np.unique(sources, return_inverse=True, return_counts=True)
    siblings = (sizes[people] - 1)[:, None].astype(np.float64)
    if not siblings.any():
        return None
    away = truth - constant
    sums = _by_group(away, people)[people] - away
    mean = np.divide(sums, siblings, out=np.zeros_like(sums), where=siblings > 0)
    together, alone = _by_group(mean * away, people), _by_group(mean**2, people)
    elsewhere = (alone.sum(axis=0) - alone)[people]
    slope = np.divide(
        (together.sum(axis=0) - together)[people], elsewhere, out=np.zeros_like(mean), where=elsewhere > 1e-12
    )
    return np.asarray(np.clip(constant + np.clip(slope, 0, 1) * mean, 0, 1))


def metadata_only(
    features: Mapping[str, Sequence[float | str]], truth: Array, sources: Numbers, constant: Array
) -> Array | None:
    """Predict each clip from properties of its file: name, order, size, length, bit rate.

    Ridge regression on the features' quantiles, cross-validated by source; its strength is chosen within each
    training part. On sound data it is no better than the constant.

    `features`: name -> one value per clip; texts count by their alphabetical place. Returns (n, k) predictions; None
    with too few people, or where no feature varies.
    """
    people = len(np.unique(sources))
    columns = [
        np.unique(np.asarray(values), return_inverse=True)[1] for values in features.values() if len(set(values)) > 1
    ]
    if people < FEWEST_PEOPLE or not columns:
        return None
    x = np.stack(columns, axis=1).astype(np.float64)
    predicted = np.tile(constant, (len(truth), 1))
    for train, test in GroupKFold(min(FOLDS, people)).split(x, groups=sources):
        ranks = QuantileTransformer(n_quantiles=min(_QUANTILES, len(train)))
        model = make_pipeline(ranks, RidgeCV(alphas=_ALPHAS, alpha_per_target=truth.shape[1] > 1))
        predicted[test] = model.fit(x[train], truth[train]).predict(x[test]).reshape(len(test), -1)
    return np.asarray(np.clip(predicted, 0, 1))


def from_causes(truth: Array, contributions: Array) -> Array:
    """Predict each clip from the known causes of its label; only the labels' own noise remains.

    `truth`: (n, k) labels. `contributions`: (n, k) sum of the contributions of all cues: the noiseless label minus that
    of a neutral clip.
    """
    return np.asarray(np.clip(contributions + np.median(truth - contributions, axis=0), 0, 1))


def ceiling_of_people(truth: Array, sources: Numbers, constant: Array) -> dict[str, Array] | None:
    """Estimate the best model's score if all differences between the clips of a person were label noise.

    With the standard deviation w within people and s of all labels, and rho = 1 - w^2 / s^2 (an intraclass
    correlation): the mean absolute error of the true mean is w sqrt(2 / pi) for normal noise, its R2 is rho, its
    correlation sqrt(rho), its concordance 2 rho / (1 + rho). People do change between clips, so a model may pass it.

    Returns metrics by name, (1, k) each; None where no source has two clips.
    """
    _, people, sizes = np.unique(sources, return_inverse=True, return_counts=True)
    freedom = len(truth) - len(sizes)
    if freedom < 1:
        return None
    means = _by_group(truth, people) / sizes[:, None]
    noise = ((truth - means[people]) ** 2).sum(axis=0, keepdims=True) / freedom
    spread = truth.var(axis=0, ddof=1, keepdims=True)
    shared = np.clip(1 - np.divide(noise, spread, out=np.ones_like(noise), where=spread > 0), 0, 1)
    error = np.sqrt(noise * 2 / np.pi)
    baseline = np.abs(truth - constant).mean(axis=0, keepdims=True)
    saved = np.divide(baseline - error, baseline, out=np.zeros_like(error), where=baseline > 0)
    return {
        "accuracy": np.clip(1 - error, 0, 1),
        "r2": shared,
        "ccc": 2 * shared / (1 + shared),
        "pearson": np.sqrt(shared),
        "skill": np.clip(saved, -1, 1),
    }


def _by_group(rows: Array, numbers: NDArray[np.intp]) -> Array:
    sums = np.zeros((int(numbers.max()) + 1, rows.shape[1]))
    np.add.at(sums, numbers, rows)
    return sums
