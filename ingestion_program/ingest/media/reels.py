"""Frames and sound that several calls on one clip show, decoded once for all: decoding is most of what a call costs.

All files of the clip are decoded before the first frame is shown or the first sound is heard. Otherwise a model with a
clock could tell which call shows a file for the first time.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ingest.media.altered.mixing import Mixer
from ingest.media.sound import read_repeated_sound, read_sound
from ingest.media.video import FrameReader, Reader, UnreadableClip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ingest.media.altered.exchange import Exchange
    from ingest.media.sound import Sound
    from ingest.media.video import Frame

    Indices = npt.NDArray[np.int64]

KEPT_BYTES = 160 << 20
"""Most memory that the frames of one clip take; requests beyond it are decoded again in each call."""
KEPT_SOUND_BYTES = 32 << 20
"""Most memory that the sound of one clip takes; rates beyond it are decoded again in each call."""


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

    @property
    def tracks(self) -> Sequence[Track]:
        """The sounds that are decoded."""

    @property
    def exchange(self) -> Exchange | None:
        """The second drawing, the same in all calls on a clip."""

    def shown(self, wanted: Indices) -> Indices:
        """Return which frames of the files are shown instead of `wanted`."""


class Reels:
    """The kept frames of one clip's files."""

    def __init__(
        self, shows: Mapping[Path, Sequence[Indices]], frame_bytes: int, exchange: Exchange | None = None
    ) -> None:
        """Keep no frames yet.

        Parameters
        ----------
        shows
            For each file, the clip's own first, by call: which of its frames is shown in the place of each frame.
        frame_bytes
            Size of a decoded frame.
        exchange
            The clip's second drawing. It is kept with all its parts mixed into the first: each call would mix them
            anew. A rendered copy exchanges nothing, so the mixture does for it, too.
        """
        self._shows, self._frame_bytes, self._exchange = shows, frame_bytes, exchange
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
                reels = self._decode(wanted, going_on) if fits else None
                if not going_on():
                    return None
                self._kept[key] = reels
                self._bytes += size if fits else 0
            kept = self._kept[key]
        return None if kept is None else _ReelReader(kept[path])

    def _decode(self, wanted: Mapping[Path, Indices], going_on: Callable[[], bool]) -> dict[Path, _Reel]:
        reels: dict[Path, _Reel] = {}
        for file, frames in wanted.items():
            if reels and self._exchange is not None and file == self._exchange.path:
                reels[file] = _mixed(next(iter(reels.values())), self._exchange, going_on)
            else:
                reels[file] = _decoded(file, frames.tolist(), going_on)
        return reels


@dataclass(frozen=True)
class Track:
    """A file's sound."""

    path: Path
    repeated: bool
    """Whether it is repeated if it is too short."""

    def read(self, rate: int, duration_s: float) -> Sound | None:
        """Decode `duration_s` of it at `rate` samples a second; None without sound."""
        return (read_repeated_sound if self.repeated else read_sound)(self.path, rate, duration_s)


class Tracks:
    """The kept sound of one clip's files."""

    def __init__(self, tracks: Iterable[Track]) -> None:
        """Keep nothing yet; `tracks` are those that the calls let hear."""
        self._tracks = tuple(dict.fromkeys(tracks))
        self._kept: dict[int, dict[Track, Sound | None]] = {}
        self._bytes = 0
        self._filling = Lock()

    def sound(self, track: Track, rate: int, duration_s: float) -> Sound | None:
        """Return a sound, which must not be changed; see `Track.read`.

        The first call that asks for a rate waits until the sound of all calls is decoded.
        """
        with self._filling:
            size = 4 * round(rate * duration_s) * len(self._tracks)
            if rate not in self._kept and self._bytes + size <= KEPT_SOUND_BYTES:
                self._kept[rate] = {one: one.read(rate, duration_s) for one in self._tracks}
                self._bytes += size
            kept = self._kept.get(rate, {})
        return kept[track] if track in kept else track.read(rate, duration_s)


class _ReelReader(Reader):
    """Reads kept frames."""

    def __init__(self, reel: _Reel) -> None:
        if reel.error is not None:
            raise UnreadableClip(str(reel.error))  # one of its own: each call adds its frames to what it raises
        self._frames, self.last_good = reel.frames, reel.last_good

    def decode(self, index: int) -> tuple[int, Frame]:
        if index not in self._frames:
            # It stands for missing frames of another file.
            index = max((kept for kept in self._frames if kept < index), default=min(self._frames))
        return self._frames[index]

    def close(self) -> None:
        pass


def _mixed(first: _Reel, exchange: Exchange, going_on: Callable[[], bool]) -> _Reel:
    """Return the frames of the first drawing with all parts of the second."""
    if not first.frames:
        return first
    own = dict(first.frames.values())
    mixer = Mixer(exchange.weights(*next(iter(own.values())).shape[:2]))
    return _decoded(exchange.path, own, going_on, lambda index, frame: mixer.mix(own[index], frame))


def _decoded(
    path: Path,
    wanted: Iterable[int],
    going_on: Callable[[], bool],
    change: Callable[[int, Frame], Frame] = lambda _, frame: frame,
) -> _Reel:
    """Decode these frames of a file, and keep what `change` makes of each."""
    frames: dict[int, tuple[int, Frame]] = {}
    try:
        reader = FrameReader(path, threads=1)
        try:
            for index in wanted:
                if not going_on():
                    break
                shown, frame = reader.decode(index)
                frames[index] = shown, change(index, frame).copy()
        finally:
            reader.close()
    except UnreadableClip as error:
        return _Reel({}, None, error)
    return _Reel(frames, reader.last_good)
