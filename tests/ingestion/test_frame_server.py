"""Frames served without a model process: memory stays bounded."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.media import frame_stream
from ingest.media.alteration import ClipSource
from ingest.media.buffers import KEPT_FREE, BufferPool, FrameBuffer
from ingest.media.frame_server import (
    KEPT_BYTES,
    KEPT_READINGS,
    MOST_RATES,
    OPEN_BYTES,
    OPEN_READINGS,
    OPEN_STREAMS,
    FrameServer,
)
from ingest.media.frame_stream import RING_BYTES
from ingest.media.video import FrameReader
from ingest.requests import BadRequest
from tests.ingestion.clips import read_number

LARGE = [1600, 1200]  # 5.8 MB a frame


class Reader:
    """Reads as the model process does: takes slots, looks at them, gives them back."""

    def __init__(self, server: FrameServer) -> None:
        self.server = server
        self.buffers: dict[int, FrameBuffer] = {}
        self.messages: list[dict[str, Any]] = []
        self.arrived = threading.Condition()
        self.next = 0

    def send(self, body: dict[str, Any], buffer: FrameBuffer | None) -> None:
        with self.arrived:
            if buffer is not None:
                self.buffers[buffer.number] = buffer
            self.messages.append(body)
            self.arrived.notify_all()

    def take(self, number: int) -> dict[str, Any]:
        while True:
            with self.arrived:
                assert self.arrived.wait_for(lambda: self.messages, timeout=20)
                message = self.messages.pop(0)
            if message["stream"] == number:
                return message
            # It came after that reading had been left.
            self.server.free([(message["stream"], slot) for slot in message.get("slots", ())], [])

    def numbers(self, request: dict[str, Any], *, keep: bool = False, stop_after: int = 10**6) -> list[int]:
        number = self.next
        self.next += 1
        self.server.open(number, request, self.send)
        head = self.take(number)
        if "buffer" not in head:
            return []
        buffer = self.buffers[head["buffer"]]
        found: list[int] = []
        while len(found) < stop_after and "slots" in (event := self.take(number)):
            for slot in event["slots"]:
                found.append(read_number(buffer.slot(slot, tuple(head["shape"]))))
                if not keep:
                    self.server.free([(number, slot)], [])
        self.server.free([], [number])
        return found


@pytest.fixture
def clips(numbered_clip: Path) -> list[ClipSource]:
    return [ClipSource(f"c{n}", numbered_clip, "") for n in range(8)]


@pytest.fixture
def server() -> Iterator[FrameServer]:
    server = FrameServer()
    yield server
    server.close()


def bytes_in_use(server: FrameServer) -> int:
    return server._pool.bytes_in_use


def test_single_frames_do_not_pile_up(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    reader = Reader(server)
    for number in range(50):
        assert reader.numbers({"time_s": number / 25 + 0.01, "size": LARGE}) == [number]
        assert bytes_in_use(server) <= KEPT_BYTES + 6_000_000


def test_streams_that_are_left_do_not_pile_up(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    reader = Reader(server)
    for _ in range(12):
        assert reader.numbers({"size": LARGE}, stop_after=1)[0] == 0
    assert bytes_in_use(server) <= 4 * RING_BYTES


def test_a_streamed_request_can_be_read_again(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    reader = Reader(server)
    for _ in range(3):
        assert reader.numbers({"size": LARGE}) == list(range(50))


def test_memory_that_the_model_still_sees_is_never_used_again(server: FrameServer, clips: list[ClipSource]) -> None:
    reader = Reader(server)
    server.begin(clips[0])
    reader.numbers({"count": 5}, keep=True)
    (kept,) = reader.buffers
    assert server.end().gone == [kept]
    server.begin(clips[1])
    reader.numbers({"count": 5})
    assert server.end().gone == []
    assert len(reader.buffers) == 2


def test_a_fresh_model_gets_nothing_of_the_one_before(server: FrameServer, clips: list[ClipSource]) -> None:
    reader = Reader(server)
    for clip in clips[:2]:
        server.begin(clip)
        reader.numbers({"count": 5})
        server.end()
    before = set(reader.buffers)
    server.forget()
    server.begin(clips[2])
    reader.numbers({"count": 4})
    reader.numbers({"count": 5})
    assert len(reader.buffers.keys() - before) == 2


def test_slots_that_do_not_exist_are_ignored(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    reader = Reader(server)
    server.free([(0, 0), (99, 3), (0, -1), (0, 10**9)], [5])
    assert reader.numbers({"count": 2}) == [12, 37]


def test_blocks_are_used_again_and_large_ones_not_hoarded() -> None:
    pool = BufferPool()
    first = pool.take(1000)
    assert pool.give_back(first, reusable=True) == []
    assert pool.take(1000) is first
    assert pool.bytes_in_use == 1000
    assert pool.give_back(first, reusable=False) == [first.number]
    blocks = [pool.take(30 << 20) for _ in range(4)]
    gone = [number for block in blocks for number in pool.give_back(block, reusable=True)]
    assert len(gone) == 3
    assert pool.bytes_in_use == 0


@pytest.mark.slow
def test_small_readings_do_not_pile_up(server: FrameServer, clips: list[ClipSource]) -> None:
    """Each has a file descriptor, of which a process may have a thousand."""
    server.begin(clips[0])
    reader = Reader(server)
    before = open_files()
    for number in range(300):
        reader.numbers({"time_s": 1 + number / 1000, "size": [8, 2 + number]})
        reader.buffers.clear()
    assert open_files() <= before + 2 * (KEPT_READINGS + KEPT_FREE) + 8  # a block has one, and its mapping another


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_only_what_was_shown_can_be_given_back(server: FrameServer, clips: list[ClipSource]) -> None:
    """A model that gives back what it does not have would make a queue grow, or have its frames overwritten."""
    server.begin(clips[0])
    reader = Reader(server)
    reader.numbers({"size": LARGE}, stop_after=1, keep=True)
    (stream,) = server._streams.values()
    assert stream.plan.streaming
    server.free([(0, slot) for slot in range(stream.plan.slots)] * 100, [])
    assert stream.outstanding == 0
    assert len(set(stream._free)) == len(stream._free)


def test_the_sound_of_one_clip_is_kept_at_few_rates(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    for rate in range(8_000, 8_000 + MOST_RATES):
        server.sound(rate)
        server.sound(8_000)
    with pytest.raises(BadRequest, match="at most 4"):
        server.sound(16_000)
    server.end()
    server.begin(clips[1])
    server.sound(16_000)


def test_slots_are_views_of_one_block() -> None:
    buffer = FrameBuffer(1, 2 * 4 * 4 * 3)
    buffer.slot(1, (4, 4, 3))[:] = 7
    assert np.asarray(buffer.slot(0, (4, 4, 3))).max() == 0
    assert buffer.slot(1, (4, 4, 3)).min() == 7
    buffer.close()


def test_readings_that_are_begun_and_never_ended_are_refused(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    answers: list[dict[str, Any]] = []
    for number in range(200):
        server.open(number, {"size": [LARGE[0], LARGE[1] - number]}, lambda body, _: answers.append(body))
    refused = [body for body in answers if "under way" in str(body.get("error"))]
    assert len(refused) >= 200 - OPEN_READINGS
    assert bytes_in_use(server) <= OPEN_BYTES
    server.free([], list(range(200)))
    started = time.monotonic()
    server.end()
    assert time.monotonic() - started < 20
    # The next clip is served as if nothing had been.
    server.begin(clips[1])
    assert Reader(server).numbers({"count": 2, "size": [40, 30]}) == [12, 37]


def test_readings_that_nobody_waits_for_any_more_are_not_begun(
    server: FrameServer, clips: list[ClipSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else closing 60 open readings takes a second."""
    begun, going = [], threading.Event()

    class Opened(FrameReader):
        def __init__(self, path: Path, *, threads: int) -> None:
            begun.append(path)
            going.wait(20)
            super().__init__(path, threads=threads)

    monkeypatch.setattr(frame_stream, "FrameReader", Opened)
    server.begin(clips[0])
    for number in range(60):
        server.open(number, {"count": 1, "size": [8, 8 + number]}, lambda *_: None)
    threading.Timer(0.2, going.set).start()
    server.end()
    assert 0 < len(begun) <= server._decoders._max_workers < 60


def test_long_readings_leave_a_decoder_for_others(server: FrameServer, clips: list[ClipSource]) -> None:
    server.begin(clips[0])
    threads = threading.active_count()
    answers: list[dict[str, Any]] = []
    for number in range(OPEN_STREAMS + 3):
        server.open(number, {"size": [LARGE[0], LARGE[1] - number]}, lambda body, _: answers.append(body))
    refused = [body["stream"] for body in answers if "long readings" in str(body.get("error"))]
    assert refused == [OPEN_STREAMS, OPEN_STREAMS + 1, OPEN_STREAMS + 2]
    assert Reader(server).numbers({"count": 2, "size": [40, 30]}) == [12, 37]
    assert threading.active_count() == threads  # all were there before
