"""What is taken out of a clip, and what stays: every picture and every sample, bit by bit, and nothing else."""

import io
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import pytest

from bundle_tools.canonical import canonical
from bundle_tools.challenge.reading.video import describe
from bundle_tools.decoding import Unusable
from tests.ingestion.clips import Format, write_clip

from .clips import METADATA, frames, make_clip, sound


def cut_in_front(content: bytes) -> bytes:
    """Let the picture track begin seven frames later, by its edit list (8.6.6)."""
    data = bytearray(content)
    at = data.index(b"elst") + 12
    duration_ms, begins = struct.unpack_from(">Ii", data, at)
    struct.pack_into(">Ii", data, at, duration_ms - 7 * 40, begins + 7 * 512)
    return bytes(data)


def shown(content: bytes) -> list[float]:
    """Return the time of every picture."""
    with av.open(io.BytesIO(content), "r") as container:
        return [frame.time or 0.0 for frame in container.decode(video=0)]


def heard_s(content: bytes) -> float:
    """Return how long the sound lasts, seconds."""
    with av.open(io.BytesIO(content), "r") as container:
        return sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))


def test_everything_but_picture_and_sound_is_left_out() -> None:
    original = make_clip(1)
    # The name of the encoder, 32 bytes in the entry that describes the pictures.
    named = bytearray(original)
    entry = named.index(b"avc1", named.index(b"stsd")) - 4
    named[entry + 50 : entry + 82] = METADATA.encode().ljust(32)
    assert named.count(METADATA.encode()) >= 4
    data, facts = canonical(bytes(named))
    assert (facts.width, facts.height, facts.sound) == (160, 90, True)
    assert facts.duration_s == pytest.approx(2, abs=0.02)
    for mark in (METADATA.encode(), b"Lavf", b"libx264"):
        assert mark not in data
    with av.open(io.BytesIO(data), "r") as container:
        assert {stream.language for stream in container.streams} <= {None, "und"}
        assert set(container.streams.video[0].metadata) <= {"language", "handler_name", "vendor_id"}
    found = describe(data)
    assert (found.created, found.tags) == ("", ())
    assert (frames(data), sound(data), shown(data)) == (frames(original), sound(original), shown(original))
    assert canonical(data)[0] == data


@pytest.mark.parametrize(
    ("suffix", "form", "change"),
    [
        (".mov", Format(audio="pcm_s16le"), bytes),
        (".ts", Format(late_sound_s=0.5), bytes),
        (".mkv", Format(), bytes),
        (".mp4", Format(), cut_in_front),
        (".mp4", Format(audio=None), bytes),
    ],
)
def test_canonical_tracks_stay_bit_by_bit(
    suffix: str, form: Format, change: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    original = change(write_clip(tmp_path / f"clip{suffix}", 30, form).read_bytes())
    data, facts = canonical(original)
    assert frames(data) == frames(original)
    begins_s = shown(original)[0]
    assert shown(data) == pytest.approx([time_s - begins_s for time_s in shown(original)], abs=0.001)
    if facts.sound and not facts.encoded:  # Matroska hides the silence that an encoder puts first
        assert sound(data).endswith(sound(original))
    assert facts.encoded == {".mov": ("sound codec",), ".ts": ("sound codec",)}.get(suffix, ())
    assert change is not cut_in_front or len(shown(data)) == 23


def test_words_hidden_between_the_samples_and_other_tracks_are_left_behind() -> None:
    hidden = make_clip(1) + (20).to_bytes(4, "big") + b"mdathidden words"
    two, packets = io.BytesIO(), []
    with av.open(two, "w", "matroska") as made:
        made.add_attachment("notes.txt", "text/plain", METADATA.encode())
        for kind in ("video", "audio", "audio"):
            with av.open(io.BytesIO(make_clip(3)), "r") as source:
                (track,) = (stream for stream in source.streams if stream.type == kind)
                target = made.add_stream_from_template(track)
                packets += [(target, packet) for packet in source.demux(track) if packet.size]
        for target, packet in packets:
            packet.stream = target
            made.mux(packet)
    with av.open(io.BytesIO(two.getvalue()), "r") as container:
        assert len(container.streams.audio) == 2
    for content in (hidden, two.getvalue()):
        data, _ = canonical(content, None)
        assert b"hidden words" not in data
        assert METADATA.encode() not in data
        assert frames(data) == frames(content)
        with av.open(io.BytesIO(data), "r") as container:
            assert [stream.type for stream in container.streams] == ["video", "audio"]


def test_any_change_of_a_header_is_refused_or_harmless() -> None:
    """No file, however broken, ends in anything but Unusable; and an accepted one keeps no word of the metadata."""
    original = make_clip(2, seconds=0.5)
    accepted = 0
    for at in range(original.index(b"moov") - 4, len(original), 17):
        data = bytearray(original)
        data[at] ^= 0xFF
        try:
            made, _ = canonical(bytes(data))
        except Unusable:
            continue
        accepted += 1
        assert METADATA.encode() not in made
    assert accepted


@pytest.mark.parametrize("height", [None, 60])
@pytest.mark.parametrize("content", [b"", b"plain text", make_clip(1)[:2000], make_clip(1)[:-2500]])
def test_what_is_no_video_or_breaks_off_is_named(content: bytes, height: int | None) -> None:
    with pytest.raises(Unusable):
        canonical(content, height)


def test_a_clip_that_breaks_off_behind_its_table_of_contents_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    with (
        av.open(io.BytesIO(make_clip(1)), "r") as source,
        av.open(str(path), "w", options={"movflags": "+faststart"}) as written,
    ):
        targets = [written.add_stream_from_template(stream) for stream in source.streams]
        for packet in source.demux():
            if packet.size:
                packet.stream = targets[packet.stream.index]
                written.mux(packet)
    whole = path.read_bytes()
    assert frames(canonical(whole, None)[0]) == frames(make_clip(1))
    with pytest.raises(Unusable, match="cut off"):
        canonical(whole[:-5000], None)


def test_a_file_without_pictures_is_named() -> None:
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as written:
        track = written.add_stream("aac", rate=48_000, layout="mono")
        written.mux(track.encode(None))
    with pytest.raises(Unusable):
        canonical(target.getvalue(), None)


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        (".webm", Format(codec="libvpx", audio="libopus")),
        (".flv", Format(codec="flv", audio="mp3")),
        (".mkv", Format(codec="libvpx", audio=None)),
        (".mp4", Format(codec="libsvtav1", audio=None)),
    ],
)
def test_what_is_not_canonical_is_encoded_again_by_itself(suffix: str, form: Format, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as apart:  # SVT-AV1 makes the thread that calls it a real-time one, where root does
        original = apart.submit(write_clip, tmp_path / f"clip{suffix}", 20, form).result().read_bytes()
    data, facts = canonical(original)
    assert facts.encoded == ("picture codec", *(("sound codec",) if form.audio else ()))
    assert (facts.width, facts.height) == (form.width, form.height)
    assert (len(frames(data)), facts.sound) == (20, form.audio is not None)
    assert shown(data) == pytest.approx(shown(original), abs=0.002)
    again, facts = canonical(data)
    assert (frames(again), facts.encoded) == (frames(data), ())


def test_encoding_again_keeps_sound_whose_container_counts_whole_packets(tmp_path: Path) -> None:
    original = write_clip(tmp_path / "clip.avi", 30, Format(codec="mpeg4", audio="mp3")).read_bytes()
    data, facts = canonical(original, 64)
    assert facts.sound
    assert heard_s(data) == pytest.approx(heard_s(original), abs=0.05)


def test_what_is_no_short_clip_is_named_before_it_is_read(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", 2, Format(audio=None), times_ms=(0, 36_000_000))
    with pytest.raises(Unusable, match=r"it lasts 600 minutes: cut it into clips of at most 10"):
        canonical(path.read_bytes(), None)


def test_encoding_again_sets_the_height_and_leaves_nothing_else() -> None:
    data, facts = canonical(make_clip(1), 60)
    assert (facts.width, facts.height) == (106, 60)
    assert facts.duration_s == pytest.approx(2, abs=0.2)
    assert len(frames(data)) == 20
    assert METADATA.encode() not in data
    assert b"Lavf" not in data


def test_pictures_without_a_time_follow_each_other_at_the_rate() -> None:
    data, _ = canonical(make_clip(1, seconds=1, container="h264", sound=False), 60)
    # A bare stream of H.264 tells no rate; FFmpeg takes it for 25 a second.
    assert shown(data) == pytest.approx([number / 25 for number in range(10)])
