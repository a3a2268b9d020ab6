"""A small honest model: it measures eight cues, adds them up, and explains itself with the same numbers."""

from pathlib import Path
from typing import Any

from cuereader.additive import load
from cuereader.evidence import cue_claims, space_map, time_weights
from cuereader.features import read_clip
from cuereader.sketch import sketch
from cuereader.speech import telling_words
from cuereader.wording import tell


class Model:
    """What the runner loads; both calls are pure functions of the clip."""

    def __init__(self, assets: Path) -> None:
        self.additive = load(Path(assets) / "weights.json")

    def predict(self, clip: Any) -> dict[str, float]:  # noqa: ANN401 - the runner owns the type
        """Return every target, in [0, 1]."""
        return self.additive.predict(read_clip(clip).values)

    def explain(self, clip: Any, prediction: dict[str, float]) -> dict[str, Any]:  # noqa: ANN401 - as above
        """Return text, picture and evidence, all from the contributions that make up the prediction."""
        reading = read_clip(clip)
        contributions = self.additive.contributions(reading.values)
        main = contributions.get("interview") or next(iter(contributions.values()))
        levels = self.additive.levels(reading.values)
        return {
            "text": tell(prediction, contributions, levels, telling_words(reading.transcript)),
            "image": sketch(reading.picture, main),
            "evidence": {
                "space": space_map(reading, self.additive),
                "time": time_weights(reading, self.additive),
                "cues": cue_claims(contributions),
            },
        }
