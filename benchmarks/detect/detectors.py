"""Detectors trained on some persons and tested on others, and their area under the ROC curve."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.detect.features import Seen

Scores = npt.NDArray[np.float64]
FOLDS = 5
RESAMPLES = 1000


@dataclass(frozen=True)
class Area:
    """Area under the ROC curve with its interval of 95 %, by bootstrap over persons."""

    value: float
    """0.5 is chance."""
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as in the table."""
        return f"{self.value:.2f} ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True, eq=False)
class Sample:
    """Calls of one intervention with their measurements."""

    seen: Sequence[Seen]
    altered: npt.NDArray[np.bool_]
    person: npt.NDArray[np.str_]


def by_hand(train: Sample, test: Sample) -> Scores:
    """Score calls by hand-made features: a linear classifier and a forest, with added ranks."""
    x, y = _numbers(train), _numbers(test)
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=2000))
    forest = ExtraTreesClassifier(200, min_samples_leaf=3, random_state=0)
    models = (linear, forest)
    total: Scores = np.sum([ranks(model.fit(x, train.altered).predict_proba(y)[:, 1]) for model in models], axis=0)
    return total


def learned(train: Sample, test: Sample) -> Scores:
    """Score calls by patches across the outlines: components, then a small network; the mean of a call's patches."""
    x, of_x = _patches(train)
    y, of_y = _patches(test)
    network = MLPClassifier((32,), alpha=1.0, batch_size=64, learning_rate_init=0.003, max_iter=40, random_state=0)
    model = make_pipeline(StandardScaler(), PCA(48, random_state=0), StandardScaler(), network)
    chances = model.fit(x, train.altered[of_x]).predict_proba(y)[:, 1]
    logits = np.log(np.clip(chances, 1e-6, 1 - 1e-6) / np.clip(1 - chances, 1e-6, 1))
    count = np.bincount(of_y, minlength=len(test.seen))
    total: Scores = np.bincount(of_y, logits, minlength=len(test.seen)) / np.maximum(count, 1)
    return total


DETECTORS = {"by hand": by_hand, "learned": learned}


def scores(sample: Sample, detector: str) -> Scores:
    """Return how altered each call looks to a detector that has seen no call of its person; ranks within a fold."""
    people = np.unique(sample.person)
    order = np.random.default_rng(0).permutation(len(people))
    fold_of = dict(zip(people[order].tolist(), (np.arange(len(people)) % FOLDS).tolist(), strict=True))
    folds = np.array([fold_of[str(person)] for person in sample.person])
    result = np.zeros(len(folds))
    for fold in range(FOLDS):
        test = folds == fold
        if test.any() and not test.all():
            result[test] = ranks(DETECTORS[detector](_some(sample, ~test), _some(sample, test)))
    return result


def area(sample: Sample, suspicion: Scores, seed: int = 0) -> Area:
    """Return the area under the curve of these scores, resampling persons with all of their calls.

    The interval holds for these detectors; it does not include how they vary with the training persons. On small sets,
    chance alone moves an area by about 0.1, and without a real difference it tends to be below 0.5.
    """
    people, who = np.unique(sample.person, return_inverse=True)
    random = np.random.default_rng(seed)
    values = []
    for _ in range(RESAMPLES):
        often = np.bincount(random.integers(len(people), size=len(people)), minlength=len(people))
        values.append(_area(suspicion, sample.altered, often[who].astype(float)))
    low, high = np.nanquantile(values, (0.025, 0.975))
    return Area(_area(suspicion, sample.altered, np.ones(len(who))), float(low), float(high))


def telling(sample: Sample, count: int = 3) -> list[tuple[str, float]]:
    """Return the most telling single features with their areas; below 0.5, values are smaller in altered calls."""
    names, values = list(sample.seen[0].numbers), _numbers(sample)
    ones = np.ones(len(values))
    areas = [_area(values[:, feature], sample.altered, ones) for feature in range(len(names))]
    order = np.argsort(-np.abs(np.array(areas) - 0.5))[:count]
    return [(names[feature], areas[feature]) for feature in order]


def ranks(values: Scores) -> Scores:
    """Return the share of values that are smaller, ties counted half."""
    unique, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count / 2
    shares: Scores = (below / len(values))[inverse]
    return shares if len(unique) else values


def _area(suspicion: Scores, altered: npt.NDArray[np.bool_], weight: Scores) -> float:
    """Return the chance that an altered call has a higher score than a plain one (Mann and Whitney), ties half."""
    unique, rank = np.unique(suspicion, return_inverse=True)
    ours = np.bincount(rank, weight * altered, minlength=len(unique))
    theirs = np.bincount(rank, weight * ~altered, minlength=len(unique))
    total = ours.sum() * theirs.sum()
    return float((ours * (np.cumsum(theirs) - theirs / 2)).sum() / total) if total else float("nan")


def _some(sample: Sample, which: npt.NDArray[np.bool_]) -> Sample:
    seen = [view for view, taken in zip(sample.seen, which, strict=True) if taken]
    return Sample(seen, sample.altered[which], sample.person[which])


def _numbers(sample: Sample) -> Scores:
    return np.array([list(view.numbers.values()) for view in sample.seen])


def _patches(sample: Sample) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    which = np.repeat(np.arange(len(sample.seen)), [len(view.patches) for view in sample.seen])
    return np.concatenate([view.patches for view in sample.seen]).astype(np.float32), which
