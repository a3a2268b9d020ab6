"""A clip read from a video file, for training and tests at home; pixels are identical to the platform's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import programs  # noqa: F401 - makes the platform's own decoders importable
from contract import Frame, Sound
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, frame_shape, read_facts, wanted_frames
from ingest.requests import BadRequest, parse_request, parse_sound
from model_process.clip import plain


class FileClip:
    """A video file with the interface of the platform's clips."""

    def __init__(self, path: str | Path, transcript: str = "") -> None:
        """Read size and length; pixels and sound are decoded on demand.

        Raises ingest.media.video.UnreadableClip if the file cannot be decoded.
        """
        self.path = Path(path)
        self.transcript = transcript
        self._facts = read_facts(self.path)
        self.duration_s, self.fps = self._facts.duration_s, self._facts.fps
        self.width, self.height = self._facts.width, self._facts.height
        self.frame_count = len(self._facts.times)

    def frames(
        self,
        count: int | None = None,
        fps: float | None = None,
        start_s: float = 0.0,
        end_s: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Frame]:
        """Yield frames in order, RGB, read-only, as in `contract.Clip`."""
        yield from self._read(count=count, fps=fps, start_s=start_s, end_s=end_s, size=size)

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> Frame:
        """Return the frame shown at `time_s` seconds, clamped to the clip."""
        return next(self._read(time_s=time_s, size=size))

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound, mono, in [-1, 1], or None for a clip without sound."""
        try:
            return read_sound(self.path, parse_sound(plain(rate)), self.duration_s)
        except BadRequest as error:
            raise ValueError(str(error)) from None

    def _read(self, **request: Any) -> Iterator[Frame]:  # noqa: ANN401 - numbers
        try:
            parsed = parse_request(plain(request))
        except BadRequest as error:
            raise ValueError(str(error)) from None
        shape, reader, shown = frame_shape(parsed, self._facts), FrameReader(self.path, threads=1), None
        frame = np.empty(shape, np.uint8)
        try:
            for index in wanted_frames(parsed, self._facts):
                if index != shown:
                    frame = np.empty(shape, np.uint8)
                    reader.read_into(int(index), frame)
                    frame.flags.writeable = False
                    shown = index
                yield frame
        finally:
            reader.close()
