"""The simplest valid submission: the mean of the training labels for every clip, and a text that says so."""

import json
from pathlib import Path
from typing import Any


class Model:
    """Predicts the same numbers for everybody: the baseline that every real model should beat."""

    def __init__(self, assets: Path) -> None:
        self.means: dict[str, float] = json.loads((assets / "means.json").read_text(encoding="utf-8"))

    def predict(self, clip: Any) -> dict[str, float]:  # noqa: ANN401 - the runner owns the type
        """Return the mean of the training labels."""
        return dict(self.means)

    def explain(self, clip: Any, prediction: dict[str, float]) -> dict[str, Any]:  # noqa: ANN401 - as above
        """Return an honest text; no picture and no evidence, because nothing was looked at."""
        return {
            "text": "This score is the average of the training clips. Nothing in this clip was looked at.",
            "image": None,
            "evidence": None,
        }
