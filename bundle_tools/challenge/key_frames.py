"""One small picture of each clip for the report, because scoring has no clips."""

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

import av
import cv2
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import write_table

LIST, FOLDER = "key_frames.csv", "key_frames"
COLUMNS = ("clip_id", "file", "time_s", "sha256")
WIDTH = 355
LARGEST_BYTES = 10_000
_QUALITIES = (85, 75, 65, 55, 45, 35, 25)

Pixels = NDArray[np.uint8]


def write_key_frames(clips: Iterable[tuple[str, Path]], folder: Path, progress: Progress | None = None) -> int:
    """Write `folder/key_frames.csv` and `folder/key_frames/<clip_id>.jpg`, and remove earlier pictures.

    `clips`: (clip id, video) of every clip. Returns bytes of all pictures. Raises BundleError with every clip that
    cannot be decoded; nothing is written then.
    """
    videos = sorted(clips)
    pictures: dict[str, tuple[bytes, float]] = {}
    broken = []
    for done, (clip_id, path) in enumerate(videos, start=1):
        try:
            frame, time_s = middle_frame(path.read_bytes())
            pictures[clip_id] = encode(frame), time_s
        except (OSError, FFmpegError, IndexError, ValueError) as error:
            broken.append(f"{path.name}: {type(error).__name__}")
        if progress is not None:
            progress(done, len(videos))
    if broken:
        raise BundleError(f"{len(broken)} clips cannot be decoded: {', '.join(broken)}. Replace them.")
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (folder / FOLDER).glob("*.jpg"):
        old.unlink()
    rows = []
    for clip_id, (data, time_s) in pictures.items():
        file = f"{FOLDER}/{clip_id}.jpg"
        (folder / file).write_bytes(data)
        rows.append((clip_id, file, f"{time_s:.3f}", hashlib.sha256(data).hexdigest()))
    write_table(folder / LIST, COLUMNS, rows)
    return sum(len(data) for data, _ in pictures.values())


def middle_frame(video: bytes) -> tuple[Pixels, float]:
    """Return the frame in the middle of a video, (height, width, 3) BGR, and its seconds from the beginning."""
    with av.open(io.BytesIO(video), "r", metadata_errors="replace") as container:
        stream = container.streams.video[0]
        moments = sorted(packet.pts for packet in container.demux(stream) if packet.pts is not None)
        wanted = moments[len(moments) // 2]
        container.seek(0)
        for frame in container.decode(stream):
            if frame.pts is not None and frame.pts >= wanted and stream.time_base is not None:
                time_s = float((frame.pts - moments[0]) * stream.time_base)
                return np.asarray(frame.to_ndarray(format="bgr24"), np.uint8), time_s
    raise ValueError("a video without a frame in its middle")


def encode(frame: Pixels) -> bytes:
    """Encode a picture as a JPEG at most 355 pixels wide, in the best quality within 10 kB."""
    height, width = frame.shape[:2]
    if width > WIDTH:
        size = WIDTH, max(1, round(height * WIDTH / width))
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    data = b""
    for quality in _QUALITIES:
        data = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(data) <= LARGEST_BYTES:
            break
    return data
