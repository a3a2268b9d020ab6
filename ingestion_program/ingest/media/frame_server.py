"""Serve frames and sound of one clip at a time to the model: small requests whole, large ones as streams."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, RLock
from typing import Any

import cv2

from ingest.media.alteration import ClipSource
from ingest.media.buffers import KEPT_FREE, BufferPool, FrameBuffer
from ingest.media.frame_stream import FrameStream, StreamPlan, plan_stream
from ingest.media.sound import Sound, read_sound
from ingest.media.video import ClipFacts
from ingest.requests import BadRequest, FrameRequest, parse_request, parse_sound

Send = Callable[[dict[str, Any], FrameBuffer | None], None]

KEPT_BYTES = 96 << 20
"""Above this much memory, no finished frames of the clip are kept."""
OPEN_READINGS = 64
"""Most readings of one clip that may be under way at once."""
OPEN_STREAMS = 6
"""Most of these that may be streamed, so that their decoders wait for the model."""
MOST_RATES = 4
"""Most sampling rates of one clip: the sound at each rate is kept until the clip ends."""
KEPT_READINGS = 64
"""Most readings of one clip that are kept, however small; each takes a block of memory with a file descriptor."""
CORES = os.cpu_count() or 1
DECODERS = max(CORES, OPEN_STREAMS + 1) + 1
"""Threads that decode for one model."""
DESCRIPTORS = KEPT_READINGS + 1 + KEPT_FREE + 3 * DECODERS
"""Most files that serving one model keeps open: a block each, and what a thread decodes, altered by another clip."""
OPEN_BYTES = 768 << 20
"""Most memory that the readings of one clip may hold at once."""


@dataclass(frozen=True)
class ClipEnd:
    """What is reported when a clip is finished."""

    gone: list[int]
    """Numbers of buffers that the model process may drop."""
    faults: list[str]
    """Why its files cannot be decoded; empty if they can."""


class FrameServer:
    """Serves frames and sound of one clip at a time."""

    def __init__(self) -> None:
        # OpenCV's own threads busy-wait for one another, and the cores are needed for decoding.
        cv2.setNumThreads(1)
        # FFmpeg's frame threads also decode ahead: with one per core, it would wait while frames are converted.
        self._alone = 2 * CORES
        self._pool = BufferPool()
        self._lock = RLock()
        # All threads are started before the model, which could use up the machine's threads. Some decoders wait for
        # the model, which may wait for frames of another decoder, so there is always one more.
        self._decoders = _threads(DECODERS)
        self._running = 0
        self._clip: ClipSource | None = None
        self._facts: ClipFacts | None = None
        self._streams: dict[FrameRequest, FrameStream] = {}
        self._extra: list[FrameStream] = []
        self._sounds: dict[int, Sound | None] = {}
        self._gone: list[int] = []
        self._faults: set[str] = set()
        self._open: dict[int, FrameStream] = {}

    @property
    def sizes(self) -> Mapping[int, int]:
        """Bytes of every block of memory that the current model may hold, by inode."""
        return self._pool.sizes

    def forget(self) -> None:
        """Release memory that held frames for an earlier model."""
        with self._lock:
            self._pool.forget()

    def begin(self, clip: ClipSource) -> ClipFacts:
        """Make `clip` the current one.

        Raises UnreadableClip when the clip cannot be decoded.
        """
        self._clip, self._facts = clip, clip.facts
        return clip.facts

    def open(self, number: int, arguments: dict[str, Any], send: Send) -> None:
        """Answer the model's request `number` with a header, then with slots as they are decoded."""
        try:
            stream = self._find_or_start(parse_request(arguments))
        except BadRequest as error:
            send({"stream": number, "error": str(error)}, None)
            return
        if stream is None:
            send({"stream": number, "end": True}, None)
            return
        self._open[number] = stream
        with self._lock:
            gone, self._gone = self._gone, []
        head = {
            "stream": number,
            "buffer": stream.buffer.number,
            "bytes": stream.buffer.size,
            "shape": stream.plan.shape,
            "slot_count": stream.plan.slots,
            "streaming": stream.plan.streaming,
            "drop": gone,
        }
        send(head, stream.buffer)

        def pass_on(slots: list[int]) -> None:
            if slots:
                send({"stream": number, "slots": slots}, None)
            elif stream.error:
                send({"stream": number, "error": "the clip cannot be decoded"}, None)
            else:
                send({"stream": number, "end": True}, None)

        stream.listen(pass_on)

    def free(self, slots: Sequence[tuple[int, int]], left: Sequence[int]) -> None:
        """Take back slots, as (request, slot), and forget requests whose iterators the model has dropped."""
        for number, slot in slots:
            stream = self._open.get(number)
            if stream is not None and 0 <= slot < stream.plan.slots:
                stream.free(slot)
        for number in left:
            stream = self._open.get(number)
            if stream is not None:
                stream.leave()

    def sound(self, asked: object) -> Sound | None:
        """Return the current clip's sound at the rate that is asked for, samples a second.

        Raises BadRequest when the rate is not a whole number that makes sense.
        """
        rate = parse_sound(asked)
        if rate not in self._sounds:
            if len(self._sounds) == MOST_RATES:
                raise BadRequest(
                    f"audio: {rate} would be rate {MOST_RATES + 1} of this clip, expected at most {MOST_RATES}"
                )
            clip, facts = self._current()
            if clip.alteration is None:
                self._sounds[rate] = read_sound(clip.path, rate, facts.duration_s)
            else:
                self._sounds[rate] = clip.alteration.sound(rate)
        return self._sounds[rate]

    def end(self) -> ClipEnd:
        """Finish the current clip; memory that the model still maps stays untouched, the rest is reused."""
        with self._lock:
            streams = [*self._streams.values(), *self._extra]
            self._streams, self._extra = {}, []
        self._sounds.clear()
        _stop(streams)
        for stream in streams:
            with self._lock:
                self._retire(stream, reusable=stream.outstanding == 0)
        end = ClipEnd(self._gone, sorted(self._faults))
        self._gone, self._faults = [], set()
        self._open.clear()
        return end

    def close(self) -> None:
        """Stop all decoders."""
        with self._lock:
            streams = [*self._streams.values(), *self._extra]
        _stop(streams)
        self._decoders.shutdown()

    def _current(self) -> tuple[ClipSource, ClipFacts]:
        if self._clip is None or self._facts is None:
            raise RuntimeError("no clip has begun")
        return self._clip, self._facts

    def _find_or_start(self, request: FrameRequest) -> FrameStream | None:
        clip, facts = self._current()
        with self._lock:
            stream = self._streams.get(request)
            if stream is not None and stream.available:
                return stream
            plan = plan_stream(request, facts, clip.alteration)
            if not len(plan.wanted):
                return None
            self._reclaim(plan.bytes)
            self._refuse_too_much(plan)
            # Many readings share the cores: each thread of a decoder takes memory, too.
            threads = max(1, self._alone // (1 + self._running))
            new = FrameStream(clip, plan, self._pool.take(plan.bytes))
            self._running += 1
            new.start(self._decoders, threads, self._finished)
            if request not in self._streams:
                self._streams[request] = new
            else:  # a second reading of a stream, or two readings at once
                self._extra.append(new)
            return new

    def _refuse_too_much(self, plan: StreamPlan) -> None:
        """Keep a model from exhausting the machine with readings that it begins and never ends."""
        own = [*self._streams.values(), *self._extra]
        busy = sum(not stream.idle for stream in own)
        in_use = sum(stream.plan.bytes for stream in own if not stream.idle) >> 20
        streamed = sum(stream.plan.streaming and not (stream.finished or stream.cancelled) for stream in own)
        if plan.streaming and streamed >= OPEN_STREAMS:
            raise BadRequest(f"frames: {streamed} long readings are under way, at most {OPEN_STREAMS}; read to the end")
        if busy >= OPEN_READINGS or in_use + (plan.bytes >> 20) > OPEN_BYTES >> 20:
            limit = f"at most {OPEN_READINGS} and {OPEN_BYTES >> 20} MB"
            raise BadRequest(
                f"frames: {busy} readings of {in_use} MB are under way, {limit}; read to the end or close them"
            )

    def _reclaim(self, needed: int) -> None:
        """Take back memory of the current clip: first abandoned streams, then the least recently read frames."""
        many = len(self._streams) + len(self._extra) - KEPT_READINGS
        for key, stream in [*self._streams.items(), *((None, extra) for extra in self._extra)]:
            crowded = self._pool.bytes_in_use + needed > KEPT_BYTES or many > 0
            if stream.idle and (stream.plan.streaming or crowded):
                self._retire(stream, reusable=True)
                many -= 1
                if key is None:
                    self._extra.remove(stream)
                else:
                    del self._streams[key]

    def _retire(self, stream: FrameStream, *, reusable: bool) -> None:
        """Release a stream's memory and note the faults of its file."""
        self._gone += self._pool.give_back(stream.buffer, reusable=reusable)
        self._open = {number: other for number, other in self._open.items() if other is not stream}
        if stream.error:
            self._faults.add(str(stream.error))

    def _finished(self) -> None:
        with self._lock:
            self._running -= 1


def _threads(count: int) -> ThreadPoolExecutor:
    """Return a pool whose threads are all running; by default they would start only when needed.

    Raises RuntimeError where there are too few; those that wait for the others would keep the program from ending.
    """
    pool, together = ThreadPoolExecutor(count), Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(together.wait)
    except RuntimeError:
        together.abort()
        raise
    together.wait()
    return pool


def _stop(streams: Sequence[FrameStream]) -> None:
    """Stop decoding: signal all streams before waiting for the first."""
    for stream in streams:
        stream.leave()
        stream.cancel()
    for stream in streams:
        stream.wait()
