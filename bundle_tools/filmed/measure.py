"""Whether detectors that never saw the person can tell altered calls from plain ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, RobustScaler

from bundle_tools.filmed.face import Array
from bundle_tools.filmed.features import ALTERED, CONTROL, PLAIN

FOLDS, TREES, RESAMPLES = 5, 120, 1000
SEED = 0
"""Of the detectors and of the bootstrap."""
LARGEST = 5.0
"""Features are cut off at this many interquartile ranges from their median."""


def detectors() -> dict[str, Any]:
    """Return the two detectors, not yet trained, by name."""
    cut = FunctionTransformer(np.clip, kw_args={"a_min": -LARGEST, "a_max": LARGEST})
    return {
        "logistic regression": make_pipeline(RobustScaler(), cut, LogisticRegression(C=0.01, max_iter=2000)),
        "extra trees": ExtraTreesClassifier(TREES, min_samples_leaf=3, random_state=SEED),
    }


def area(plain: Array, altered: Array, people: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the area under the ROC curve of each detector, with its 95 % interval by bootstrap over people.

    `plain` and `altered`: features of the same clips, (clips, features). `people`: whom each clip shows.
    """
    values, truth = np.concatenate([plain, altered]), np.repeat([0, 1], len(plain))
    who, clips = np.unique(people, return_inverse=True)
    groups = np.tile(clips, 2)
    member = np.eye(len(who))[clips]
    draws = np.random.default_rng(SEED).integers(len(who), size=(RESAMPLES, len(who)))
    counts = np.eye(len(who))[draws].sum(axis=1)
    result = {}
    for name, detector in detectors().items():
        scores = np.zeros(len(truth))
        for train, test in GroupKFold(min(FOLDS, len(who))).split(values, truth, groups):
            scores[test] = detector.fit(values[train], truth[train]).predict_proba(values[test])[:, 1]
        lower, higher = scores[: len(plain), None], scores[None, len(plain) :]
        # Share of pairs in the right order (Mann and Whitney, 1947): once for all resamples, which weigh people.
        pairs = member.T @ ((lower < higher) + 0.5 * (lower == higher)) @ member
        areas = np.einsum("ri,ij,rj->r", counts, pairs, counts) / (counts @ member.sum(axis=0)) ** 2
        ends = np.percentile(areas, [2.5, 97.5])
        figures = {"auc": pairs.sum() / len(plain) ** 2, "lower": ends[0], "upper": ends[1]}
        result[name] = {key: round(float(value), 4) for key, value in figures.items()}
    return result


def measure(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what detectors find, by intervention.

    `results`: of clips with exchanges, with their `features` and the `person` each shows.
    """
    figures: dict[str, Any] = {}
    for name in sorted({name for result in results for name in result["features"]}):
        those = [result for result in results if name in result["features"]]
        # A clip of which only one part is offered has fewer features in time: only whole ones are compared.
        size = max(len(result["features"][name][PLAIN]) for result in those)
        those = [result for result in those if len(result["features"][name][PLAIN]) == size]
        people = [result["person"] for result in those]
        if len(set(people)) < 2:
            continue

        def of(kind: str, clips: Sequence[Mapping[str, Any]] = those, name: str = name) -> Array:
            return np.array([clip["features"][name][kind] for clip in clips], np.float64)

        figures[name] = {
            "clips": len(those),
            "people": len(set(people)),
            "detectors": area(of(PLAIN), of(ALTERED), people),
        }
        if CONTROL in those[0]["features"][name]:
            figures[name]["control"] = area(of(PLAIN), of(CONTROL), people)
    return figures
