"""A small, complete submission: brighter clips make better first impressions.

Replace it with your own model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # the types of contract.py: for editors and type checkers, absent on the platform
    from pathlib import Path

    import numpy.typing as npt

    from contract import Clip, Explanation

TARGETS = (
    "extraversion",
    "agreeableness",
    "conscientiousness",
    "emotional_stability",
    "openness",
    "interview",
)
ROWS, COLUMNS = 9, 16
USUAL_SCORE, USUAL_BRIGHTNESS, SLOPE = 0.53, 0.4, 0.2


class Model:
    """Predicts from brightness alone, so it can explain every prediction."""

    def __init__(self, assets: Path) -> None:
        """Load files, for instance np.load(assets / "weights.npz")."""
        self.assets = assets

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return one number in [0, 1] for every target."""
        score = USUAL_SCORE + SLOPE * (brightness(clip).mean() - USUAL_BRIGHTNESS)
        return {target: float(score) for target in TARGETS}

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Explain `prediction` with a text, a picture and evidence."""
        light = brightness(clip)
        contribution = SLOPE * (light.mean() - USUAL_BRIGHTNESS)
        verb = "raised" if contribution > 0 else "lowered"
        brightest = int(light.mean(axis=(1, 2)).argmax())
        edges = np.linspace(0.0, clip.duration_s, len(light) + 1)
        return {
            "text": (
                f"The lighting {verb} the interview score to {prediction['interview']:.2f}: "
                f"the mean brightness is {light.mean():.0%}, and the picture is brightest "
                f"{edges[brightest]:.0f} seconds after the start."
            ),
            "image": clip.frame_at(clip.duration_s / 2, size=(355, 200)),
            "evidence": {
                "space": light,
                "time": [[edges[i], edges[i + 1], part.mean()] for i, part in enumerate(light)],
                "cues": [{"cue": "lighting", "target": target, "contribution": contribution} for target in TARGETS],
            },
        }


def brightness(clip: Clip) -> npt.NDArray[np.float64]:
    """Return the brightness in [0, 1] of each cell of a 9 x 16 grid, about once per second."""
    seconds = max(1, round(clip.duration_s))
    cells = [
        frame.reshape(ROWS, 10, COLUMNS, 10, 3).mean(axis=(1, 3, 4)) / 255
        for frame in clip.frames(count=seconds, size=(10 * COLUMNS, 10 * ROWS))
    ]
    return np.stack(cells)
