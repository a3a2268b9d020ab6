from pathlib import Path

import av
import numpy as np
import pytest

from ingest.media.sound import read_sound


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
    sound = read_sound(path, 16_000, 1.0)
    assert sound is not None
    assert len(sound) == 16_000
    assert np.abs(sound[2000:14000]).max() == pytest.approx(expected, abs=0.01)


def test_a_file_that_is_no_media_has_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"nothing")
    assert read_sound(path, 16_000, 1.0) is None
