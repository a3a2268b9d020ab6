"""Show the parts of a second drawing in the first one, without a seam.

Both were compressed separately. Even where they show the same, they differ by compression noise, and a hard edge
between them would be a visible line. So the first drawing's own pixels stay wherever both show the same. The exception
is the middle of a moving part: in the first drawing it leaves noise wherever it passes, which would reveal it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ingest.media.altered.region import Mask
    from ingest.media.video import Frame

Shares = npt.NDArray[np.float32]
SAME, OTHER = 2.0, 6.0
"""Mean local difference in luma, of 255, up to which both drawings show the same, and from which they certainly differ.

Between these values they are blended. H.264's noise rarely reaches 6."""
AROUND = 5
"""Side, in pixels, of the square over which the mean is taken."""
_FINE = 16
"""Steps a level."""


@dataclass(frozen=True, eq=False)
class Weights:
    """How much of the second drawing is shown, 0 to 1, both of shape (height, width)."""

    most: Shares
    """Where the drawings differ."""
    least: Shares
    """Where they show the same."""

    def within(self, mask: Mask) -> Weights:
        """Return the same within a mask, and 0 elsewhere."""
        return Weights(self.most * mask, self.least * mask)


def _share_of_second() -> Shares:
    levels = np.arange(256) / _FINE
    ramp = np.clip((levels - SAME) / (OTHER - SAME), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


_SHARES = _share_of_second()


class Mixer:
    """Shows the parts of a second drawing in the first one; used by one thread.

    Its arrays are made once: fresh ones for every frame would cost as much as what is computed in them.
    """

    def __init__(self, weights: Weights) -> None:
        """Prepare for frames of one size; `weights`: how much of the second drawing is shown at each pixel."""
        self._weights = weights
        size = weights.most.shape
        self._difference, self._mixed = np.empty((*size, 3), np.uint8), np.empty((*size, 3), np.uint8)
        self._grey, self._around = np.empty(size, np.uint8), np.empty(size, np.uint8)
        self._share, self._rest = np.empty(size, np.float32), np.empty(size, np.float32)

    def mix(self, first: Frame, second: Frame) -> Frame:
        """Return the first drawing with parts of the second, valid until the next call.

        `first` and `second`: the same frame of both drawings, BGR, shape (height, width, 3).
        """
        cv2.absdiff(first, second, dst=self._difference)
        cv2.cvtColor(self._difference, cv2.COLOR_BGR2GRAY, dst=self._grey)
        # The table treats all levels above 255 / _FINE alike.
        cv2.convertScaleAbs(self._grey, dst=self._grey, alpha=_FINE)
        cv2.blur(self._grey, (AROUND, AROUND), dst=self._around)
        cv2.LUT(self._around, _SHARES, dst=self._share)
        cv2.multiply(self._share, self._weights.most, dst=self._share)
        cv2.max(self._share, self._weights.least, dst=self._share)
        np.subtract(1, self._share, out=self._rest)
        cv2.blendLinear(first, second, self._rest, self._share, dst=self._mixed)
        return self._mixed


class Chooser:
    """Takes some pixels from one picture and the others from a second; used by one thread.

    It takes as long whatever is chosen.
    """

    def __init__(self, second: Mask) -> None:
        """Prepare for frames of one size; `second`: what is taken from the second picture, shape (height, width)."""
        self._second = np.where(second, 255, 0).astype(np.uint8)[..., None].repeat(3, axis=2)
        self._chosen = np.empty_like(self._second)

    def mix(self, first: Frame, second: Frame) -> Frame:
        """Return parts of both pictures, valid until the next call; all are of shape (height, width, 3)."""
        cv2.bitwise_xor(first, second, dst=self._chosen)
        cv2.bitwise_and(self._chosen, self._second, dst=self._chosen)
        cv2.bitwise_xor(first, self._chosen, dst=self._chosen)
        return self._chosen
