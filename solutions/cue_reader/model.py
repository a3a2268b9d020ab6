"""A small honest model: it measures eight cues, adds them up, and explains itself with the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuereader.additive import load
from cuereader.evidence import cue_claims, space_map, time_weights
from cuereader.features import read_clip
from cuereader.sketch import sketch
from cuereader.speech import telling_words
from cuereader.wording import describe

if TYPE_CHECKING:  # the starting kit's types: for editors and type checkers
    from pathlib import Path

    from cuereader.features import Reading

    from contract import Clip, Explanation


class Model:
    """What the runner loads; both calls are pure functions of the clip."""

    def __init__(self, assets: Path) -> None:
        self.additive = load(assets / "weights.json")
        self._clip: Clip | None = None

    def read(self, clip: Clip) -> Reading:
        """Return a clip's measurements, taken once for both calls: they get the same object."""
        if clip is not self._clip:
            self._reading, self._clip = read_clip(clip), clip
        return self._reading

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return every target, in [0, 1]."""
        return self.additive.predict(self.read(clip).values)

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Return text, picture and evidence, all from the contributions that make up the prediction."""
        reading = self.read(clip)
        contributions = self.additive.contributions(reading.values)
        main = contributions.get("interview") or next(iter(contributions.values()))
        levels = self.additive.levels(reading.values)
        return {
            "text": describe(prediction, contributions, levels, telling_words(reading.transcript)),
            "image": sketch(reading.picture, main),
            "evidence": {
                "space": space_map(reading, self.additive),
                "time": time_weights(reading, self.additive),
                "cues": cue_claims(contributions),
            },
        }
