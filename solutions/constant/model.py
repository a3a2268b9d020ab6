"""The simplest valid submission: the mean of the training labels for every clip, and a text that says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the starting kit's types: for editors and type checkers
    from pathlib import Path

    from contract import Clip, Explanation


class Model:
    """Predicts the same numbers for every clip: the baseline that every real model should beat."""

    def __init__(self, assets: Path) -> None:
        self.means: dict[str, float] = json.loads((assets / "means.json").read_text(encoding="utf-8"))

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return the mean of the training labels."""
        return dict(self.means)

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Return an honest text; no picture and no evidence, because the model looks at nothing."""
        return {
            "text": "This score is the average of the training clips. Nothing in this clip was looked at.",
            "image": None,
            "evidence": None,
        }
