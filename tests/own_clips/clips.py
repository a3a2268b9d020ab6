"""Small clips and archives of them, made by the tests."""

import io
import struct
import zipfile
from collections.abc import Mapping
from functools import lru_cache

import av
import numpy as np

METADATA = "Jane Doe, Portland"


@lru_cache
def make_clip(
    seed: int = 0,
    *,
    seconds: float = 2,
    container: str = "mp4",
    codec: str = "libx264",
    sound: bool = True,
    tags: bool = True,
) -> bytes:
    """Return a clip of 160 x 90 pixels whose metadata tell who is in it."""
    target = io.BytesIO()
    rng = np.random.default_rng(seed)
    with av.open(target, "w", format=container) as written:
        if tags:
            written.metadata.update({"title": METADATA, "comment": METADATA, "creation_time": "2016-05-04T03:02:01Z"})
        video = written.add_stream(codec, rate=10)
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt = 160, 90, "yuv420p"
        if tags:
            video.metadata.update({"handler_name": METADATA, "language": "fra"})
        track = (
            written.add_stream("aac" if container == "mp4" else "libopus", rate=48_000, layout="mono")
            if sound
            else None
        )
        assert track is None or isinstance(track, av.AudioStream)
        for number in range(round(10 * seconds)):
            picture = np.full((90, 160, 3), 40 + 5 * seed % 100, np.uint8)
            picture[20:60, 10 + 4 * number : 50 + 4 * number] = rng.integers(0, 255, 3)
            written.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        written.mux(video.encode(None))
        if track is not None:
            wave = np.sin(np.arange(round(48_000 * seconds)) / (20 + seed)).astype(np.float32)
            resampler = av.AudioResampler(track.format.name, "mono", 48_000)
            for start in range(0, len(wave) - 960, 960):
                piece = av.AudioFrame.from_ndarray(wave[None, start : start + 960], format="flt", layout="mono")
                piece.sample_rate, piece.pts = 48_000, start
                for one in resampler.resample(piece):
                    written.mux(track.encode(one))
            written.mux(track.encode(None))
    return target.getvalue()


def make_zip(files: Mapping[str, bytes], *, stored: bool = True) -> bytes:
    """Return a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def frames(content: bytes) -> list[bytes]:
    """Return every picture of a clip."""
    with av.open(io.BytesIO(content), "r") as container:
        return [frame.to_ndarray(format="rgb24").tobytes() for frame in container.decode(video=0)]


def sound(content: bytes) -> bytes:
    """Return all samples of a clip."""
    with av.open(io.BytesIO(content), "r") as container:
        return b"".join(frame.to_ndarray().tobytes() for frame in container.decode(audio=0))


def rotated(content: bytes) -> bytes:
    """Turn the picture track by a quarter: the matrix of its header (ISO/IEC 14496-12, 8.3.2)."""
    data = bytearray(content)
    struct.pack_into(">9i", data, data.index(b"tkhd") + 44, 0, 1 << 16, 0, -1 << 16, 0, 0, 64 << 16, 0, 1 << 30)
    return bytes(data)
