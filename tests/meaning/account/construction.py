"""Models whose map or timeline is exact by construction: they count what happens, and say where and when."""

from typing import Any

import cv2
import numpy as np

from .honest import GRID, Account, Array, Model, Scores
from .stories import BOILERPLATE

_FRAMES_A_SECOND = 6
_SMOOTH = 5
"""Frames of a running mean: what happens lasts longer than a syllable."""
_IDLE = 0.03
"""How far a cell strays when somebody only sways and breathes, of the range."""
_LEAST = 0.01
"""So much that happens counts; from there on its logarithm does."""


class Places(Model):
    """Adds up over the cells how far each strays from what it usually shows, and maps just that."""

    def predict(self, clip: Any) -> Scores:  # noqa: ANN401 - the runner owns the type
        """Return one number for all targets."""
        return self._scores(float(self._counted(clip).sum()))

    def explain(self, clip: Any, prediction: Scores) -> dict[str, Any]:  # noqa: ANN401 - as above
        """Return the counts."""
        return self.handed_in(self._account(self._counted(clip)))

    def _counted(self, clip: Any) -> Array:  # noqa: ANN401 - as above
        return np.asarray(_strays(clip).max(axis=0))

    def _account(self, counted: Array) -> Account:
        return Account(BOILERPLATE, space=counted)

    def _scores(self, total: float) -> Scores:
        return dict.fromkeys(self.additive.targets, float(np.clip(np.log1p(total / _LEAST) / 5, 0, 1)))


class Moment(Places):
    """Answers to the liveliest second alone, and names it."""

    def predict(self, clip: Any) -> Scores:  # noqa: ANN401 - the runner owns the type
        """Return one number for all targets."""
        return self._scores(float(self._counted(clip).max()))

    def _counted(self, clip: Any) -> Array:  # noqa: ANN401 - as above
        strays: Array = _strays(clip).sum(axis=(1, 2))
        return np.asarray(
            strays[: len(strays) // _FRAMES_A_SECOND * _FRAMES_A_SECOND].reshape(-1, _FRAMES_A_SECOND).mean(axis=1)
        )

    def _account(self, counted: Array) -> Account:
        return Account(BOILERPLATE, time=(counted == counted.max()).astype(float))


def _strays(clip: Any) -> Array:  # noqa: ANN401 - as above
    """Return how far each cell strays from its usual look at each moment, shape (moments, 9, 16)."""
    count = round(clip.duration_s * _FRAMES_A_SECOND)
    frames = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in clip.frames(count=count, size=(160, 90))]
    shown = np.array(frames, np.float64) / 255
    strays = shown - np.median(shown, axis=0)
    kernel = np.ones(_SMOOTH) / _SMOOTH
    smooth = np.abs(np.apply_along_axis(np.convolve, 0, strays, kernel, mode="same"))
    rows, columns = GRID
    cells = smooth.reshape(count, rows, 90 // rows, columns, 160 // columns).mean(axis=(2, 4))
    return np.asarray(np.maximum(cells - _IDLE, 0.0))
