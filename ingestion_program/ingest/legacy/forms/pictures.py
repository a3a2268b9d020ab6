"""Read a JPEG of somebody else's: its size is looked up before it is decoded, for a small file can be huge inside."""

import struct
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from ingest.legacy.forms.answers import Unreadable

LARGEST_FILE = 8 << 20
MOST_PIXELS = 4 << 20
EXPECTED = f"a JPEG of at most {LARGEST_FILE >> 20} MB and {MOST_PIXELS >> 20} million pixels"


def read_picture(path: Path) -> npt.NDArray[np.uint8]:
    """Return RGB pixels of shape (height, width, 3).

    Raises
    ------
    Unreadable
        When it is no JPEG, or too large.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    pixels = _count_pixels(data)
    if len(data) > LARGEST_FILE or not 0 < pixels <= MOST_PIXELS:
        raise Unreadable(path.name, f"{len(data)} bytes, {pixels} pixels", EXPECTED)
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise Unreadable(path.name, "a picture that cannot be decoded", EXPECTED)
    return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), np.uint8)


def _count_pixels(data: bytes) -> int:
    """Return width times height as the frame header (SOF) of a JPEG tells them; 0 where there is none."""
    place = 2
    while data[:2] == b"\xff\xd8" and place + 9 <= len(data) and data[place] == 0xFF:
        marker, length = data[place + 1], struct.unpack_from(">H", data, place + 2)[0]
        # C4, C8 and CC are tables, not frames
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return int(height) * int(width)
        place += 2 + length
    return 0
