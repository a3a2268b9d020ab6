"""Pictures for the page, made harmless: only the necessary parts of a JPEG are kept.

They are never decoded here: this process holds the labels and passes no bytes of a submission to a decoder. Ingestion
encoded them from pixels.
"""

import base64
from collections.abc import Iterator

LARGEST = (1024, 1024)
"""Largest width and height of a shown picture: a small file can claim gigabytes of pixels."""
LARGEST_BYTES = 64 * 2**10
"""Largest size of a picture. Ingestion and `bundle data key-frames` write at most half of it."""
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA
_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
"""Frame types that browsers show: baseline, extended and progressive."""
_TABLES = frozenset({0xC4, 0xDB, 0xDD})
"""Huffman codes, quantisation, restart interval."""
_RESTARTS = frozenset(range(0xD0, 0xD8))


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Read (width, height) from a JPEG header without decoding; None without one."""
    for marker, begin, _ in _segments(data):
        if marker in _FRAMES and begin + 9 <= len(data):
            height, width = (int.from_bytes(data[at : at + 2], "big") for at in (begin + 5, begin + 7))
            return width, height
    return None


def data_uri(data: bytes) -> str | None:
    """Turn a JPEG file into a ``data:`` URI without comments, metadata, and data after its end.

    Returns None if the file is not a complete JPEG of an accepted size.
    """
    size = jpeg_size(data)
    if size is None or not (1 <= size[0] <= LARGEST[0] and 1 <= size[1] <= LARGEST[1]) or len(data) > LARGEST_BYTES:
        return None
    segments = [
        (marker, data[begin:end])
        for marker, begin, end in _segments(data)
        if marker in {_START, _SCAN, _END} or marker in _FRAMES or marker in _TABLES
    ]
    markers = [marker for marker, _ in segments]
    if markers[-1] != _END or _SCAN not in markers:
        return None
    return "data:image/jpeg;base64," + base64.b64encode(b"".join(part for _, part in segments)).decode()


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, begin and end of each JPEG segment, up to the end or the first invalid marker."""
    place = 0
    while data[place : place + 1] == b"\xff" and place + 2 <= len(data):
        marker = data[place + 1]
        if marker == 0xFF:  # a fill byte
            place += 1
            continue
        end = place + 2
        if marker not in {_START, _END}:
            end += int.from_bytes(data[end : end + 2], "big")
        if marker == _SCAN:
            end = _end_of_scan(data, end)
        if end > len(data) or end < place + 2 or (place == 0) != (marker == _START):
            return
        yield marker, place, end
        if marker == _END:
            return
        place = end


def _end_of_scan(data: bytes, place: int) -> int:
    """Find the marker that ends the compressed pixels: in them, 0xFF is always followed by 0 or a restart marker."""
    while (place := data.find(b"\xff", place)) >= 0:
        if place + 1 < len(data) and data[place + 1] != 0 and data[place + 1] not in _RESTARTS:
            return place
        place += 2
    return len(data) + 1
