"""Encode a picture for the record of a run."""

import cv2
import numpy as np
import numpy.typing as npt

QUALITIES = (90, 75, 50, 25)
"""Tried in this order until the file is small enough."""
LARGEST = 32 * 2**10
"""Bytes. A report shows many pictures on one page."""


def encode_jpeg(image: npt.NDArray[np.uint8]) -> bytes:
    """Encode RGB pixels as JPEG, in the best quality that keeps the file small."""
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    for quality in QUALITIES:
        encoded, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if not encoded:
            raise RuntimeError("JPEG encoding failed on a valid image")
        if data.size <= LARGEST:
            break
    return data.tobytes()
