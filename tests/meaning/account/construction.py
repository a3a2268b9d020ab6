"""Models whose explanations are exact by construction: they weigh one measurement of each cue, and say which."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from cuereader.features import FEATURES

from .honest import Model

_MIDDLE, _EACH = 0.5, 0.05
"""Answer to an average clip, and what a standard deviation adds."""


class Places(Model):
    """Adds up the mouth, the eyes and the gesture."""

    measured: tuple[str, ...] = ("mouth_curve", "gaze_sideways", "sweep")

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        one = _EACH * np.array([float(name in self.measured) for name, _ in FEATURES])
        weights, middles = np.tile(one, (len(self.additive.targets), 1)), np.full(len(self.additive.targets), _MIDDLE)
        self.additive = replace(self.additive, weights=weights, intercepts=middles)


class Moment(Places):
    """Answers to the gesture alone."""

    measured = ("sweep",)
