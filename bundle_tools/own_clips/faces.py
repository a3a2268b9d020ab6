"""One box per clip around the face, from a few frames: its table, and a page for checking."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from av.error import FFmpegError

from bundle_tools.decoding import Pixels, Unusable, moments, pictures
from bundle_tools.page import render
from bundle_tools.phase_data.files import enter
from bundle_tools.phase_data.pictures import small_jpeg
from bundle_tools.tables import write_table

WIDTH = 384
"""Width to which frames are scaled for the search, pixels; a face of an eighth of the height is still found."""
SMALLEST = 1 / 8
"""Height of the smallest face to look for, as a share of the frame's height."""
SEEN = 1 / 3
"""A face counts if it is found in this share of the frames."""
MARGIN = 0.15
"""Margin added on each side, as a share of the box: the detector leaves out chin and forehead."""
EVERY_S = 1.0
MOST_FRAMES = 8
"""The most frames to search; in longer clips they are further apart, since searching costs more than decoding."""
# A cascade of decision stumps that finds frontal faces (Viola and Jones, 2001).
MODEL = "haarcascade_frontalface_default.xml"

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class FoundFace:
    """What was found in one clip."""

    clip_id: str
    box: Box | None
    """Left, top, right and bottom as shares of the frame's width and height; None if no face was found."""
    seen: int
    """Number of frames in which that face was found."""
    frames: int
    """Number of frames searched; 0 if the clip cannot be decoded."""
    picture: bytes
    """A JPEG of a frame with the box drawn in it; empty if the clip cannot be decoded."""


def find_faces(
    clips: Sequence[tuple[str, Path]], workers: int, progress: Callable[[int, int], None] | None = None
) -> list[FoundFace]:
    """Look for the face in each clip.

    Returns them in the given order.
    """
    faces = []
    with ThreadPoolExecutor(workers) as pool:
        for face in pool.map(lambda clip: _find(*clip), clips):
            faces.append(face)
            if progress is not None:
                progress(len(faces), len(clips))
    return faces


def _find(clip_id: str, path: Path) -> FoundFace:
    # Not shared between threads: it has internal state.
    detector = cv2.CascadeClassifier(str(Path(cv2.__file__).parent / "data" / MODEL))
    largest: list[Box] = []
    frames = 0
    shown: Pixels | None = None
    try:
        for picture in _pictures(path.read_bytes()):
            frames += 1
            if (box := _largest(detector, picture)) is not None:
                largest.append(box)
            if shown is None or (box is not None and len(largest) == 1):
                shown = picture
    except (OSError, FFmpegError, Unusable, IndexError, ValueError):
        return FoundFace(clip_id, None, 0, 0, b"")
    box, seen = around(largest)
    if seen < max(1, SEEN * frames):
        box = None
    return FoundFace(clip_id, box, seen if box else 0, frames, _drawn(shown, box) if shown is not None else b"")


def _pictures(content: bytes) -> Iterator[Pixels]:
    """Yield frames a second or more apart, (height, width, 3) BGR, upright and small."""
    times = moments(content)
    apart_s, numbers = max(EVERY_S, times[-1] / MOST_FRAMES), [0]
    for number, time_s in enumerate(times):
        if time_s >= times[numbers[-1]] + apart_s:
            numbers.append(number)
    return pictures(content, numbers, "bgr24", lambda width, height: (WIDTH, max(2, round(height * WIDTH / width))))


def _largest(detector: cv2.CascadeClassifier, picture: Pixels) -> Box | None:
    height, width = picture.shape[:2]
    grey = cv2.equalizeHist(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
    side = max(24, round(SMALLEST * height))
    faces = detector.detectMultiScale(grey, scaleFactor=1.2, minNeighbors=4, minSize=(side, side))
    if not len(faces):
        return None
    left, top, wide, high = max(faces, key=lambda face: face[2] * face[3])
    return left / width, top / height, (left + wide) / width, (top + high) / height


def around(boxes: Sequence[Box]) -> tuple[Box | None, int]:
    """Return a box around one moving face, and in how many frames it was found.

    Boxes further from the median than the size of the face are taken for something else and left out.
    """
    if not boxes:
        return None, 0
    edges = np.array(boxes)
    middles = (edges[:, :2] + edges[:, 2:]) / 2
    usual = np.median(edges, axis=0)
    near = (np.abs(middles - (usual[:2] + usual[2:]) / 2) <= usual[2:] - usual[:2]).all(axis=1)
    kept = edges[near]
    if not len(kept):
        return None, 0
    low, high = kept[:, :2].min(axis=0), kept[:, 2:].max(axis=0)
    margin = MARGIN * (high - low)
    left, top = np.maximum(low - margin, 0.0)
    right, bottom = np.minimum(high + margin, 1.0)
    return (float(left), float(top), float(right), float(bottom)), len(kept)


def _drawn(picture: Pixels, box: Box | None) -> bytes:
    height, width = picture.shape[:2]
    drawn = picture.copy()
    if box is not None:
        left, top, right, bottom = (round(edge * size) for edge, size in zip(box, (width, height) * 2, strict=True))
        for colour, thickness in (((0, 0, 0), 6), ((255, 255, 255), 2)):
            cv2.rectangle(drawn, (left, top), (right, bottom), colour, thickness)
    return small_jpeg(drawn)


def faces_page(phases: Mapping[str, Sequence[FoundFace]]) -> str:
    """Write one page with every clip of every phase; clips without a face come first."""
    cards = {
        name: [
            {"clip": face, "picture": base64.b64encode(face.picture).decode()}
            for face in sorted(faces, key=lambda face: (face.box is not None, face.seen / max(1, face.frames)))
        ]
        for name, faces in phases.items()
    }
    return render(Path(__file__).parent / "templates", "faces", phases=cards)


FILE = "faces.csv"
COLUMNS = ("clip_id", "left", "top", "right", "bottom")


def write_faces(faces: Sequence[FoundFace], input_data: Path) -> None:
    """Write the table of one phase, and name it in the settings.

    `faces`: the faces found in its clips; clips without a box are left out. Raises BundleError when the settings file
    cannot be changed.
    """
    rows = [(face.clip_id, *(f"{edge:.4f}" for edge in face.box)) for face in faces if face.box is not None]
    write_table(input_data / FILE, COLUMNS, sorted(rows))
    enter(input_data / "task.yaml", {"faces": FILE})
