"""Show the parts of a second drawing in the first one, without a seam.

Both were compressed separately. Even where they show the same, they differ by compression noise, and a hard edge
between them would be a visible line. So the first drawing's own pixels stay wherever both show the same. The exception
is the middle of a moving part: in the first drawing it leaves noise wherever it passes, which would reveal it.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

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


def _share_of_second() -> Shares:
    levels = np.arange(256) / _FINE
    ramp = np.clip((levels - SAME) / (OTHER - SAME), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


_SHARES = _share_of_second()


def mix(first: Frame, second: Frame, weights: Weights) -> Frame:
    """Return the first drawing with parts of the second.

    `first` and `second`: the same frame of both drawings, BGR, shape (height, width, 3). `weights`: how much of the
    second one is shown at each pixel.
    """
    difference = cv2.cvtColor(cv2.absdiff(first, second), cv2.COLOR_BGR2GRAY)
    # The table treats all levels above 255 / _FINE alike.
    around = cv2.blur(cv2.convertScaleAbs(difference, alpha=_FINE), (AROUND, AROUND))
    share = cv2.max(cv2.multiply(cv2.LUT(around, _SHARES), weights.most), weights.least)
    return np.asarray(cv2.blendLinear(first, second, np.subtract(1, share, dtype=np.float32), share), np.uint8)


def choose(frame: Frame, other: Frame, where: Frame, out: Frame) -> Frame:
    """Write `other` into `out` where `where` is 255, and `frame` where it is 0; return `out`.

    All have one shape, (height, width, 3). It takes as long whatever is chosen.
    """
    cv2.bitwise_xor(frame, other, dst=out)
    cv2.bitwise_and(out, where, dst=out)
    return np.asarray(cv2.bitwise_xor(frame, out, dst=out), np.uint8)
