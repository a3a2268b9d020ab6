"""Show the parts of a second drawing in the first one, without a seam.

Both were compressed on their own. Where they show the same they still differ by the noise of compression, and a hard
edge between them would be a line that nobody drew. So the first drawing's own pixels stay wherever both show the same.
"""

import cv2
import numpy as np
import numpy.typing as npt

from ingest.video import Frame

Weights = npt.NDArray[np.float32]
SAME, OTHER = 2.0, 6.0
"""Mean difference in luma of the pixels around one, of 255, up to which both drawings show the same there, and from
which they certainly do not: between them one goes over into the other. H.264's noise rarely comes to 6."""
AROUND = 5
"""Side of the square of pixels over which the mean is taken."""
_FINE = 16
"""Steps a level."""


def _share_of_second() -> Weights:
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
        How much may be shown of the second one, 0 to 1, shape (height, width).
    """
    difference = cv2.cvtColor(cv2.absdiff(first, second), cv2.COLOR_BGR2GRAY)
    # Levels beyond 255 / _FINE are all the same to the table.
    around = cv2.blur(cv2.convertScaleAbs(difference, alpha=_FINE), (AROUND, AROUND))
    share = cv2.multiply(cv2.LUT(around, _SHARES), weights)
    return np.asarray(cv2.blendLinear(first, second, np.subtract(1, share, dtype=np.float32), share), np.uint8)
