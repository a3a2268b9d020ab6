"""Models whose map or timeline is exact by construction: they count what happens, and say where or when."""

import numpy as np
from cuereader.evidence import happens, spread
from cuereader.features import EVENTS, FEATURES, Reading, calmed

from .honest import Account, Model, Scores
from .stories import BOILERPLATE

_MEASURE = {"smile": "mouth_curve", "gaze": "gaze_sideways", "motion": "sweep"}
"""The one measurement that counts of each event."""
_LEAST, _EACH = 0.2, 0.05
"""Answer where nothing happens, and what a standard deviation adds."""


class Places(Model):
    """Adds up how much happens to the mouth, the eyes and the hands, and maps just that."""

    cues: tuple[str, ...] = EVENTS

    def answer(self, reading: Reading) -> Scores:
        """Return one number for all targets."""
        total = sum(self._amount(reading, cue) for cue in self.cues)
        return dict.fromkeys(self.additive.targets, float(np.clip(_LEAST + _EACH * total, 0, 1)))

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Map what each of them adds."""
        return Account(BOILERPLATE, space=spread(reading, {cue: self._amount(reading, cue) for cue in self.cues}))

    def _amount(self, reading: Reading, cue: str) -> float:
        """Return by how many standard deviations a cue would measure otherwise if it were calm."""
        place = [name for name, _ in FEATURES].index(_MEASURE[cue])
        otherwise = calmed(reading, (cue,))[place]
        return float(np.nan_to_num(abs(reading.values[place] - otherwise)) / self.additive.scales[place])


class Moment(Places):
    """Answers to the gesture alone, and names the second in which it happens."""

    cues = ("motion",)

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Weigh each second by how much of the gesture falls into it."""
        time = happens(reading, "motion", round(reading.duration_s))
        return Account(BOILERPLATE, time=time if time.any() else None)
