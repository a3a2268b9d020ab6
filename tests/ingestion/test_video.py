from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.media.sound import read_sound
from ingest.media.video import (
    ClipFacts,
    FrameReader,
    UnreadableClip,
    can_decode,
    frame_shape,
    read_facts,
    scale_to_rgb,
    wanted_frames,
)
from ingest.requests import BadRequest, FrameRequest, parse_request
from tests.ingestion.clips import Format, numbered_frame, read_number, write_clip


def read(path: Path, request: FrameRequest) -> list[np.ndarray]:
    """Read what a request means, frame by frame."""
    facts = read_facts(path)
    reader = FrameReader(path, threads=1)
    frames = []
    for index in wanted_frames(request, facts):
        frame = np.empty(frame_shape(request, facts), np.uint8)
        reader.read_into(int(index), frame)
        frames.append(frame)
    reader.close()
    return frames


def numbers(path: Path, **request: object) -> list[int]:
    return [read_number(frame) for frame in read(path, FrameRequest(**request))]  # type: ignore[arg-type]


def test_facts_of_a_constant_rate(numbered_clip: Path) -> None:
    facts = read_facts(numbered_clip)
    assert len(facts.times) == 50
    assert facts.duration_s == pytest.approx(2.0)
    assert facts.fps == pytest.approx(25.0)
    assert (facts.width, facts.height) == (96, 64)


@pytest.mark.parametrize(
    ("request_fields", "expected"),
    [
        ({}, list(range(50))),
        ({"count": 1}, [25]),  # the middle of 2 s: 1.0 s is the start of frame 25
        ({"count": 4}, [6, 18, 31, 43]),  # 0.25, 0.75, 1.25, 1.75 s
        ({"count": 2, "start_s": 1.0}, [31, 43]),
        ({"count": 3, "end_s": 0.12}, [0, 1, 2]),  # 0.02, 0.06, 0.10 s
        ({"count": 4, "end_s": 0.04}, [0, 0, 0, 0]),  # more frames than there are: repeated
        ({"fps": 2.0}, [6, 18, 31, 43]),
        ({"start_s": 1.9}, [48, 49]),  # 1.90 s lies in frame 47, which has begun before
        ({"start_s": 0.08, "end_s": 0.2}, [2, 3, 4]),
        ({"start_s": 5.0}, []),
        ({"count": 3, "start_s": 2.5}, []),
        ({"time_s": 0.0}, [0]),
        ({"time_s": 0.04}, [1]),
        ({"time_s": 0.039}, [0]),
        ({"time_s": 99.0}, [49]),
        ({"time_s": -1.0}, [0]),
    ],
)
def test_which_frames_a_request_means(
    numbered_clip: Path, request_fields: dict[str, float], expected: list[int]
) -> None:
    assert numbers(numbered_clip, **request_fields) == expected


@given(
    times=st.lists(st.floats(0.001, 1.0), min_size=0, max_size=40),
    count=st.integers(1, 60),
    start=st.floats(0, 5),
    length=st.floats(0.001, 20),
)
def test_counted_frames_are_ascending_valid_and_as_many_as_asked(
    times: list[float], count: int, start: float, length: float
) -> None:
    stamps = np.concatenate([[0.0], np.cumsum(times)])
    facts = ClipFacts(float(stamps[-1]) + 0.04, 25.0, 64, 64, stamps, audible=True)
    wanted = wanted_frames(FrameRequest(count=count, start_s=start, end_s=start + length), facts)
    assert len(wanted) == (count if start < facts.duration_s else 0)
    assert (np.diff(wanted) >= 0).all()
    assert all(0 <= index < len(stamps) for index in wanted)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"count": 0}, "count"),
        ({"count": 1.5}, "count"),
        ({"count": 3, "fps": 2}, "not both"),
        ({"fps": 0}, "fps"),
        ({"fps": float("nan")}, "fps"),
        ({"start_s": "1"}, "start_s"),
        ({"count": 10**400}, "count"),
        ({"size": [10]}, "size"),
        ({"size": [0, 10]}, "size"),
        ({"size": [10, 10**6]}, "size"),
        ({"size": [True, 10]}, "size"),
        ({"count": True}, "count"),
        ({"count": 8.0}, "count"),
        ({"fps": True}, "fps"),
    ],
)
def test_bad_requests_are_refused_by_name(body: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        parse_request(body)


def test_pixels_are_rgb_and_scaled_as_documented(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = rng.integers(0, 256, (100, 160, 3), np.uint8)
    same = np.empty((100, 160, 3), np.uint8)
    scale_to_rgb(frame, same)
    assert (same == frame[:, :, ::-1]).all()
    small = np.empty((30, 40, 3), np.uint8)
    scale_to_rgb(frame, small)
    half = cv2.resize(frame, (80, 50), interpolation=cv2.INTER_AREA)
    assert (small == cv2.resize(half, (40, 30), interpolation=cv2.INTER_LINEAR)[:, :, ::-1]).all()


FORMATS = {
    "portrait": Format(width=72, height=128),
    "odd_size": Format(width=97, height=63, pixels="yuv444p"),
    "no_audio": Format(audio=None),
    "webm": Format(codec="libvpx", audio="libopus"),
    "hevc": Format(codec="libx265"),
    "mpeg4": Format(codec="mpeg4", audio="aac"),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats_that_organisers_have(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    suffix = ".webm" if name == "webm" else ".mp4"
    path = write_clip(tmp_path / f"clip{suffix}", 30, form)
    facts = read_facts(path)
    assert (facts.width, facts.height, len(facts.times)) == (form.width, form.height, 30)
    assert facts.duration_s == pytest.approx(1.2, abs=0.05)
    assert numbers(path) == list(range(30))
    assert numbers(path, count=3) == [5, 15, 25]
    sound = read_sound(path, 16_000, facts.duration_s)
    if form.audio is None:
        assert sound is None
    else:
        assert sound is not None
        assert len(sound) == round(facts.duration_s * 16_000)
        middle = sound[4000:12000]
        assert np.sqrt((middle**2).mean()) == pytest.approx(0.5 / np.sqrt(2), abs=0.02)
        spectrum = np.abs(np.fft.rfft(middle))
        assert np.argmax(spectrum) * 16_000 / len(middle) == pytest.approx(440, abs=3)


def test_times_count_from_the_first_frame(tmp_path: Path) -> None:
    facts = read_facts(write_clip(tmp_path / "clip.ts", 30, Format(audio=None)))  # its first time stamp is 1.4 s
    assert facts.times[[0, 1, -1]] == pytest.approx([0, 0.04, 1.16], abs=1e-3)


def test_variable_frame_rate_uses_the_time_stamps(tmp_path: Path) -> None:
    times = [0, 40, 80, 1080, 1120, 1160, 1200]  # one frame stands for a whole second
    path = write_clip(tmp_path / "variable.mp4", len(times), times_ms=times)
    facts = read_facts(path)
    assert facts.times * 1000 == pytest.approx(times, abs=2)
    assert numbers(path, time_s=0.7) == [2]
    assert numbers(path, count=5) == [2, 2, 2, 2, 3]  # 0.124, 0.372, 0.62, 0.868, 1.116 s; frame 4 begins at 1.12
    assert numbers(path) == list(range(7))


def test_variable_frame_rate_count(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "variable.mp4", 3, times_ms=[0, 900, 1000])
    assert numbers(path, count=2) == [0, 0]  # 0.275 s and 0.825 s of 1.1 s


def test_frames_beyond_the_end_of_a_file_cannot_be_decoded(tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "whole.mp4", 50, Format(audio=None, gop=5))
    data = bytearray(whole.read_bytes())
    start = data.index(b"mdat")
    end = data.index(b"moov") if data.index(b"moov") > start else len(data)
    data[start + (end - start) * 2 // 3 : end - 8] = bytes(end - 8 - (start + (end - start) * 2 // 3))
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(data)
    assert numbers(broken, time_s=0.5) == [12]
    with pytest.raises(UnreadableClip, match=r"frame \d+ cannot be decoded"):
        numbers(broken, count=10)
    assert can_decode(whole, ())
    assert not can_decode(whole, [broken])


@pytest.mark.parametrize("content", [b"", b"not a video", bytes(range(256)) * 40])
def test_files_that_are_no_video(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(content)
    with pytest.raises(UnreadableClip):
        read_facts(path)


def test_audio_only_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=48000)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 48000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(UnreadableClip):
        read_facts(path)


def test_numbers_survive_compression(tmp_path: Path) -> None:
    assert [read_number(numbered_frame(n, 96, 64)) for n in (0, 1, 513, 1023)] == [0, 1, 513, 1023]
