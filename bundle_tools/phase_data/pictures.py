"""Small pictures of clips, for reports and pages."""

import cv2
import numpy as np

from bundle_tools.decoding import Pixels, moments, pictures

WIDTH = 355
LARGEST = 10_000
"""Most bytes of a small picture, where its content allows it."""
QUALITIES = (85, 75, 65, 55, 45, 35, 25)


def middle_frame(content: bytes) -> tuple[Pixels, float]:
    """Return the frame in the middle of a video, (height, width, 3) BGR, and its seconds from the beginning."""
    times = moments(content)
    middle = len(times) // 2
    for picture in pictures(content, [middle], "bgr24"):
        return picture, times[middle]
    raise ValueError("a video without a frame in its middle")


def small_jpeg(picture: Pixels) -> bytes:
    """Encode a BGR picture as a JPEG at most 355 pixels wide, in the best quality within 10 kB."""
    height, width = picture.shape[:2]
    if width > WIDTH:
        size = WIDTH, max(1, round(height * WIDTH / width))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    data = b""
    for quality in QUALITIES:
        data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(data) <= LARGEST:
            break
    return data
