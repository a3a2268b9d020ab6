"""The linear model: every prediction is a mean plus one contribution per cue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .features import CUES, FEATURES

_LIMIT = 3.0
"""Standard deviations at which measurements are clipped, so that a wrong one does limited harm."""


@dataclass(frozen=True)
class AdditiveModel:
    """A linear model of standardised measurements, with one weight for each measurement and target."""

    targets: tuple[str, ...]
    """Names of the targets."""
    means: NDArray[np.float64]
    """Mean of every measurement over the training clips, shape (features,)."""
    scales: NDArray[np.float64]
    """Standard deviation of every measurement, shape (features,)."""
    intercepts: NDArray[np.float64]
    """Prediction of an average clip, shape (targets,)."""
    weights: NDArray[np.float64]
    """Change of a target for one standard deviation, shape (targets, features)."""

    def standardised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return measurements in standard deviations from the mean; 0 for missing ones."""
        scores: NDArray[np.float64] = np.nan_to_num((values - self.means) / self.scales, nan=0.0)
        return np.clip(scores, -_LIMIT, _LIMIT)

    def predict(self, values: NDArray[np.float64]) -> dict[str, float]:
        """Return every target, in [0, 1]."""
        return {name: float(value) for name, value in zip(self.targets, np.clip(self.raw(values), 0, 1), strict=True)}

    def raw(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions before they are cut to [0, 1], shape (targets,)."""
        return np.asarray(self.intercepts + self.weights @ self.standardised(values))

    def contributions(self, values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Return how far each cue moved each target away from the intercept, by target and cue."""
        parts = self.weights * self.standardised(values)
        return {
            target: {cue: sum(float(p) for p, (_, of) in zip(row, FEATURES, strict=True) if of == cue) for cue in CUES}
            for target, row in zip(self.targets, parts, strict=True)
        }

    def levels(self, values: NDArray[np.float64]) -> dict[str, float]:
        """Return how much of each cue there is by its first measure, in standard deviations from the average."""
        scores = self.standardised(values)
        signs = {"gaze_sideways": -1.0, "tilt": -1.0}
        levels: dict[str, float] = {}
        for score, (name, cue) in zip(scores, FEATURES, strict=True):
            levels.setdefault(cue, float(score) * signs.get(name, 1.0))
        return levels

    def save(self, path: Path) -> None:
        """Write the weights as JSON."""
        content = {
            "features": [name for name, _ in FEATURES],
            "targets": list(self.targets),
            "means": _rounded(self.means),
            "scales": _rounded(self.scales),
            "intercepts": _rounded(self.intercepts),
            "weights": [_rounded(row) for row in self.weights],
        }
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> AdditiveModel:
    """Read the weights from JSON."""
    content: Mapping[str, list[Any]] = json.loads(path.read_text(encoding="utf-8"))
    expected = [name for name, _ in FEATURES]
    if content["features"] != expected:
        raise ValueError(f"{path.name}: features {content['features']} found, {expected} expected; run train.py again")
    return AdditiveModel(
        targets=tuple(str(name) for name in content["targets"]),
        means=np.array(content["means"]),
        scales=np.array(content["scales"]),
        intercepts=np.array(content["intercepts"]),
        weights=np.array(content["weights"]),
    )


def _rounded(values: NDArray[np.float64]) -> list[float]:
    """Return six significant digits: enough, and the same on every machine."""
    return [float(f"{value:.6g}") for value in values]
