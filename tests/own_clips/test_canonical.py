"""Clips as people have them: every kind is read as a player shows and plays it, or named."""

import bisect
import io
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from bundle_tools.canonical import KINDS, canonical, differences
from bundle_tools.challenge.reading.video import describe
from bundle_tools.decoding import Unusable, count_frames, pictures
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, UnreadableClip, read_facts, wanted_frames
from ingest.requests import FrameRequest
from tests.own_clips.kinds import (
    BITS,
    BT709,
    BT2020,
    GREY,
    PATCHES,
    WHITE,
    Kind,
    cover_alone,
    with_more_pictures,
    write,
)

HEARD_RATE = 16_000
TURNED = Kind("turned right", shown=(0, 1, -1, 0))
TS = Kind("ts", "mpegts")
TURNS = {
    "turned left": (0, -1, 1, 0),
    "turned around": (-1, 0, 0, -1),
    "mirrored": (-1, 0, 0, 1),
    "upside down": (1, 0, 0, -1),
    "selfie": (0, 1, 1, 0),
    "selfie, turned around": (0, -1, -1, 0),
}
VARIABLE = (0, 40, 80, 400, 440, 1000, 1040, 1080, 1720, 1760, 2120, 2440)


def with_matrix(a: int, b: int, c: int, d: int) -> bytes:
    """Return a clip with a display matrix."""
    data = bytearray(write(Kind("plain")))
    struct.pack_into(">9i", data, data.index(b"tkhd") + 44, a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30)
    return bytes(data)


def cut_in_front(content: bytes) -> bytes:
    """Let the picture begin five frames later, and the sound as well, by their edit lists (8.6.6)."""
    data, at = bytearray(content), 0
    for unit in (12_800, 48_000):
        at = data.index(b"elst", at) + 12
        duration_ms, begins = struct.unpack_from(">Ii", data, at)
        struct.pack_into(">Ii", data, at, duration_ms - 200, begins + unit // 5)
    return bytes(data)


TABLE = (
    # Containers and codecs.
    Kind("mp4"),
    Kind("mp4 in fragments", container_options={"movflags": "frag_keyframe+empty_moov"}),
    Kind("mov with pcm", "mov", sound="pcm_s16le"),
    Kind("mkv", "matroska"),
    Kind("mkv with opus", "matroska", sound="libopus"),
    Kind("mkv with mp3", "matroska", sound="libmp3lame", layout="stereo"),
    TS,
    Kind("ts from ten seconds on", "mpegts", container_options={"output_ts_offset": "10"}),
    Kind("ts with mpeg-2", "mpegts", "mpeg2video", sound="mp2"),
    Kind("program stream", "mpeg", "mpeg2video", sound="mp2"),
    Kind("flv", "flv"),
    Kind("flv of old", "flv", "flv", sound=None),
    Kind("avi with mpeg-4", "avi", "mpeg4", sound="libmp3lame"),
    Kind("avi of a camera", "avi", "mjpeg", "yuvj422p", sound="pcm_s16le", full=True),
    Kind("wmv", "asf", "wmv2", sound="wmav2"),
    Kind("webm with vp8", "webm", "libvpx", sound="libopus", options={"deadline": "realtime", "cpu-used": "8"}),
    Kind("webm with vp9", "webm", "libvpx-vp9", sound="libopus", options={"deadline": "realtime", "cpu-used": "8"}),
    Kind("hevc", codec="libx265", options={"x265-params": "pools=none:frame-threads=1:log-level=none"}),
    Kind("prores", "mov", "prores_ks", "yuv422p10le", sound="pcm_s16le"),
    Kind("animation", "mov", "qtrle", "rgb24", sound="pcm_s16le"),
    Kind("lossless rgb", "matroska", "ffv1", "bgr0", sound="flac"),
    Kind("gif", "gif", "gif", "rgb8", sound=None, fps=10, levels=32),
    Kind("3gp", "3gp", "h263", width=192, height=144, squeezed=Fraction(12, 11)),
    # How it is shown.
    TURNED,
    *(Kind(name, shown=shown) for name, shown in TURNS.items()),
    replace(TURNED, name="turned prores", container="mov", codec="prores_ks", pixels="yuv422p10le"),
    Kind("wide pixels", squeezed=Fraction(2)),
    Kind("narrow pixels", width=120, squeezed=Fraction(3, 4)),
    Kind("wide pixels, turned", "mov", squeezed=Fraction(4, 3), shown=(0, 1, -1, 0)),
    Kind("cut off on the left", padded=24, options={"x264-params": "crop-rect=24,0,0,0"}),
    Kind("dv", "avi", "dvvideo", width=768, height=576, squeezed=Fraction(16, 15), sound="pcm_s16le", seconds=1.4),
    Kind("interlaced", options={"x264-params": "tff=1"}),
    Kind("interlaced ts", "mpegts", options={"x264-params": "bff=1"}),
    Kind("interlaced mpeg-2", "mpegts", "mpeg2video", sound="mp2", options={"flags": "+ildct+ilme"}),
    # Colours.
    Kind("bt.709", matrix=BT709, tagged=True),
    Kind("bt.601 with tags", tagged=True),
    Kind("full range", pixels="yuvj420p", full=True),
    Kind("full range, bt.709", pixels="yuvj420p", full=True, matrix=BT709, tagged=True),
    Kind("hd without tags", width=800, height=600, fps=5, matrix=BT709),
    Kind("hd without tags, mpeg-4", codec="mpeg4", width=800, height=600, fps=5, matrix=BT709),
    Kind("hd in bt.601", width=800, height=600, fps=5, tagged=True),
    Kind("ten bits", pixels="yuv420p10le", matrix=BT709, tagged=True),
    Kind("4:4:4", pixels="yuv444p"),
    *(
        Kind(curve, "mov", pixels="yuv420p10le", matrix=BT2020, tagged=True, curve=curve, levels=15, fps=10)
        for curve in ("sdr", "hlg", "pq")
    ),
    # Sound.
    Kind("no sound", sound=None),
    Kind("stereo", layout="stereo"),
    Kind("5.1", "matroska", sound="flac", layout="5.1"),
    Kind("muted for a while", seconds=3.4, muted=(0.6, 1.8)),
    Kind("muted webm", "webm", "libvpx", sound="libopus", seconds=3.4, muted=(0.6, 1.8), options={"cpu-used": "8"}),
    Kind("late sound", late_s=0.7),
    Kind("late sound, mkv", "matroska", late_s=0.7),
    Kind("late sound, hevc ts", "mpegts", "mpeg2video", sound="mp2", late_s=0.7),
    replace(
        TS,
        name="mono, then stereo",
        seconds=2.0,
        then=replace(TS, layout="stereo", seconds=2.0, container_options={"output_ts_offset": "2.08"}),
    ),
    # Times and tracks.
    Kind("variable rate", times_ms=VARIABLE, seconds=2.4),
    Kind("variable rate, mkv", "matroska", times_ms=VARIABLE, seconds=2.4),
    Kind("variable rate, vp8", "webm", "libvpx", sound="libopus", times_ms=VARIABLE, seconds=2.4),
    replace(
        TS,
        name="another size from two seconds on",
        seconds=2.0,
        then=replace(TS, seconds=2.0, width=320, height=240, container_options={"output_ts_offset": "2.08"}),
    ),
    Kind("cover and another track first", change=with_more_pictures),
    Kind("late picture", "matroska", times_ms=tuple(range(300, 1700, 40)), cut_s=0.3),
    Kind("cut in front", change=cut_in_front, cut_s=0.2),
)


def shown_number(frame: np.ndarray) -> int:
    height, width = frame.shape[:2]
    bars = (frame[height // 10, (2 * bit + 1) * width // (2 * BITS)].mean() > 125 for bit in range(BITS))
    return sum(bar << bit for bit, bar in enumerate(bars))


def read(path: Path, moments: list[float]) -> tuple[float, list[np.ndarray]]:
    """Return the length, and the pictures at some moments, as ingestion reads them."""
    facts = read_facts(path)
    frames, reader = [], FrameReader(path, threads=1)
    for time_s in moments:
        frame = np.empty((facts.height, facts.width, 3), np.uint8)
        reader.read_into(int(wanted_frames(FrameRequest(time_s=time_s), facts)[0]), frame)
        frames.append(frame)
    reader.close()
    return facts.duration_s, frames


def heard_beeps(path: Path, duration_s: float) -> list[tuple[float, float, float]]:
    """Return when each beep begins, its pitch, and its level."""
    sound = read_sound(path, HEARD_RATE, duration_s)
    if sound is None:
        return []
    loud = np.flatnonzero(np.abs(sound) > 0.1)
    begins = loud[np.flatnonzero(np.diff(loud, prepend=-HEARD_RATE) > HEARD_RATE // 5)]
    found = []
    for begin in begins:
        piece = sound[begin : begin + HEARD_RATE // 10]
        pitch = np.abs(np.fft.rfft(piece * np.hanning(len(piece)), HEARD_RATE)).argmax()
        found.append((begin / HEARD_RATE, round(float(pitch), -1), float(np.sqrt(2 * (piece[200:1200] ** 2).mean()))))
    return found


@pytest.mark.parametrize("kind", TABLE, ids=str)
def test_every_kind_is_read_as_a_player_shows_and_plays_it(kind: Kind, tmp_path: Path) -> None:
    content = write(kind)
    made, facts = canonical(content)
    assert differences(made) == []
    assert bool(facts.encoded) == any(KINDS[one.kind] for one in differences(content))
    check(kind, made, facts.duration_s, tmp_path / "clip.mp4")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wide pixels", "pixels that are not square"),
        ("interlaced", "two fields a frame"),
        ("hlg", "high dynamic range"),
        ("muted for a while", "gaps in the sound"),
        ("turned right", "a picture turned or mirrored by its file"),
    ],
)
def test_ingestion_refuses_a_clip_that_models_would_see_or_hear_otherwise(
    name: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(write(next(kind for kind in TABLE if kind.name == name)))
    with pytest.raises(UnreadableClip, match=f"^not canonical: {words}$"):
        read_facts(path)


def check(kind: Kind, made: bytes, duration_s: float, path: Path) -> None:
    path.write_bytes(made)
    times, numbers = zip(*kind.shown_numbers(), strict=True)
    moments = np.arange(1 / 6, times[-1], 1 / 3).tolist()
    read_s, frames = read(path, moments)
    described = describe(made)
    assert described.claimed_frames == described.packets == len(read_facts(path).times) == count_frames(made)[0]
    assert read_s == pytest.approx(duration_s, abs=0.015)
    expected = [numbers[bisect.bisect(times, moment) - 1] for moment in moments]
    assert [shown_number(frame) for frame in frames] == expected
    frame = frames[0].astype(int)
    height, width = frame.shape[:2]
    disc = frame[height * 3 // 10 : height * 4 // 5].min(axis=2) > (GREY + WHITE) / 2
    assert np.ptp(np.flatnonzero(disc.any(axis=0))) + 1 == pytest.approx(
        0.4 * kind.height * width / kind.width, abs=2.5
    )
    assert np.ptp(np.flatnonzero(disc.any(axis=1))) + 1 == pytest.approx(0.4 * height, abs=2.5)
    assert width / height == pytest.approx(kind.width / kind.height, rel=0.03)
    for place, colour in enumerate(PATCHES):
        seen = frame[height * 11 // 12, (2 * place + 1) * width // 6]
        assert seen.tolist() == pytest.approx(colour, abs=kind.levels), "a patch"
    assert frame[height * 35 // 100, width // 20].tolist() == pytest.approx([GREY] * 3, abs=kind.levels)
    heard = heard_beeps(path, read_s)
    assert [pitch for _, pitch, _ in heard] == [pitch for _, pitch in kind.heard_beeps()]
    for (begin, _, level), (expected_s, _) in zip(heard, kind.heard_beeps(), strict=True):
        assert begin == pytest.approx(expected_s, abs=0.03)
        assert level == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (write(TS) + write(TS), "its time begins again in the middle"),
        (with_matrix(1, 1, -1, 1), "an odd angle"),
        (cover_alone(), "it holds no picture track"),
        (write(Kind("dolby", codec="libx265", pixels="yuv420p10le")).replace(b"hev1", b"dvhe"), "Dolby Vision alone"),
    ],
)
def test_what_no_player_shows_well_is_named(content: bytes, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        canonical(content)


AGAIN = [kind for kind in TABLE if kind.times_ms or (kind in TABLE[::4] and not kind.curve)]


@pytest.mark.parametrize("kind", AGAIN, ids=str)
def test_encoding_all_again_shows_and_plays_the_same_at_a_constant_rate(kind: Kind, tmp_path: Path) -> None:
    made, facts = canonical(write(kind), 96)
    assert (differences(made), facts.height, facts.encoded) == ([], 96, ())
    check(kind, made, facts.duration_s, tmp_path / "clip.mp4")
    assert len(set(np.diff(read_facts(tmp_path / "clip.mp4").times).round(4))) == 1


def test_two_fields_of_different_moments_do_not_show_as_a_comb() -> None:
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as file:
        track = file.add_stream("libx264", rate=25, options={"x264-params": "tff=1", "crf": "8", "threads": "1"})
        track.width, track.height, track.pix_fmt = 160, 120, "yuv420p"
        for number in range(12):
            woven = np.full((120, 160, 3), GREY, np.uint8)
            for field in (0, 1):  # a bar that moves on between the fields
                begin = 8 + 8 * number + 4 * field
                woven[field::2, begin : begin + 24] = WHITE
            file.mux(track.encode(av.VideoFrame.from_ndarray(woven, format="rgb24")))
        file.mux(track.encode(None))
    made, facts = canonical(target.getvalue())
    assert facts.encoded == ("interlaced",)
    for picture in pictures(made, range(3, 9), "gray"):
        rows = picture[20:100].astype(int)
        assert np.abs(rows[1:] - rows[:-1]).max() < (WHITE - GREY) / 2


def test_what_only_single_packets_tell_is_found() -> None:
    kinds = [one.kind for one in differences(write(Kind("late", late_s=0.7)))]
    assert kinds == ["sound times"]
    (joined,) = (kind for kind in TABLE if kind.name.startswith("another size"))
    target = io.BytesIO()
    with av.open(io.BytesIO(write(joined)), "r") as given, av.open(target, "w", format="mp4") as file:
        track = file.add_stream_from_template(given.streams.video[0])
        for packet in given.demux(video=0):
            if packet.size:
                packet.stream = track
                file.mux(packet)
    assert "frame sizes" in [one.kind for one in differences(target.getvalue())]
