"""A clip read from a file, with the members that the runner's clip has. For training at home only."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray


class FileClip:
    """A video file as a model sees it."""

    def __init__(self, path: Path, transcript: str = "") -> None:
        self.path, self.transcript = path, transcript
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            times = [packet.pts for packet in container.demux(stream) if packet.pts is not None]
            base = stream.time_base or Fraction(1)
            rate = stream.average_rate or Fraction(25)
            self.width, self.height = stream.width, stream.height
        self._times = np.sort(np.array([float(t * base) for t in times]))
        self._times -= self._times[0]
        self.fps, self.frame_count = float(rate), len(times)
        self.duration_s = self.frame_count / self.fps

    def frames(
        self,
        count: int | None = None,
        fps: float | None = None,
        start_s: float = 0.0,
        end_s: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[NDArray[np.uint8]]:
        """Yield frames, each (height, width, 3), RGB; the frame of a time is the last one shown by then."""
        end = self.duration_s if end_s is None else end_s
        if count is None and fps is not None:
            count = max(round((end - start_s) * fps), 1)
        if count is None:
            wanted = [i for i, time in enumerate(self._times) if start_s <= time < end]
        else:
            moments = start_s + (np.arange(count) + 0.5) * (end - start_s) / count
            wanted = [max(int(i), 0) for i in np.searchsorted(self._times, moments + 1e-9, side="right") - 1]
        yield from self._decode(wanted, size)

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """Return the frame shown at a time."""
        index = max(int(np.searchsorted(self._times, time_s + 1e-9, side="right")) - 1, 0)
        return next(self._decode([index], size))

    def audio(self, rate: int = 16_000) -> NDArray[np.float32] | None:
        """Return the sound, mono, in [-1, 1], or None."""
        with av.open(str(self.path)) as container:
            if not container.streams.audio:
                return None
            resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
            blocks = [b for frame in container.decode(audio=0) for b in resampler.resample(frame)]
            blocks += resampler.resample(None)
        sound = np.concatenate([block.to_ndarray().reshape(-1) for block in blocks])
        return np.asarray(np.clip(sound[: round(self.duration_s * rate)], -1, 1), np.float32)

    def _decode(self, wanted: list[int], size: tuple[int, int] | None) -> Iterator[NDArray[np.uint8]]:
        with av.open(str(self.path)) as container:
            position = 0
            for index, frame in enumerate(container.decode(video=0)):
                picture = None
                while position < len(wanted) and wanted[position] == index:
                    if picture is None:
                        picture = _resized(np.asarray(frame.to_ndarray(format="bgr24"), np.uint8), size)
                    yield picture
                    position += 1
                if position == len(wanted):
                    return


def _resized(bgr: NDArray[np.uint8], size: tuple[int, int] | None) -> NDArray[np.uint8]:
    if size is not None and size != (bgr.shape[1], bgr.shape[0]):
        if bgr.shape[1] >= 2 * size[0] and bgr.shape[0] >= 2 * size[1]:
            half = (bgr.shape[1] // 2, bgr.shape[0] // 2)
            bgr = np.asarray(cv2.resize(bgr, half, interpolation=cv2.INTER_AREA), np.uint8)
        bgr = np.asarray(cv2.resize(bgr, size, interpolation=cv2.INTER_LINEAR), np.uint8)
    picture = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)
    picture.flags.writeable = False
    return picture
