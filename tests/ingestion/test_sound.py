from pathlib import Path

import av
import numpy as np
import pytest

from ingest.media.sound import read_sound
from tests import there


@pytest.mark.parametrize(("left", "right", "expected"), [(0.5, 0.5, 0.5), (0.5, 0.0, 0.25)])
def test_channels_are_averaged_so_that_stereo_is_no_louder_than_mono(
    left: float, right: float, expected: float, tmp_path: Path
) -> None:
    path = tmp_path / "stereo.wav"
    wave = np.sin(np.arange(48_000) * 2 * np.pi * 300 / 48_000)
    samples = np.stack([left * wave, right * wave]) * 32767
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=48_000)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "stereo"
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples.T.astype(np.int16).reshape(1, -1)), format="s16", layout="stereo"
        )
        frame.sample_rate = 48_000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    sound = there(read_sound(path, 16_000, 1.0))
    assert len(sound) == 16_000
    assert np.abs(sound[2000:14000]).max() == pytest.approx(expected, abs=0.01)


def test_a_file_that_is_no_media_has_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"nothing")
    assert read_sound(path, 16_000, 1.0) is None


@pytest.mark.parametrize(
    ("picture_s", "sound_s", "heard"),
    [(0, 0, "xx---"), (0, 1, "-xx--"), (1, 0, "x----"), (0, 4, "----x"), (0, 9, "-----"), (4, 0, "-----")],
)
def test_sound_of_another_length_or_start_stays_beside_the_picture(
    picture_s: int, sound_s: int, heard: str, tmp_path: Path
) -> None:
    path = tmp_path / "clip.mkv"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=10)
        sound = container.add_stream("pcm_s16le", rate=8_000, layout="mono")
        assert isinstance(video, av.VideoStream)
        assert isinstance(sound, av.AudioStream)
        video.width = video.height = 16
        for number in range(50):
            picture = av.VideoFrame(16, 16, "yuv420p")
            picture.pts = number + 10 * picture_s
            container.mux(video.encode(picture))
        container.mux(video.encode(None))
        loud = av.AudioFrame.from_ndarray(np.full((1, 16_000), 16_000, np.int16), format="s16", layout="mono")
        loud.sample_rate, loud.pts = 8_000, 8_000 * sound_s
        container.mux(sound.encode(loud))
        container.mux(sound.encode(None))
    found = there(read_sound(path, 4_000, 5.0))
    seconds = np.abs(found[2_000::4_000])  # in the middle of each
    assert "".join("x" if loudness > 0.1 else "-" for loudness in seconds) == heard
