"""Pictures of a submission, made harmless: size checked in the header, decoded, and encoded anew from pixels."""

from __future__ import annotations

import base64

import numpy as np

LARGEST = (1024, 1024)
"""Width and height beyond which a picture is not decoded: a small file can claim gigabytes of pixels."""
SHOWN = (355, 200)
LARGEST_URI = 60_000
"""Characters; a detailed picture of the shown size has about 20,000."""
_TRIES = ((1.0, 80), (1.0, 60), (0.7, 60), (0.5, 50))
"""Scale and quality, the best first."""
_PREFIX = "data:image/jpeg;base64,"
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Read (width, height) from a JPEG header without decoding; None when there is no such header."""
    if data[:2] != b"\xff\xd8":
        return None
    place = 2
    while place + 9 <= len(data):
        if data[place] != 0xFF:
            return None
        marker = data[place + 1]
        if marker == 0xFF:  # a fill byte
            place += 1
        elif marker in _WITHOUT_LENGTH:
            place += 2
        elif marker in _START_OF_FRAME:
            height, width = (int.from_bytes(data[at : at + 2], "big") for at in (place + 5, place + 7))
            return width, height
        else:
            place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return None


def data_uri(data: bytes, most: int = LARGEST_URI) -> str | None:
    """Turn a JPEG file into a ``data:`` URI with new bytes, at most 355 x 200 pixels.

    Parameters
    ----------
    data
        The file.
    most
        Characters that the URI may have; where it would have more, detail goes first, then size.

    Returns
    -------
    str or None
        None when the file is not a JPEG of a sensible size; an empty text when even the smallest has too many
        characters.
    """
    import cv2  # noqa: PLC0415 - a report without a gallery does not pay for it

    size = jpeg_size(data)
    if size is None or not (1 <= size[0] <= LARGEST[0] and 1 <= size[1] <= LARGEST[1]):
        return None
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        return None
    whole = min(1.0, SHOWN[0] / pixels.shape[1], SHOWN[1] / pixels.shape[0])
    for scale, quality in _TRIES:
        width, height = (max(1, round(side * whole * scale)) for side in (pixels.shape[1], pixels.shape[0]))
        smaller = pixels if whole * scale == 1 else cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
        done, encoded = cv2.imencode(".jpg", smaller, [cv2.IMWRITE_JPEG_QUALITY, quality])
        uri = _PREFIX + base64.b64encode(encoded.tobytes()).decode() if done else ""
        if len(uri) <= most:
            return uri
    return ""
