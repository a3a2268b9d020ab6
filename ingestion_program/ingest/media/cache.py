"""What several altered calls on one clip share: noise, finished frames and sound, each made once.

Decoding is most of what a call costs. All files of the clip are decoded before the first frame is shown or the first
sound is heard. Otherwise a model with a clock could tell which call shows a file for the first time.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.blend import Composite, box_of
from ingest.media.sound import read_sound
from ingest.media.transform import FrameTransform, exchanged_by
from ingest.media.video import FrameReader, Reader, UnreadableClip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ingest.media.alteration import Alteration, ClipSource, Jitter, Levels
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


@dataclass(frozen=True, eq=False)
class Finished:
    """Some frames of a clip as its calls show them, RGB, at one size; the arrays are (frames, height, width, 3)."""

    indices: Indices
    """Which frames of the files they are, ascending."""
    size: tuple[int, int]
    """Height and width of the files' frames."""
    box: tuple[slice, slice]
    """Rows and columns outside of which nothing is exchanged."""
    plain: dict[tuple[Path, Levels | None], Frame]
    """Without exchanged parts, by file and look."""
    exchanged: Frame
    """Within the box, with all parts exchanged."""
    errors: dict[Path, UnreadableClip] = field(default_factory=dict)
    """Why a file cannot be decoded."""


class ClipCache:
    """What the calls on one clip share. Nothing is read before it is needed; several decoders may ask."""

    def __init__(self, clip: ClipSource, memory: FrameMemory | None = None) -> None:
        """`clip`: as it is on disk. `memory`: shared by clips that follow one another."""
        self._clip = clip
        self._memory = FrameMemory() if memory is None else memory
        self._blocks: list[Frame] = []
        self._graining, self._filling, self._hearing = Lock(), Lock(), Lock()
        self._grains: dict[tuple[float, int, int, int], Grain] = {}
        self._base = clip.path
        self._looks: dict[Path, dict[Levels | None, tuple[Jitter, int]]] = {}
        self._exchange: Exchange | None = None
        self._finished: dict[tuple[bytes, tuple[int, int, int]], Finished | None] = {}
        self._frame_bytes = 0
        self._audible: tuple[Path, ...] = ()
        self._sounds: dict[int, dict[Path, Sound | None]] = {}
        self._sound_bytes = 0

    @property
    def path(self) -> Path:
        """The clip's file."""
        return self._clip.path

    @property
    def facts(self) -> ClipFacts:
        """Facts known before decoding; raises UnreadableClip."""
        return self._clip.facts

    def share(self, calls: Sequence[Alteration]) -> None:
        """Decode frames and sound once for all of these calls from now on; raises UnreadableClip."""
        self.facts  # noqa: B018 - raises here, not in the middle of a call
        # Parts are exchanged in the clip's own file. A copy that is asked about alone serves as well: it shows none.
        shown = [call.files[0] for call in calls]
        self._base = self.path if self.path in shown else shown[0]
        # What exchanges parts comes first: its levels are those of the exchanged frames.
        for call in sorted(calls, key=lambda call: not call.exchanged):
            for file in (self._base, call.files[0]):
                self._looks.setdefault(file, {}).setdefault(call.look, (call.jitter, call.seed))
            self._exchange = call.exchange
        self._sounds = {}  # decoded before, for one call
        self._audible = tuple(dict.fromkeys(sound for call in calls for sound in call.audible))

    def release(self) -> None:
        """Free frames, sound and noise; a later call makes them again."""
        with self._filling:
            self._memory.give_back(self._blocks)
            self._finished, self._frame_bytes, self._blocks = {}, 0, []
        with self._hearing:
            self._sounds, self._sound_bytes = {}, 0
        with self._graining:
            self._grains = {}

    def transform(self, levels: Levels | None, jitter: Jitter, seed: int) -> FrameTransform:
        """Return what the frames of a call go through; `seed`: of its noise."""
        return FrameTransform(jitter, levels, partial(self.grain, jitter.grain, seed))

    def grain(self, deviation: float, seed: int, height: int, width: int) -> Grain:
        """Return the noise of all calls, which is made once; see `Grain`."""
        key = deviation, seed, height, width
        with self._graining:
            if key not in self._grains:
                self._grains[key] = Grain(*key)
            return self._grains[key]

    def finished(self, wanted: Indices, shape: tuple[int, int, int], going_on: Callable[[], bool]) -> Finished | None:
        """Return frames as the calls show them, or None if they take too much memory or are not wanted any more.

        Parameters
        ----------
        wanted
            Frames of the files; the first call that requests them waits until those of all calls are finished.
        shape
            (height, width, 3) of what is shown.
        going_on
            Asked before each frame is decoded: whether it is still wanted.
        """
        if not self._looks:
            return None
        key, indices = (wanted.tobytes(), shape), np.unique(wanted)
        with self._filling:
            if key not in self._finished:
                result = self._room_for(indices, shape)
                if result is not None and not self._finish(result, going_on):
                    return None
                self._finished[key] = result
            return self._finished[key]

    def _room_for(self, indices: Indices, shape: tuple[int, int, int]) -> Finished | None:
        """Return frames that hold anything yet; None if they would take too much memory."""
        size = self.facts.height, self.facts.width
        looks = [(file, levels) for file, kinds in self._looks.items() for levels in kinds]
        levels, drawn = next(iter(self._looks[self._base].items()))
        box = np.s_[0:0, 0:0]
        if self._exchange is not None:
            box = box_of(self._exchange.parts, size, self.transform(levels, *drawn).place(size, shape[:2]), shape[:2])
        shapes = [(len(indices), *shape)] * len(looks)
        shapes.append((len(indices), box[0].stop - box[0].start, box[1].stop - box[1].start, 3))
        ends = np.cumsum([math.prod(each) for each in shapes]).tolist()
        if self._frame_bytes + ends[-1] > KEPT_BYTES:
            return None
        block = self._memory.take(ends[-1])
        self._blocks.append(block)
        self._frame_bytes += ends[-1]
        *plain, exchanged = (
            block[end - math.prod(each) : end].reshape(each) for each, end in zip(shapes, ends, strict=True)
        )
        return Finished(indices, size, box, dict(zip(looks, plain, strict=True)), exchanged)

    def _finish(self, result: Finished, going_on: Callable[[], bool]) -> bool:
        """Decode and finish all frames; tell whether they were wanted to the end."""
        for file, kinds in self._looks.items():
            transforms = [
                (self.transform(levels, *drawn), result.plain[file, levels]) for levels, drawn in kinds.items()
            ]
            exchange = self._exchange if file == self._base else None
            whole = np.empty_like(transforms[0][1][0])
            try:
                with ExitStack() as files:
                    reader = files.enter_context(closing(FrameReader(file, threads=1)))
                    if exchange is not None:
                        second = files.enter_context(closing(FrameReader(exchange.path, threads=1)))
                        mix = exchanged_by(exchange, *result.size)
                    for number, index in enumerate(result.indices.tolist()):
                        if not going_on():
                            return False
                        frame = reader.decode(index)
                        for transform, frames in transforms:
                            transform.write(index, frame, frames[number])
                        if exchange is not None:
                            transforms[0][0].write(index, mix(frame, second.decode(index)), whole)
                            result.exchanged[number] = whole[result.box]
            except UnreadableClip as error:
                result.errors[file] = error
                if exchange is not None:
                    result.errors[exchange.path] = error
        return True

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


class FinishedReader(Reader):
    """Reads finished frames for one call."""

    def __init__(self, alteration: Alteration, finished: Finished) -> None:
        """Prepare; raises UnreadableClip when a file of the call cannot be decoded."""
        for path in alteration.files:
            if path in finished.errors:
                raise UnreadableClip(str(finished.errors[path]))  # one of its own: each call adds to what it raises
        self._finished, self._times = finished, alteration.facts.times
        self._plain = finished.plain[alteration.files[0], alteration.look]
        self._numbers = {index: number for number, index in enumerate(finished.indices.tolist())}
        self._composite: Composite | None = None
        if alteration.exchange is not None:
            rows, columns = finished.box
            place = alteration.transform.place(finished.size, self._plain.shape[1:3])
            place[:, 2] -= columns.start, rows.start
            shown = place, finished.exchanged.shape[1:3]
            how = alteration.exchange, alteration.exchanged, alteration.span_s
            self._composite = Composite(*how, finished.size, shown)

    def read_into(self, index: int, out: Frame) -> None:
        """See `Reader.read_into`."""
        number, box = self._numbers[index], self._finished.box
        out[...] = self._plain[number]
        if self._composite is not None:
            # Even if nothing is exchanged, so that timing reveals nothing.
            second, time_s = self._finished.exchanged[number], float(self._times[index])
            out[box] = self._composite.mix(self._plain[number][box], second, time_s)

    def close(self) -> None:
        """See `Reader.close`."""


class Grain:
    """Noise like a camera's, different on each frame.

    Compression leaves still areas exactly unchanged from frame to frame. Without noise, these would reveal where two
    drawings were mixed.
    """

    def __init__(self, deviation: float, seed: int, height: int, width: int) -> None:
        self._seed, self._size = seed, (height, width)
        self._cuts: dict[int, tuple[slice, slice]] = {}
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
        if index not in self._cuts:
            height, width = self._size
            down, right = np.random.default_rng((self._seed, index)).integers(_ROOM, size=2).tolist()
            self._cuts[index] = np.s_[down : down + height, right : right + width]
        cut = self._cuts[index]
        cv2.add(frame, self._lighter[cut], dst=out)
        cv2.subtract(out, self._darker[cut], dst=out)
        return out
