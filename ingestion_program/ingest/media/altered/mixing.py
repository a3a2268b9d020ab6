"""Show the parts of a second drawing in the first one, without a seam.

Both were compressed on their own. Where they show the same they still differ by the noise of compression, and a hard
edge between them would be a line that nobody drew. So the first drawing's own pixels stay wherever both show the same,
but for the middle of what moves: in the first drawing it leaves noise wherever it passes, which would tell that it had
been there.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from ingest.media.video import Frame

Shares = npt.NDArray[np.float32]
SAME, OTHER = 2.0, 6.0
"""Mean difference in luma of the pixels around one, of 255, up to which both drawings show the same there, and from
which they certainly do not: between them one goes over into the other. H.264's noise rarely comes to 6."""
AROUND = 5
"""Side of the square of pixels over which the mean is taken."""
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

    Parameters
    ----------
    first, second
        The same frame of both drawings, BGR, shape (height, width, 3).
    weights
        How much of the second one is shown where.
    """
    difference = cv2.cvtColor(cv2.absdiff(first, second), cv2.COLOR_BGR2GRAY)
    # Levels beyond 255 / _FINE are all the same to the table.
    around = cv2.blur(cv2.convertScaleAbs(difference, alpha=_FINE), (AROUND, AROUND))
    share = cv2.max(cv2.multiply(cv2.LUT(around, _SHARES), weights.most), weights.least)
    return np.asarray(cv2.blendLinear(first, second, np.subtract(1, share, dtype=np.float32), share), np.uint8)
