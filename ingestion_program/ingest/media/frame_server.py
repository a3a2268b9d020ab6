"""Serve frames and sound to the model: decode its requests, ahead of time where they can be predicted.

A model asks for the same frames in clip after clip. Requests made for the last two clips are decoded for the next ones
while the model is still busy: one single-threaded decoder per core is the fastest arrangement. Larger requests are
streamed, with all cores on one decoder.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, RLock
from typing import Any

import cv2

from ingest.media.alteration import ClipSource
from ingest.media.buffers import BufferPool, FrameBuffer
from ingest.media.frame_stream import FrameStream, StreamPlan, plan_stream
from ingest.media.sound import RATES, Sound, read_sound
from ingest.media.video import BadRequest, ClipFacts, FrameRequest, UnreadableClip, parse_request, read_facts

Send = Callable[[dict[str, Any], FrameBuffer | None], None]
CallResult = FrameRequest | int
"""A request of a model: frames, or sound at a rate."""

AHEAD_BYTES = 96 << 20
"""Above this much memory, nothing is decoded ahead and no finished frames of the current clip are kept."""
AHEAD_CLIPS = 3
"""How many clips ahead are decoded at most."""
OPEN_READINGS = 64
"""Most readings of one clip that may be under way at once."""
OPEN_STREAMS = 6
"""Most of these that may be streamed, so that their decoders wait for the model."""
MOST_RATES = 4
"""Most sampling rates of one clip: the sound at each rate is kept until the clip ends."""
KEPT_READINGS = 64
"""Most readings of one clip that are kept, however small; each takes a block of memory with a file descriptor."""
REMEMBERED = 64
"""Most requests of a clip that are used to predict those of the next clips."""
OPEN_BYTES = 768 << 20
"""Most memory that the readings of one clip may hold at once."""


@dataclass(frozen=True)
class ClipEnd:
    """What is reported when a clip is finished."""

    gone: list[int]
    """Numbers of buffers that the model process may drop."""
    faults: list[str]
    unreadable: bool


class FrameServer:
    """Serves frames and sound of one clip at a time, while those of the next clips are decoded."""

    def __init__(self) -> None:
        self._cores = os.cpu_count() or 1
        # OpenCV's own threads busy-wait for one another, and the cores are needed for decoding.
        cv2.setNumThreads(1)
        # FFmpeg's frame threads also decode ahead: with one per core, it would wait while frames are converted.
        self._alone = 2 * self._cores
        self._pool = BufferPool()
        self._lock = RLock()
        self._facts: dict[ClipSource, ClipFacts] = {}
        self._streams: dict[tuple[ClipSource, FrameRequest], FrameStream] = {}
        self._sounds: dict[tuple[ClipSource, int], Future[Sound | None]] = {}
        self._sound_decoder = _threads(1)
        self._pending: list[tuple[ClipSource, FrameRequest]] = []
        # All threads are started before the model, which could use up the machine's threads. Some decoders wait for
        # the model, which may wait for frames of another decoder, so there is always one more.
        self._decoders = _threads(max(self._cores, OPEN_STREAMS + 1) + 1)
        self._running = 0
        self._clip: ClipSource | None = None
        self._extra: list[FrameStream] = []
        self._gone: list[int] = []
        self._faults: set[str] = set()
        self._unreadable = False
        self._open: dict[int, FrameStream] = {}
        self._asked: list[CallResult] = []
        self._asked_before: list[CallResult] | None = None
        self._habit: list[CallResult] = []

    def forget(self) -> None:
        """Forget everything about an earlier model: its requests, frames decoded ahead, and memory."""
        with self._lock:
            self._habit, self._asked_before = [], None
            self._pending = []
            ahead, self._streams = list(self._streams.values()), {}
            self._sounds.clear()
        _stop(ahead)
        with self._lock:
            for stream in ahead:
                self._release(stream, reusable=True)
            self._pool.forget()

    def begin(self, clip: ClipSource, upcoming: Sequence[ClipSource]) -> ClipFacts:
        """Make `clip` the current one and start decoding for it and for the `upcoming` ones.

        Raises UnreadableClip when the clip cannot be decoded.
        """
        self._clip = clip
        self._asked = []
        facts = self._read_facts(clip)
        requests = [asked for asked in self._habit if isinstance(asked, FrameRequest)]
        coming = [clip, *upcoming[:AHEAD_CLIPS]]
        with self._lock:
            wanted = [(source, request) for source in coming for request in requests]
            self._pending = [pair for pair in wanted if pair not in self._streams]
            for source in coming[:2]:
                for rate in (asked for asked in self._habit if isinstance(asked, int)):
                    self._start_sound(source, rate)
        self._advance()
        return facts

    def open(self, number: int, body: object, send: Send) -> None:
        """Answer the model's request `number` with a header, then with slots as they are decoded."""
        clip = self._current()
        try:
            request = parse_request(body)
            stream = self._find_or_start(clip, request)
        except BadRequest as error:
            send({"stream": number, "error": str(error)}, None)
            return
        if len(self._asked) < REMEMBERED and request not in self._asked:
            self._asked.append(request)
        if stream is None:
            send({"stream": number, "end": True}, None)
            return
        self._open[number] = stream
        with self._lock:
            shared = stream.shared = stream.shared or self._pool.take(stream.plan.bytes, shared=True)
            gone, self._gone = self._gone, []
        head = {
            "stream": number,
            "buffer": shared.number,
            "bytes": shared.size,
            "shape": stream.plan.shape,
            "slot_count": stream.plan.slots,
            "streaming": stream.plan.streaming,
            "drop": gone,
        }
        send(head, shared)

        def pass_on(slots: list[int]) -> None:
            if not slots:  # before the model is told: it may ask for more at once
                self._settle(stream)
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

    def sound(self, rate: object) -> Sound | None:
        """Return the current clip's sound at `rate` samples a second.

        Raises BadRequest when the rate is not a whole number that makes sense.
        """
        if not isinstance(rate, int) or not RATES[0] <= rate <= RATES[1]:
            raise BadRequest(f"audio: rate is {rate!r:.60}, expected a whole number from {RATES[0]} to {RATES[1]}")
        heard = [asked for asked in self._asked if isinstance(asked, int)]
        if rate not in heard:
            if len(heard) == MOST_RATES:
                raise BadRequest(
                    f"audio: {rate} would be rate {MOST_RATES + 1} of this clip, expected at most {MOST_RATES}"
                )
            self._asked.append(rate)
        return self._start_sound(self._current(), rate).result()

    def end(self, *, model_lives: bool) -> ClipEnd:
        """Finish the current clip; memory that the model still maps stays untouched, the rest is reused."""
        clip = self._current()
        with self._lock:
            self._pending = []
            keys = [key for key in self._streams if key[0] == clip]
            streams = [self._streams.pop(key) for key in keys] + self._extra
            self._extra = []
            for sound in [key for key in self._sounds if key[0] == clip]:
                del self._sounds[sound]
            self._facts.pop(clip, None)
        _stop(streams)
        for stream in streams:
            with self._lock:
                self._retire(stream, reusable=stream.outstanding == 0)
        end = ClipEnd(self._gone, sorted(self._faults), self._unreadable)
        self._gone, self._faults, self._unreadable = [], set(), False
        self._open.clear()
        if model_lives:
            self._habit = [asked for asked in self._asked if self._is_habit(asked)]
            self._asked_before = self._asked
        return end

    def close(self) -> None:
        """Stop all decoders."""
        with self._lock:
            self._pending = []
            streams = list(self._streams.values()) + self._extra
        _stop(streams)
        self._decoders.shutdown()
        self._sound_decoder.shutdown()

    def _is_habit(self, asked: CallResult) -> bool:
        if self._asked_before is not None:
            return asked in self._asked_before
        # After one clip, a request for a single moment is more likely specific to it than a pattern.
        return isinstance(asked, int) or asked.time_s is None

    def _current(self) -> ClipSource:
        if self._clip is None:
            raise RuntimeError("no clip has begun")
        return self._clip

    def _read_facts(self, clip: ClipSource) -> ClipFacts:
        if clip.alteration is not None:
            return clip.alteration.facts
        with self._lock:
            if clip not in self._facts:
                self._facts[clip] = read_facts(clip.path)
            return self._facts[clip]

    def _start_sound(self, clip: ClipSource, rate: int) -> "Future[Sound | None]":
        key = (clip, rate)
        if key not in self._sounds:

            def decode() -> Sound | None:
                if clip.alteration is not None:
                    return clip.alteration.sound(rate)
                return read_sound(clip.path, rate, self._read_facts(clip).duration_s)

            self._sounds[key] = self._sound_decoder.submit(decode)
        return self._sounds[key]

    def _find_or_start(self, clip: ClipSource, request: FrameRequest) -> FrameStream | None:
        key = (clip, request)
        with self._lock:
            self._pending = [pair for pair in self._pending if pair != key]
            stream = self._streams.get(key)
            if stream is not None and stream.available:
                return stream
            plan = plan_stream(request, self._read_facts(clip), clip.alteration)
            if not len(plan.wanted):
                return None
            self._reclaim(plan.bytes)
            self._refuse_too_much(clip, plan)
            stream = self._streams.get(key)
            # Many readings share the cores: each thread of a decoder takes memory, too.
            new = self._start(clip, plan, threads=max(1, self._alone // (1 + self._running)))
            if stream is None:
                self._streams[key] = new
            else:  # a second reading of a stream, or two readings at once
                self._extra.append(new)
            return new

    def _refuse_too_much(self, clip: ClipSource, plan: StreamPlan) -> None:
        """Keep a model from exhausting the machine with readings that it begins and never ends."""
        own = [stream for key, stream in self._streams.items() if key[0] == clip] + self._extra
        busy = sum(not stream.idle for stream in own)
        held = sum(stream.plan.bytes for stream in own if not stream.idle) >> 20
        streamed = sum(stream.plan.streaming and not (stream.finished or stream.cancelled) for stream in own)
        if plan.streaming and streamed >= OPEN_STREAMS:
            raise BadRequest(f"frames: {streamed} long readings are under way, at most {OPEN_STREAMS}; read to the end")
        if busy >= OPEN_READINGS or held + (plan.bytes >> 20) > OPEN_BYTES >> 20:
            limit = f"at most {OPEN_READINGS} and {OPEN_BYTES >> 20} MB"
            raise BadRequest(
                f"frames: {busy} readings of {held} MB are under way, {limit}; read to the end or close them"
            )

    def _reclaim(self, needed: int) -> None:
        """Take back memory of the current clip: first abandoned streams, then the least recently read frames."""
        many = len(self._streams) + len(self._extra) - KEPT_READINGS
        for key, stream in [*self._streams.items(), *((None, extra) for extra in self._extra)]:
            crowded = self._pool.bytes_in_use + needed > AHEAD_BYTES or many > 0
            if stream.idle and (stream.plan.streaming or crowded):
                self._retire(stream, reusable=True)
                many -= 1
                if key is None:
                    self._extra.remove(stream)
                else:
                    del self._streams[key]

    def _retire(self, stream: FrameStream, *, reusable: bool) -> None:
        """Release a stream's memory and note the faults of its file."""
        self._release(stream, reusable=reusable)
        self._open = {number: other for number, other in self._open.items() if other is not stream}
        if stream.error:
            self._unreadable = True
            self._faults.add(str(stream.error))
        elif stream.last_good is not None:
            self._faults.add(f"only {stream.last_good + 1} frames can be decoded")

    def _release(self, stream: FrameStream, *, reusable: bool) -> None:
        if stream.shared is not None:
            self._gone += self._pool.give_back(stream.shared, reusable=reusable)
        if stream.hidden is not None:
            self._gone += self._pool.give_back(stream.hidden, reusable=True)
            stream.hidden = None

    def _start(self, clip: ClipSource, plan: StreamPlan, *, threads: int) -> FrameStream:
        # Frames decoded ahead must not be visible to the model yet.
        stream = FrameStream(clip, plan, self._pool.take(plan.bytes, shared=clip == self._clip))
        self._running += 1
        stream.start(self._decoders, threads, self._finished)
        return stream

    def _settle(self, stream: FrameStream) -> None:
        with self._lock:
            hidden = stream.settle()
            if hidden is not None:
                self._gone += self._pool.give_back(hidden, reusable=True)

    def _finished(self) -> None:
        with self._lock:
            self._running -= 1
        self._advance()

    def _advance(self) -> None:
        """Start what is pending, as far as cores and memory allow, in the order in which it will be needed."""
        with self._lock:
            while self._pending and self._running < self._cores:
                clip, request = self._pending[0]
                try:
                    plan = plan_stream(request, self._read_facts(clip), clip.alteration)
                except UnreadableClip:  # reported when it is that clip's turn
                    self._pending.pop(0)
                    continue
                if not len(plan.wanted):
                    self._pending.pop(0)
                    continue
                if (plan.streaming and self._running) or self._pool.bytes_in_use + plan.bytes > AHEAD_BYTES:
                    return
                self._pending.pop(0)
                threads = self._alone if plan.streaming else 1
                self._streams[clip, request] = self._start(clip, plan, threads=threads)


def _threads(count: int) -> ThreadPoolExecutor:
    """Return a pool whose threads are all running; by default they would start only when needed."""
    pool, together = ThreadPoolExecutor(count), Barrier(count + 1)
    for _ in range(count):
        pool.submit(together.wait)
    together.wait()
    return pool


def _stop(streams: Sequence[FrameStream]) -> None:
    """Stop decoding: signal all streams before waiting for the first."""
    for stream in streams:
        stream.leave()
        stream.cancel()
    for stream in streams:
        stream.wait()
