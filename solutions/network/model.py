"""A small video network that explains itself with the terms of its own sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from videonet.evidence import claims, picture, space_map, time_weights
from videonet.network import TARGETS, Network
from videonet.wording import describe

if TYPE_CHECKING:  # the starting kit's types: for editors and type checkers
    from pathlib import Path

    from contract import Clip, Explanation


class Model:
    """What the runner loads; both calls are pure functions of the clip."""

    def __init__(self, assets: Path) -> None:
        self.network = Network(assets)

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return every target, in [0, 1]."""
        return dict(zip(TARGETS, self.network.read(clip).scores.tolist(), strict=True))

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Return text, picture and evidence, all from the run that gives the prediction."""
        answer = self.network.read(clip)
        space = space_map(answer)
        return {
            "text": describe(answer),
            "image": picture(answer, space),
            "evidence": {"space": space, "time": time_weights(answer), "cues": claims(answer)},
        }
