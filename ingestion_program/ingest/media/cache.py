"""What several altered calls on one clip share: facts, noise, frames and sound, each decoded once.

Decoding is most of what a call costs. All files of the clip are decoded before the first frame is shown or the first
sound is heard. Otherwise a model with a clock could tell which call shows a file for the first time.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.exchange import Blend
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, Reader, UnreadableClip, read_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ingest.media.alteration import Alteration
    from ingest.media.exchange import Exchange
    from ingest.media.sound import Sound
    from ingest.media.video import ClipFacts, Frame

    Indices = npt.NDArray[np.int64]

KEPT_BYTES = 160 << 20
"""Most memory that the frames of one clip take; requests beyond it are decoded again in each call."""
KEPT_SOUND_BYTES = 32 << 20
"""Most memory that the sound of one clip takes; rates beyond it are decoded again in each call."""
_ROOM = 64


class FrameMemory:
    """Blocks of memory for frames, used again by later clips: the system takes long to hand out fresh ones."""

    def __init__(self) -> None:
        self._free: list[Frame] = []
        self._taking = Lock()

    def take(self, size: int) -> Frame:
        """Return a block of at least `size` bytes, which holds anything."""
        with self._taking:
            self._free.sort(key=len)
            large = next((place for place, block in enumerate(self._free) if len(block) >= size), None)
            if large is not None:
                return self._free.pop(large)
            del self._free[-1:]
        return np.empty(size, np.uint8)

    def give_back(self, blocks: Iterable[Frame]) -> None:
        """Take blocks back that nobody reads any more."""
        with self._taking:
            self._free += blocks


class ClipCache:
    """One clip's file and what is read from it. Nothing is read before it is needed; several decoders may ask."""

    def __init__(self, path: Path, memory: FrameMemory | None = None) -> None:
        """`path`: the video file. `memory`: shared by clips that follow one another."""
        self.path = path
        self._memory = FrameMemory() if memory is None else memory
        self._blocks: list[Frame] = []
        self._reading, self._graining, self._filling, self._hearing = RLock(), Lock(), Lock(), Lock()
        self._grains: dict[tuple[float, int, int, int], Grain] = {}
        self._files: dict[Path, None] = {}
        self._exchange: Exchange | None = None
        self._frames: dict[bytes, dict[Path, _KeptFrames] | None] = {}
        self._frame_bytes = 0
        self._audible: tuple[Path, ...] = ()
        self._sounds: dict[int, dict[Path, Sound | None]] = {}
        self._sound_bytes = 0

    def share(self, calls: Sequence[Alteration]) -> None:
        """Decode frames and sound once for all of these calls from now on; raises UnreadableClip.

        The second drawing, the same in all calls, is kept with all its parts mixed into the first: each call would mix
        them anew. A rendered copy exchanges nothing, so the mixture does for it, too.
        """
        for call in calls:
            self._files |= dict.fromkeys((self.path, *call.files))
            self._exchange = call.exchange
        self._sounds = {}  # decoded before, for one call
        self._audible = tuple(dict.fromkeys(sound for call in calls for sound in call.audible))

    def release(self) -> None:
        """Free frames, sound and noise; a later call decodes them again."""
        with self._filling:
            self._memory.give_back(self._blocks)
            self._frames, self._frame_bytes, self._blocks = {}, 0, []
        with self._hearing:
            self._sounds, self._sound_bytes = {}, 0
        with self._graining:
            self._grains = {}

    @property
    def facts(self) -> ClipFacts:
        """Facts known before decoding; raises UnreadableClip."""
        with self._reading:
            return self._facts

    def grain(self, deviation: float, seed: int, height: int, width: int) -> Grain:
        """Return the noise of all calls, which is made once; see `Grain`."""
        key = deviation, seed, height, width
        with self._graining:
            if key not in self._grains:
                self._grains[key] = Grain(*key)
            return self._grains[key]

    def frames(self, path: Path, wanted: Indices, going_on: Callable[[], bool]) -> Reader | None:
        """Return a reader of a file's kept frames, or None if they take too much memory or are not wanted any more.

        Parameters
        ----------
        wanted
            Frames of the file; the first call that requests them waits until those of all files are decoded.
        going_on
            Asked before each frame is decoded: whether it is still wanted.
        """
        if not self._files:
            return None
        key = wanted.tobytes()
        with self._filling:
            if key not in self._frames:
                indices = np.unique(wanted)
                shape = len(self._files) * len(indices), self.facts.height, self.facts.width, 3
                if self._frame_bytes + math.prod(shape) > KEPT_BYTES:
                    self._frames[key] = None
                    return None
                self._blocks.append(self._memory.take(math.prod(shape)))
                self._frame_bytes += math.prod(shape)
                memory, begin = self._blocks[-1][: math.prod(shape)].reshape(shape), 0
                kept: dict[Path, _KeptFrames] = {}
                for file in self._files:
                    slots = memory[begin : begin + len(indices)]
                    begin += len(indices)
                    if kept and self._exchange and self._exchange.first is None and file == self._exchange.path:
                        kept[file] = _blended(next(iter(kept.values())), self._exchange, slots, going_on)
                    else:
                        kept[file] = _decoded(file, indices.tolist(), slots, going_on)
                if not going_on():
                    return None
                self._frames[key] = kept
            files = self._frames[key]
        return None if files is None else _KeptReader(files[path])

    def sound(self, path: Path, rate: int) -> Sound | None:
        """Return a file's sound at `rate` samples a second, as long as the clip; None where there is none.

        It must not be changed. The first call that asks for a rate waits until the sound of all calls is decoded.
        """
        duration_s = self.facts.duration_s
        with self._hearing:
            size = 4 * round(rate * duration_s) * len(self._audible)
            if rate not in self._sounds and self._sound_bytes + size <= KEPT_SOUND_BYTES:
                self._sounds[rate] = {file: read_sound(file, rate, duration_s) for file in self._audible}
                self._sound_bytes += size
            kept = self._sounds.get(rate, {})
        return kept[path] if path in kept else read_sound(path, rate, duration_s)

    @cached_property
    def _facts(self) -> ClipFacts:
        return read_facts(self.path)


@dataclass(frozen=True)
class _KeptFrames:
    """Decoded frames of one file."""

    frames: dict[int, Frame]
    """Index of a frame -> its BGR pixels."""
    error: UnreadableClip | None = None
    """Why the file cannot be decoded."""


class _KeptReader(Reader):
    """Reads kept frames."""

    def __init__(self, kept: _KeptFrames) -> None:
        if kept.error is not None:
            raise UnreadableClip(str(kept.error))  # one of its own: each call adds its frames to what it raises
        self._frames = kept.frames

    def decode(self, index: int, out: Frame | None = None) -> Frame:
        return self._frames[index]

    def close(self) -> None:
        pass


def _blended(first: _KeptFrames, exchange: Exchange, memory: Frame, going_on: Callable[[], bool]) -> _KeptFrames:
    """Return the frames of the first drawing with all parts of the second."""
    if not first.frames:
        return first
    own = first.frames
    blend = Blend(exchange.weights(*memory.shape[1:3]))
    return _decoded(exchange.path, own, memory, going_on, lambda index, frame: blend.mix(own[index], frame))


def _decoded(
    path: Path,
    wanted: Iterable[int],
    memory: Frame,
    going_on: Callable[[], bool],
    change: Callable[[int, Frame], Frame] = lambda _, frame: frame,
) -> _KeptFrames:
    """Decode these frames of a file into memory, and keep what `change` makes of each.

    `memory`: shape (frames, height, width, 3).
    """
    frames: dict[int, Frame] = {}
    try:
        with closing(FrameReader(path, threads=1)) as reader:
            for index, kept in zip(wanted, memory, strict=True):
                if not going_on():
                    break
                frame = change(index, reader.decode(index, kept))
                if frame is not kept:
                    kept[...] = frame
                frames[index] = kept
    except UnreadableClip as error:
        return _KeptFrames({}, error)
    return _KeptFrames(frames)


class Grain:
    """Noise like a camera's, different on each frame.

    Compression leaves still areas exactly unchanged from frame to frame. Without noise, these would reveal where two
    drawings were mixed.
    """

    def __init__(self, deviation: float, seed: int, height: int, width: int) -> None:
        self._seed, self._size = seed, (height, width)
        # One large sheet of noise, cut differently for each frame: fresh noise would take longer than decoding.
        random = np.random.default_rng(seed)
        sheet = random.standard_normal((height + _ROOM, width + _ROOM), np.float32) * np.float32(deviation)
        rounded = np.rint(sheet)
        self._lighter, self._darker = (
            cv2.merge([np.clip(part, 0, 255).astype(np.uint8)] * 3) for part in (rounded, -rounded)
        )

    def add(self, index: int, frame: Frame, out: Frame) -> Frame:
        """Write frame `index` with noise into `out`, and return it.

        The noise is the same at each request; otherwise a model could average it out.
        """
        height, width = self._size
        down, right = np.random.default_rng((self._seed, index)).integers(_ROOM, size=2)
        cut = np.s_[down : down + height, right : right + width]
        cv2.add(frame, self._lighter[cut], dst=out)
        cv2.subtract(out, self._darker[cut], dst=out)
        return out
