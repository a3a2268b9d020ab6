"""Decode canonical clips: find the frames that a request means, and read them into memory, scaled, in RGB.

PyAV reads the time stamps without decoding (so variable frame rates do no harm); OpenCV decodes,
because it fills a given array in place and skips unwanted frames without converting them. Frames are never sought:
in clips with few key frames a seek costs more than decoding on.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import av
import cv2
import numpy as np
import numpy.typing as npt

from ingest.requests import MAXIMUM_FRAMES, FrameRequest

if TYPE_CHECKING:
    from av.container import InputContainer

Frame = npt.NDArray[np.uint8]
PROGRESSIVE, HIGH_RANGE = {0, 1}, {16, 18}
"""Orders of fields (FFmpeg) and transfer curves (ITU-T H.273)."""
LARGEST_GAP_S = 0.1
"""A longer gap between packets of sound is heard too early by readers that count samples."""


class UnreadableClip(Exception):
    """The file cannot be decoded, or is not canonical; the message says what was tried or what it has instead."""


@dataclass(frozen=True, eq=False)
class ClipFacts:
    """Facts about a clip that are known before decoding."""

    duration_s: float
    """From the first frame's start to the last one's end."""
    fps: float
    """Mean number of frames a second."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    times: npt.NDArray[np.float64]
    """Seconds at which each frame begins, ascending, the first is 0."""
    audible: bool
    """Whether it has sound."""


def read_facts(path: Path) -> ClipFacts:
    """Read size and time stamps; only the first frame is decoded.

    Raises
    ------
    UnreadableClip
        When no frame can be read, or when models would see or hear something else than people in a player.
    """
    try:
        with av.open(str(path)) as container:
            stream, sounds = container.streams.video[0], container.streams.audio[:1]
            base = stream.time_base
            packets: list[tuple[int, int]] = []
            heard: list[int] = []
            for packet in container.demux(stream, *sounds):
                if packet.pts is None or not packet.size:
                    continue
                if packet.stream_index != stream.index:
                    heard.append(packet.pts)
                elif not packet.is_discard:
                    packets.append((packet.pts, packet.duration or 0))
            others = _differences(container, heard)
    except (av.error.FFmpegError, IndexError, OSError, ValueError) as error:
        raise UnreadableClip(f"{type(error).__name__} while reading its packets") from error
    if not packets or base is None:
        raise UnreadableClip("no frame with a time stamp")
    stamps = np.unique(np.array([stamp for stamp, _ in packets], np.int64))
    times: npt.NDArray[np.float64] = (stamps - stamps[0]).astype(np.float64) * float(base)
    # Some containers do not store the duration of the last frame.
    last_s = max(packets)[1] * float(base) or (float(np.median(np.diff(times))) if len(times) > 1 else 1 / 25)
    duration = float(times[-1]) + last_s
    capture = open_capture(path, threads=1)
    width, height = (int(capture.get(key)) for key in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
    if capture.get(cv2.CAP_PROP_ORIENTATION_META):
        others.append("a picture turned or mirrored by its file")
    # Decided here, before any model is asked, so that such a clip is left out for every submission alike.
    decodes = capture.grab()
    capture.release()
    if not decodes or width <= 0 or height <= 0:
        raise UnreadableClip("not a single frame can be decoded")
    if others:
        raise UnreadableClip(f"not canonical: {', '.join(others)}")
    return ClipFacts(duration, len(times) / duration, width, height, times, bool(sounds))


def _differences(container: "InputContainer", heard: Sequence[int]) -> list[str]:
    """Return what a clip has in place of the canonical form (docs/data_format.md).

    `heard`: time stamp of each packet of sound, in the units of its stream.
    """
    stream = container.streams.video[0]
    codec = stream.codec_context
    # MP4 has no gaps: it makes the packet before longer.
    steps_s = np.diff(heard) * float(container.streams.audio[0].time_base or 0) if heard else np.empty(0)
    gap_s = float(np.max(steps_s) - np.median(steps_s)) if len(steps_s) else 0.0
    odd = {
        "several picture tracks": len(container.streams.video) > 1,
        "pixels that are not square": stream.sample_aspect_ratio not in {None, 0, 1},
        "two fields a frame": codec.field_order not in PROGRESSIVE,
        "high dynamic range": codec.color_trc in HIGH_RANGE,
        "gaps in the sound": gap_s > LARGEST_GAP_S,
    }
    return [words for words, true in odd.items() if true]


def open_capture(path: Path, *, threads: int) -> cv2.VideoCapture:
    """Open `path` for decoding with `threads` decoder threads.

    Raises
    ------
    UnreadableClip
        When OpenCV cannot open it.
    """
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads])
    if not capture.isOpened():
        raise UnreadableClip("OpenCV cannot open it")
    return capture


def wanted_frames(request: FrameRequest, facts: ClipFacts) -> npt.NDArray[np.int64]:
    """Return the indices of the frames that `request` means, ascending; an index may occur more than once."""
    end = facts.duration_s if request.end_s is None else min(request.end_s, facts.duration_s)
    start = max(0.0, request.start_s)
    if request.time_s is not None:
        moments = np.array([request.time_s])
    elif request.count is None and request.fps is None:
        first, last = np.searchsorted(facts.times, [start - 1e-9, end - 1e-9])
        return np.arange(first, last)
    else:
        length = max(0.0, end - start)
        count = request.count if request.count is not None else round(length * (request.fps or 0.0))
        if length == 0.0 or count == 0:
            return np.empty(0, np.int64)
        moments = start + (np.arange(min(count, MAXIMUM_FRAMES)) + 0.5) * (length / count)
    # The frame on screen at that moment is the last one that has begun.
    shown = np.searchsorted(facts.times, moments + 1e-9, side="right") - 1
    return np.clip(shown, 0, len(facts.times) - 1).astype(np.int64)


def frame_shape(request: FrameRequest, facts: ClipFacts) -> tuple[int, int, int]:
    """Return (height, width, 3) of the frames that `request` gives."""
    width, height = request.size or (facts.width, facts.height)
    return height, width, 3


class Reader(ABC):
    """Reads frames as a model gets them."""

    @abstractmethod
    def read_into(self, index: int, out: Frame) -> None:
        """Write frame `index` into `out`, RGB, an array of shape (height, width, 3) whose size decides the scaling.

        Frames are read in ascending order. Raises UnreadableClip when it cannot be decoded.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the files."""


class FrameReader(Reader):
    """Decodes the frames of one file in ascending order."""

    def __init__(self, path: Path, *, threads: int) -> None:
        self._capture = open_capture(path, threads=threads)
        self._position = -1
        self._scratch: Frame | None = None

    def decode(self, index: int) -> Frame:
        """Return the BGR pixels of frame `index`, valid until the next call.

        Raises
        ------
        UnreadableClip
            When it cannot be decoded.
        """
        while self._position < index:
            self._position += 1
            # grab() decodes without converting to unneeded pixels.
            if not self._capture.grab():
                raise UnreadableClip(f"frame {self._position} cannot be decoded")
        read, frame = self._capture.retrieve(self._scratch)
        if not read:
            raise UnreadableClip(f"frame {self._position} cannot be converted")
        self._scratch = np.asarray(frame, np.uint8)
        return self._scratch

    def read_into(self, index: int, out: Frame) -> None:
        """See `Reader.read_into`."""
        scale_to_rgb(self.decode(index), out)

    def close(self) -> None:
        """See `Reader.close`."""
        self._capture.release()


def can_decode(clip: Path, others: Iterable[Path]) -> bool:
    """Tell whether a clip is canonical, and it and other files have each of its frames."""
    try:
        last = len(read_facts(clip).times) - 1
        for path in dict.fromkeys((clip, *others)):
            with closing(FrameReader(path, threads=1)) as reader:
                reader.decode(last)
    except UnreadableClip:
        return False
    return True


def scale_to_rgb(frame: Frame, out: Frame) -> None:
    """Write the BGR `frame` into `out` as RGB, scaled to the size of `out`.

    A frame at least twice as large is first halved by averaging, then interpolated linearly: nearly the pixels of
    full area averaging at a quarter of its cost, and never aliased.
    """
    height, width = out.shape[:2]
    if frame.shape[0] >= 2 * height and frame.shape[1] >= 2 * width:
        half = (frame.shape[1] // 2, frame.shape[0] // 2)
        frame = np.asarray(cv2.resize(frame, half, interpolation=cv2.INTER_AREA), np.uint8)
    if frame.shape[:2] != (height, width):
        frame = np.asarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)
    # OpenCV returns another array if it could not write in place.
    converted = cv2.cvtColor(frame, cv2.COLOR_BGR2RGB, dst=out)
    if converted is not out:
        out[...] = converted


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
