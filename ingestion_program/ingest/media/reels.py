"""Frames that several calls on one clip show, decoded once for all of them: decoding is most of what a call costs.

All files of the clip are decoded before the first frame is shown. Otherwise a model with a clock could tell which call
shows a file for the first time.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ingest.media.video import FrameReader, Reader, UnreadableClip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ingest.media.video import Frame

    Indices = npt.NDArray[np.int64]

KEPT_BYTES = 160 << 20
"""Most memory that the frames of one clip take; requests beyond it are decoded again in each call."""


@dataclass(frozen=True)
class _Reel:
    """Decoded frames of one file."""

    frames: dict[int, tuple[int, Frame]]
    """Index of a frame -> the number of the frame that stands for it, and its BGR pixels."""
    last_good: int | None
    """See `Reader.last_good`."""
    error: UnreadableClip | None = None
    """Why the file cannot be decoded."""


class Showing(Protocol):
    """A call that shows frames."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are decoded."""

    def shown(self, wanted: Indices) -> Indices:
        """Return which frames of the files are shown instead of `wanted`."""


class Reels:
    """The kept frames of one clip's files."""

    def __init__(self, shows: Mapping[Path, Sequence[Indices]], frame_bytes: int) -> None:
        """Keep no frames yet.

        Parameters
        ----------
        shows
            For each file, by call: which of its frames is shown in the place of each frame.
        frame_bytes
            Size of a decoded frame.
        """
        self._shows, self._frame_bytes = shows, frame_bytes
        self._kept: dict[bytes, dict[Path, _Reel] | None] = {}
        self._bytes = 0
        self._filling = Lock()

    def reader(self, path: Path, asked: Indices, going_on: Callable[[], bool]) -> Reader | None:
        """Return a reader of a file's kept frames, or None if they take too much memory or are not wanted any more.

        Parameters
        ----------
        asked
            The requested frames; the first call that requests them waits until those of all calls are decoded.
        going_on
            Asked before each frame is decoded: whether it is still wanted.
        """
        key = asked.tobytes()
        with self._filling:
            if key not in self._kept:
                wanted = {
                    file: np.unique(np.concatenate([shown[asked] for shown in calls]))
                    for file, calls in self._shows.items()
                }
                size = self._frame_bytes * sum(map(len, wanted.values()))
                fits = self._bytes + size <= KEPT_BYTES
                reels = {file: _decoded(file, frames, going_on) for file, frames in wanted.items()} if fits else None
                if not going_on():
                    return None
                self._kept[key] = reels
                self._bytes += size if fits else 0
            kept = self._kept[key]
        return None if kept is None else _ReelReader(kept[path])


class _ReelReader(Reader):
    """Reads kept frames."""

    def __init__(self, reel: _Reel) -> None:
        if reel.error is not None:
            raise reel.error
        self._frames, self.last_good = reel.frames, reel.last_good

    def decode(self, index: int) -> tuple[int, Frame]:
        return self._frames[index]

    def close(self) -> None:
        pass


def _decoded(path: Path, wanted: Indices, going_on: Callable[[], bool]) -> _Reel:
    frames: dict[int, tuple[int, Frame]] = {}
    try:
        reader = FrameReader(path, threads=1)
        try:
            for index in wanted.tolist():
                if not going_on():
                    break
                shown, frame = reader.decode(index)
                frames[index] = shown, frame.copy()
        finally:
            reader.close()
    except UnreadableClip as error:
        return _Reel({}, None, error)
    return _Reel(frames, reader.last_good)
