"""What the altered calls of one clip share: facts, thumbnails, frames and sound, read from its files once."""

from __future__ import annotations

from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ingest.media.altered.jitter import Grain
from ingest.media.altered.operators import median
from ingest.media.reels import Reels, Tracks
from ingest.media.video import FrameReader, read_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ingest.media.reels import Indices, Showing, Track
    from ingest.media.sound import Sound
    from ingest.media.video import ClipFacts, Frame, Reader

WIDTH, HEIGHT = 160, 90
"""Size at which replacements are made; they are smooth, so a larger size would add nothing."""
MOMENTS = 16
"""Thumbnails of a clip, in the middle of as many equal parts."""


def first_light(path: Path) -> float:
    """Return the mean of a file's first frame, 0 to 1; raises UnreadableClip."""
    reader = FrameReader(path, threads=1)
    try:
        return float(reader.decode(0)[1].mean()) / 255
    finally:
        reader.close()


class Material:
    """One clip's file. Nothing is read before it is needed; several decoders may ask at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The video file."""
        self._reading, self._graining = RLock(), Lock()
        self._calls: Sequence[Showing] = ()
        self._tracks = Tracks(())
        self._reels: Reels | None = None
        self._grains: dict[tuple[float, int, int, int], Grain] = {}

    def share(self, calls: Sequence[Showing]) -> None:
        """Decode frames and sound once for all of these calls from now on."""
        self._calls = calls
        self._tracks = Tracks(track for call in calls for track in call.tracks)

    def kept(self, path: Path, asked: Indices, going_on: Callable[[], bool]) -> Reader | None:
        """Return a reader of frames that are decoded once for all calls, or None; see `Reels.reader`."""
        self._gather()
        return None if self._reels is None else self._reels.reader(path, asked, going_on)

    def _gather(self) -> None:
        """Note what the calls show, and forget them: they name this object, and only a collection would free both."""
        if not self._calls:  # without the lock, which is held as long as thumbnails are decoded
            return
        with self._reading:
            if self._calls:
                every = np.arange(len(self._facts.times))
                shows: dict[Path, list[Indices]] = {}
                for call in self._calls:
                    # The second drawing is mixed into the clip's own.
                    for file in dict.fromkeys((self.path, *call.files)):
                        shows.setdefault(file, []).append(call.shown(every))
                size = 3 * self._facts.width * self._facts.height
                self._reels = Reels(shows, size, self._calls[0].exchange)
                self._calls = ()

    def grain(self, deviation: float, seed: int, height: int, width: int) -> Grain:
        """Return the noise of all calls, which is made once; see `Grain`."""
        self._gather()
        key = deviation, seed, height, width
        # Another lock than that of the thumbnails, which take as long as decoding the clip.
        with self._graining:
            if key not in self._grains:
                self._grains[key] = Grain(*key)
            return self._grains[key]

    @property
    def facts(self) -> ClipFacts:
        """Facts known before decoding; raises UnreadableClip."""
        with self._reading:
            return self._facts

    @property
    def moments(self) -> npt.NDArray[np.int64]:
        """The frames of the thumbnails, ascending."""
        count = len(self.facts.times)
        return ((np.arange(MOMENTS) + 0.5) * count / MOMENTS).astype(np.int64)

    @property
    def thumbnails(self) -> Frame:
        """Small pictures at `moments`, RGB, shape (MOMENTS, HEIGHT, WIDTH, 3); raises UnreadableClip."""
        with self._reading:
            return self._thumbnails

    @property
    def median(self) -> Frame:
        """The median over time, RGB, shape (HEIGHT, WIDTH, 3); raises UnreadableClip."""
        with self._reading:
            return self._median

    @property
    def brightness(self) -> float:
        """Mean of the median picture, 0 to 1; raises UnreadableClip."""
        return float(self.median.mean()) / 255

    def sound(self, track: Track, rate: int) -> Sound | None:
        """Return a sound at `rate` samples a second, as long as the clip; None where there is none."""
        self._gather()
        return self._tracks.sound(track, rate, self.facts.duration_s)

    @cached_property
    def _facts(self) -> ClipFacts:
        return read_facts(self.path)

    @cached_property
    def _thumbnails(self) -> Frame:
        reader = FrameReader(self.path, threads=1)
        pictures = np.empty((MOMENTS, HEIGHT, WIDTH, 3), np.uint8)
        try:
            for picture, index in zip(pictures, self.moments, strict=True):
                reader.read_into(int(index), picture)
        finally:
            reader.close()
        return pictures

    @cached_property
    def _median(self) -> Frame:
        return median(self._thumbnails)
