"""Frames that the calls on one clip share."""

import gc
import math
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ingest.media import cache
from ingest.media.alteration import GRAIN, Alteration, ClipSource, Jitter, Levels
from ingest.media.buffers import FrameBuffer
from ingest.media.cache import ClipCache, FinishedReader, FrameMemory
from ingest.media.exchange import Exchange, Part
from ingest.media.frame_stream import FrameStream, plan_stream
from ingest.media.sound import Sound, read_sound
from ingest.media.video import Frame, FrameReader, UnreadableClip
from ingest.requests import FrameRequest
from tests import there
from tests.ingestion.clips import Format, write_clip

REQUEST = FrameRequest(count=10)
LEFT = Part("left", ((0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0)), None)
SHAPE = 90, 160, 3
BYTES = math.prod(SHAPE)


def always() -> bool:
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reels")
    for name, grey in (("clip", None), ("second", 240), ("copy", 90)):
        write_clip(made / f"{name}.mp4", 50, Format(width=160, height=90, grey=grey))
    return made


@pytest.fixture
def calls(folder: Path) -> dict[str, Alteration]:
    """Return one call of each kind that shows other frames or files."""
    exchange = Exchange(folder / "second.mp4", "", (LEFT,))
    jitter, levels = Jitter(1.01, 1.0, 1, 0, 1, GRAIN), Levels(0.9, 1.1, 1.2)
    plain = Alteration(
        ClipCache(ClipSource("c", folder / "clip.mp4", "")), jitter, seed=1, exchange=exchange, levels=levels
    )
    return {
        "plain": plain,
        "exchange": replace(plain, exchanged=("left",)),
        "lighting": replace(plain, levels=replace(levels, power=1.5)),
        "framing": replace(plain, levels=replace(levels, zoom=1.4)),
        "copy": replace(plain, copy=folder / "copy.mp4"),
    }


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return a list to which each decoded frame is added as (name of the file, index)."""
    read: list[tuple[str, int]] = []

    class Noted(FrameReader):
        def __init__(self, path: Path, *, threads: int) -> None:
            super().__init__(path, threads=threads)
            self._name = path.stem

        def decode(self, index: int) -> Frame:
            read.append((self._name, index))
            return super().decode(index)

    for module in ("cache", "transform", "frame_stream"):
        monkeypatch.setattr(f"ingest.media.{module}.FrameReader", Noted)
    return read


def frames(call: Alteration, request: FrameRequest = REQUEST) -> npt.NDArray[np.uint8]:
    """Return the frames that a model gets, or the last of them if they are streamed."""
    plan = plan_stream(request, call.facts, call)
    buffer = FrameBuffer(1, plan.bytes)
    stream = FrameStream(ClipSource("c", call.files[0], "", alteration=call), plan, buffer)
    taken: list[int] = []

    def take(slots: list[int]) -> None:
        taken.extend(slots)
        for slot in slots:
            stream.free(slot)

    with ThreadPoolExecutor(1) as decoders:
        stream.listen(take)
        stream.start(decoders, 1, lambda: None)
        stream.wait()
    stream.leave()
    assert stream.error is None
    assert len(taken) == len(plan.wanted)
    return np.array([buffer.slot(slot, plan.shape) for slot in range(plan.slots)])


@pytest.mark.parametrize(
    "shared", [["plain", "exchange", "lighting", "framing", "copy"], ["copy", "exchange"], ["copy"]]
)
@pytest.mark.parametrize("second", [True, False])
def test_shared_frames_are_those_that_each_call_would_decode_alone(
    calls: dict[str, Alteration], shared: list[str], second: bool
) -> None:
    chosen = {name: calls[name] if second else replace(calls[name], exchange=None) for name in shared}
    alone = {name: frames(call) for name, call in chosen.items()}
    calls["plain"].cache.share(list(chosen.values()))
    for name, call in [*chosen.items(), *chosen.items()]:
        assert np.array_equal(frames(call), alone[name]), name
    assert len({shown.tobytes() for shown in alone.values()}) == len(chosen) - (not second and "plain" in chosen)


@pytest.mark.parametrize("first", ["plain", "copy", "framing"])
def test_every_file_is_decoded_once_before_the_first_frame_whichever_call_comes_first(
    calls: dict[str, Alteration], decoded: list[tuple[str, int]], first: str
) -> None:
    calls["plain"].cache.share(list(calls.values()))
    frames(calls[first])
    assert {name for name, _ in decoded} == {"clip", "second", "copy"}
    assert len(decoded) == len(set(decoded))
    before = len(decoded)
    for call in calls.values():
        frames(call)
    assert len(decoded) == before


@pytest.mark.parametrize(("kind", "files"), [("copy", {"copy", "second"}), ("exchange", {"clip", "second"})])
def test_a_call_that_is_asked_alone_decodes_two_files_whatever_it_shows(
    calls: dict[str, Alteration], decoded: list[tuple[str, int]], kind: str, files: set[str]
) -> None:
    calls["plain"].cache.share([calls[kind]])
    frames(calls[kind])
    assert {name for name, _ in decoded} == files


def test_single_frames_and_streams_are_decoded_by_each_call(
    calls: dict[str, Alteration], decoded: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = calls["plain"]
    plain.cache.share(list(calls.values()))
    frames(plain, FrameRequest(time_s=1.0))
    assert {name for name, _ in decoded} == {"clip", "second"}
    monkeypatch.setattr("ingest.media.frame_stream.WHOLE_BYTES", BYTES)
    monkeypatch.setattr("ingest.media.frame_stream.RING_BYTES", BYTES)
    frames(plain, FrameRequest(count=9))
    assert {name for name, _ in decoded} == {"clip", "second"}


def test_a_call_that_differs_by_its_sound_alone_shows_the_same_frames(calls: dict[str, Alteration]) -> None:
    plain = calls["plain"]
    louder = replace(plain, levels=replace(there(plain.levels), gain=1.5))
    alone = frames(louder)
    plain.cache.share([plain, louder])
    assert len(there(plain.cache.finished(np.arange(10), SHAPE, always)).plain) == 1
    assert np.array_equal(frames(louder), alone)
    assert not np.array_equal(there(louder.sound(8_000)), there(plain.sound(8_000)))


def test_what_exceeds_the_memory_is_kept_for_no_call(
    calls: dict[str, Alteration], monkeypatch: pytest.MonkeyPatch
) -> None:
    material = calls["plain"].cache
    material.share([calls["plain"], calls["copy"]])
    monkeypatch.setattr(cache, "KEPT_BYTES", 3 * 10 * BYTES)
    fits, more = np.arange(0, 40, 4), np.arange(1, 41, 4)
    for wanted, kept in ((fits, True), (more, False), (fits, True)):
        assert (material.finished(wanted, SHAPE, always) is not None) == kept


def test_decoding_stops_when_no_call_wants_the_frames_and_starts_again_later(
    calls: dict[str, Alteration], decoded: list[tuple[str, int]]
) -> None:
    plain, wanted = calls["plain"], np.arange(10)
    plain.cache.share([plain])
    left = iter([True] * 4)
    assert plain.cache.finished(wanted, SHAPE, lambda: next(left, False)) is None
    assert len(decoded) == 2 * 4
    shown = np.zeros(SHAPE, np.uint8)
    FinishedReader(plain, there(plain.cache.finished(wanted, SHAPE, always))).read_into(7, shown)
    assert shown.any()


def test_a_file_that_ends_early_or_cannot_be_read_costs_only_calls_that_show_it(
    tmp_path: Path, calls: dict[str, Alteration]
) -> None:
    cut, broken = tmp_path / "cut.mp4", tmp_path / "broken.mp4"
    write_clip(cut, 20, Format(width=160, height=90))
    broken.write_bytes(b"no video")
    plain = calls["plain"]
    shortened, unreadable = replace(plain, copy=cut), replace(plain, copy=broken)
    plain.cache.share([plain, shortened, unreadable])
    finished, shown = there(plain.cache.finished(np.array([5, 40]), SHAPE, always)), np.zeros(SHAPE, np.uint8)
    FinishedReader(plain, finished).read_into(40, shown)
    assert shown.any()
    for call in (shortened, unreadable):
        with pytest.raises(UnreadableClip):
            FinishedReader(call, finished)


@pytest.mark.parametrize("first", ["plain", "copy", "lighting"])
def test_every_sound_is_decoded_once_before_the_first_is_heard_whichever_call_comes_first(
    calls: dict[str, Alteration], monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    # What is kept for one of them alone is there sooner, and a model has a clock.
    alone = {name: call.sound(8_000) for name, call in calls.items()}
    decoded: list[tuple[str, int]] = []

    def read(path: Path, rate: int, duration_s: float) -> Sound | None:
        decoded.append((path.stem, rate))
        return read_sound(path, rate, duration_s)

    monkeypatch.setattr(cache, "read_sound", read)
    calls["plain"].cache.share(list(calls.values()))
    monkeypatch.setattr(cache, "KEPT_SOUND_BYTES", 4 * 8_000 * 2 * 2)  # two seconds of two files
    calls[first].sound(8_000)
    assert decoded == [("clip", 8_000), ("copy", 8_000)]
    for name, call in calls.items():
        assert np.array_equal(there(call.sound(8_000)), there(alone[name])), name
    assert len(decoded) == 2
    # Another rate exceeds the memory, so each call decodes its own.
    for _ in range(4):
        calls[first].sound(4_000)
    assert len(decoded) == 6


def test_a_second_drawing_that_is_the_first_changes_nothing(calls: dict[str, Alteration], folder: Path) -> None:
    same = replace(calls["exchange"], exchange=Exchange(folder / "clip.mp4", "", (LEFT,)))
    alone = frames(same)
    same.cache.share([same])
    assert np.array_equal(frames(same), alone)


def test_memory_serves_one_clip_after_the_other_and_never_two_at_once(calls: dict[str, Alteration]) -> None:
    plain = calls["plain"]
    alone, memory = frames(plain), FrameMemory()
    shown = []
    for _ in range(3):
        following = ClipCache(ClipSource("c", plain.cache.path, ""), memory)
        shown.append(replace(plain, cache=following))
        following.share([shown[-1]])
        assert np.array_equal(frames(shown[-1]), alone)
    first, second, third = (call.cache._blocks[0] for call in shown)
    assert len({first.ctypes.data, second.ctypes.data, third.ctypes.data}) == 3
    shown[0].cache.release()
    assert memory.take(len(first)) is first
    shown[1].cache.release()
    assert memory.take(len(second) + 1) is not second  # too small, so it is dropped
    assert memory.take(1) is not second
    assert np.array_equal(frames(shown[0]), alone)  # decoded again


@pytest.mark.parametrize(
    "read",
    [
        frames,
        lambda call: frames(call, FrameRequest(time_s=1.0)),
        lambda call: call.sound(8_000),
        lambda call: call.cache.grain(GRAIN, 1, 90, 160),
    ],
    ids=["frames", "one frame", "sound", "grain"],
)
def test_what_is_kept_is_free_with_the_last_call(
    calls: dict[str, Alteration], read: Callable[[Alteration], object]
) -> None:
    gc.disable()
    try:
        plain = calls.pop("plain")
        plain.cache.share([plain, *calls.values()])
        read(plain)
        material = weakref.ref(plain.cache)
        calls.clear()
        del plain
        assert material() is None
    finally:
        gc.enable()
