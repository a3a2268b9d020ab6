"""What is taken out of a clip, and what stays: every picture and every sample, and nothing else."""

import io
from pathlib import Path

import av
import pytest

from bundle_tools.adapt.media import Treatment, Unusable, clean
from bundle_tools.adapt.mp4 import NotPlain, strip
from bundle_tools.check.clips.video import describe
from tests.ingestion.clips import write_clip

from .clips import METADATA, frames, make_clip, sound

AS_IT_IS = Treatment()


def test_everything_but_picture_and_sound_is_blanked_and_nothing_moves() -> None:
    original = make_clip(1)
    assert original.count(METADATA.encode()) >= 3
    data = bytearray(original)
    facts = strip(data)
    assert (facts.width, facts.height, facts.sound) == (160, 90, True)
    assert facts.duration_s == pytest.approx(2, abs=0.2)
    assert len(data) == len(original)
    assert METADATA.encode() not in data
    assert b"Lavf" not in data
    with av.open(io.BytesIO(data), "r") as container:
        assert container.streams.video[0].language in (None, "und")
    assert frames(bytes(data)) == frames(original)
    assert sound(bytes(data)) == sound(original)
    assert describe(bytes(data)).created == ""
    assert describe(bytes(data)).tags == ()


def test_the_name_of_the_encoder_is_blanked() -> None:
    """32 bytes in the entry that describes the pictures (ISO/IEC 14496-12, VisualSampleEntry)."""
    named = bytearray(make_clip(1))
    entry = named.index(b"avc1", named.index(b"stsd")) - 4
    named[entry + 50 : entry + 82] = METADATA.encode().ljust(32)
    strip(named)
    assert not any(named[entry + 50 : entry + 82])
    assert frames(bytes(named)) == frames(make_clip(1))


def test_stripping_twice_changes_nothing() -> None:
    once = bytearray(make_clip(1))
    strip(once)
    twice = bytearray(once)
    strip(twice)
    assert twice == once


def with_box(kind: bytes, content: bytes) -> bytes:
    return make_clip(1) + (8 + len(content)).to_bytes(4, "big") + kind + content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "file type"),
        (b"no video at all, whatever its name", "breaks off"),
        (make_clip(1)[:-100], "breaks off"),
        (make_clip(1) + b"1234", "behind its end"),
        (with_box(b"mdat", b"hidden words"), "of which pictures and sound"),
        (with_box(b"moof", b""), "fragments"),
        (with_box(b"ftyp", b"isom"), "once"),
    ],
)
def test_what_is_not_plain_is_refused_and_left_alone(content: bytes, reason: str) -> None:
    data = bytearray(content)
    with pytest.raises(NotPlain, match=reason):
        strip(data)
    assert data == content


def test_any_change_of_a_header_is_refused_or_harmless() -> None:
    """No file, however broken, ends in anything but NotPlain; and an accepted one keeps no word of the metadata."""
    original = make_clip(2)
    table = original.index(b"moov")
    for at in range(table - 4, len(original), 3):
        data = bytearray(original)
        data[at] ^= 0xFF
        try:
            strip(data)
        except NotPlain:
            continue
        assert METADATA.encode() not in data


def test_words_hidden_between_the_samples_are_muxed_away() -> None:
    data, _ = clean(bytearray(with_box(b"mdat", b"hidden words")), AS_IT_IS)
    assert b"hidden words" not in data
    assert METADATA.encode() not in data
    assert frames(bytes(data)) == frames(make_clip(1))


def test_another_container_is_muxed_into_mp4_with_the_same_pictures() -> None:
    original = make_clip(3, container="matroska")
    data, facts = clean(bytearray(original), AS_IT_IS)
    assert bytes(data[4:8]) == b"ftyp"
    assert facts.sound
    assert METADATA.encode() not in data
    assert frames(bytes(data)) == frames(original)


def test_encoding_again_sets_the_height_and_keeps_the_length() -> None:
    data, facts = clean(bytearray(make_clip(1)), Treatment(height=60))
    assert (facts.width, facts.height) == (106, 60)
    assert facts.duration_s == pytest.approx(2, abs=0.2)
    assert len(frames(bytes(data))) == 20
    assert METADATA.encode() not in data


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".ts"])
def test_encoding_again_keeps_the_time_of_every_picture(suffix: str, tmp_path: Path) -> None:
    times = [0, 40, 80, 400, 440, 1000, 1033, 1066, 1900, 2000]
    clip = write_clip(tmp_path / f"clip{suffix}", len(times), times_ms=times)
    data, _ = clean(bytearray(clip.read_bytes()), Treatment(height=64))
    with av.open(io.BytesIO(data), "r") as container:
        found = [frame.time for frame in container.decode(video=0)]
    with av.open(io.BytesIO(data), "r") as container:
        first_sound = next(container.decode(audio=0)).time
    assert first_sound is not None
    assert [time - first_sound for time in found if time is not None] == pytest.approx(
        [time / 1000 for time in times], abs=0.05
    )
    assert found[0] == pytest.approx(0, abs=0.05)


def test_pictures_without_a_time_follow_each_other_at_the_rate() -> None:
    bare = make_clip(1, seconds=1, container="h264", sound=False)
    data, _ = clean(bytearray(bare), Treatment(height=60))
    with av.open(io.BytesIO(data), "r") as container:
        found = [frame.time for frame in container.decode(video=0)]
    # A bare stream of H.264 tells no rate; FFmpeg takes it for 25 a second.
    assert found == pytest.approx([number / 25 for number in range(10)])


@pytest.mark.parametrize("treatment", [AS_IT_IS, Treatment(height=60)])
@pytest.mark.parametrize("content", [b"", b"plain text", make_clip(1)[:2000]])
def test_what_is_no_video_is_named(content: bytes, treatment: Treatment) -> None:
    with pytest.raises(Unusable):
        clean(bytearray(content), treatment)


def test_a_file_without_pictures_is_named() -> None:
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as written:
        track = written.add_stream("aac", rate=48_000, layout="mono")
        written.mux(track.encode(None))
    with pytest.raises(Unusable):
        clean(bytearray(target.getvalue()), AS_IT_IS)
