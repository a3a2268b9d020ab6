"""Pictures of a submission, made harmless: size checked in the header, decoded, and encoded anew from pixels."""

from __future__ import annotations

import base64

import numpy as np

LARGEST = (1024, 1024)
"""Width and height beyond which a picture is not decoded: a small file can claim gigabytes of pixels."""
SHOWN = (355, 200)
_QUALITY = 80
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


def data_uri(data: bytes) -> str | None:
    """Turn a JPEG file into a ``data:`` URI with new bytes, at most 355 x 200 pixels.

    Returns
    -------
    str or None
        None when the file is not a JPEG of a sensible size.
    """
    import cv2  # noqa: PLC0415 - a report without a gallery does not pay for it

    size = jpeg_size(data)
    if size is None or not (1 <= size[0] <= LARGEST[0] and 1 <= size[1] <= LARGEST[1]):
        return None
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        return None
    scale = min(1.0, SHOWN[0] / pixels.shape[1], SHOWN[1] / pixels.shape[0])
    if scale < 1:
        width, height = (max(1, round(side * scale)) for side in (pixels.shape[1], pixels.shape[0]))
        pixels = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    done, encoded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(encoded.tobytes()).decode() if done else None
