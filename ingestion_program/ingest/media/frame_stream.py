"""One request for frames of one clip: a thread decodes them into shared memory and the model process gets the slots."""

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Condition, Lock, RLock

import numpy as np
import numpy.typing as npt

from ingest.media.alteration import Alteration, ClipSource
from ingest.media.buffers import LARGEST_BLOCK, FrameBuffer
from ingest.media.cache import FinishedReader
from ingest.media.transform import AlteredReader
from ingest.media.video import (
    ClipFacts,
    FrameReader,
    Reader,
    UnreadableClip,
    frame_shape,
    wanted_frames,
)
from ingest.requests import FrameRequest

WHOLE_BYTES = LARGEST_BLOCK
"""Requests up to this size are decoded whole; they can be served twice."""
RING_BYTES = LARGEST_BLOCK
"""Larger requests are streamed through a ring of slots of this size."""
MAXIMUM_BATCH = 8


@dataclass(frozen=True)
class StreamPlan:
    """How one request for one clip is carried out."""

    wanted: npt.NDArray[np.int64]
    """Indices of the frames that are shown, ascending."""
    shape: tuple[int, int, int]
    """(height, width, 3) of a frame."""
    slots: int

    @property
    def streaming(self) -> bool:
        """Whether slots are used more than once."""
        return self.slots < len(self.wanted)

    @property
    def batch(self) -> int:
        """Frames announced in one message: each message costs both sides a context switch."""
        return max(1, min(MAXIMUM_BATCH, self.slots // 3))

    @property
    def bytes(self) -> int:
        """Size of the buffer."""
        return self.slots * int(np.prod(self.shape))


def plan_stream(request: FrameRequest, facts: ClipFacts, alteration: Alteration | None = None) -> StreamPlan:
    """Decide between decoding whole and streaming."""
    wanted, shape = wanted_frames(request, facts), frame_shape(request, facts)
    wanted = wanted if alteration is None else alteration.shown(wanted)
    size = int(np.prod(shape))
    slots = len(wanted) if len(wanted) * size <= WHOLE_BYTES else min(len(wanted), max(6, RING_BYTES // size))
    return StreamPlan(wanted, shape, slots)


class FrameStream:
    """Frames of one request for one clip: a thread decodes them, at most one listener gets them in order."""

    def __init__(self, clip: ClipSource, plan: StreamPlan, buffer: FrameBuffer) -> None:
        self.plan = plan
        self.buffer = buffer
        """Where the model reads the frames."""
        self._shown: Counter[int] = Counter()
        """How often the model holds each slot; a finished request can be listened to again."""
        self.listened = False
        """Whether the model has received frames of it; a streamed request can be listened to only once."""
        self.finished = False
        """Whether the decoder has stopped."""
        self.cancelled = False
        """Whether the decoder was told to stop."""
        self.error: UnreadableClip | None = None
        """Why decoding failed."""
        self._clip = clip
        self._ready: list[int] = []
        self._announced = 0
        self._end_told = False
        self._telling = Lock()
        self._decoder: Future[None] | None = None
        self._free = deque(range(plan.slots))
        self._listener: Callable[[list[int]], None] | None = None
        self._changed = Condition(RLock())

    @property
    def outstanding(self) -> int:
        """Number of slots that were given to the model and not returned."""
        return self._shown.total()

    def start(self, decoders: Executor, threads: int, finished: Callable[[], None]) -> None:
        """Decode in a thread of `decoders` when one is free; `finished` is called when decoding ends."""
        self._decoder = decoders.submit(self._decode, threads, finished)

    def listen(self, listener: Callable[[list[int]], None]) -> None:
        """Pass slots in order: those already decoded, then the others as they come, and an empty list at the end."""
        with self._changed:
            self._listener = listener
            self.listened = True
            self._announced = 0
            self._end_told = False
        self._announce()

    def leave(self) -> None:
        """Pass no more slots to the listener."""
        with self._changed:
            self._listener = None
            if self.plan.streaming:
                self.cancel()

    def free(self, slot: int) -> None:
        """Take back `slot`, which a stream may then refill; only slots that the model holds are accepted."""
        with self._changed:
            if not self._shown[slot]:
                return
            self._shown[slot] -= 1
            if self.plan.streaming:
                self._free.append(slot)
                self._changed.notify_all()

    def cancel(self) -> None:
        """Stop decoding."""
        with self._changed:
            self.cancelled = True
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until the decoder has stopped: only then may its buffer be reused."""
        if self._decoder is not None:
            wait([self._decoder])

    @property
    def available(self) -> bool:
        """Whether the model can be given these frames from the start."""
        with self._changed:
            return self._listener is None and not self.cancelled and not (self.listened and self.plan.streaming)

    @property
    def idle(self) -> bool:
        """Whether no thread writes these frames and no process reads or maps them."""
        with self._changed:
            # A model can give slots back before it has been told of them.
            unread = self._listener is None and self.outstanding == 0 and not self._telling.locked()
            return self.finished and self.listened and unread

    def _announce(self) -> None:
        # The listener may block until the model reads. The state's lock is not held meanwhile: the thread that
        # serves the model needs it, and the model may be waiting for that thread.
        with self._telling:
            with self._changed:
                listener = self._listener
                if listener is None:
                    return
                slots = self._ready[self._announced :]
                self._announced = len(self._ready)
                self._shown.update(slots)
                ends = self.finished and not self._end_told
                self._end_told |= ends
            if slots:
                listener(slots)
            if ends:
                listener([])

    def _next_slot(self) -> int | None:
        with self._changed:
            waits = not self._free
        if waits:
            self._announce()
        with self._changed:
            self._changed.wait_for(lambda: self._free or self.cancelled)
            return None if self.cancelled else self._free.popleft()

    def _open(self, threads: int) -> Reader:
        alteration = self._clip.alteration
        if alteration is None:
            return FrameReader(self._clip.path, threads=threads)
        # Models look at a single frame here or there; a stream would take much memory.
        if len(self.plan.wanted) > 1 and not self.plan.streaming:
            finished = alteration.cache.finished(self.plan.wanted, self.plan.shape, lambda: not self.cancelled)
            if finished is not None:
                return FinishedReader(alteration, finished)
        return AlteredReader(alteration, threads=threads)

    def _decode(self, threads: int, finished: Callable[[], None]) -> None:
        try:
            if self.cancelled:  # before its turn came: opening a file takes long
                return
            with closing(self._open(threads)) as reader:
                for index in self.plan.wanted.tolist():
                    slot = self._next_slot()
                    if slot is None:
                        break
                    reader.read_into(index, self.buffer.slot(slot, self.plan.shape))
                    with self._changed:
                        self._ready.append(slot)
                        enough = len(self._ready) - self._announced >= self.plan.batch
                    if enough:
                        self._announce()
        except UnreadableClip as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - a thread that ends without a word would leave the model waiting
            self.error = UnreadableClip(f"{type(error).__name__} while decoding")
        finally:
            with self._changed:
                self.finished = True
            try:
                self._announce()
            finally:
                finished()
