"""Video and sound into an MP4 file of a fixed size."""

import io
from collections.abc import Sequence
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray

CLIP_BYTES = 128 * 1024
"""Size of every clip's file. A file's size would tell how much moves, so all are padded to one size."""

_QUALITIES = (25, 28, 30, 33, 36, 40)
"""Constant rate factors to try until a clip fits."""


def encode_clip(
    frames: Sequence[NDArray[np.uint8]], sound: NDArray[np.float32], *, fps: int, rate: int, size: int = CLIP_BYTES
) -> bytes:
    """Return an MP4 file (H.264, AAC) of exactly `size` bytes.

    Parameters
    ----------
    frames
        Pictures in planar YUV 4:2:0 as OpenCV makes them, each of shape (height * 3 / 2, width).
    sound
        Mono samples in [-1, 1].
    fps, rate
        Frames and samples a second.
    size
        Size of the file, bytes.

    Raises
    ------
    ValueError
        If the clip does not fit even at the lowest quality.
    """
    for quality in _QUALITIES:
        data = _encode(frames, sound, fps, rate, quality)
        if len(data) + 8 <= size:
            return data + _free_box(size - len(data))
    raise ValueError(
        f"clip of {len(data)} bytes does not fit into {size} bytes at quality {quality}: allow a larger size"
    )


def _free_box(size: int) -> bytes:
    """Return a `free` box of the ISO base media file format (ISO/IEC 14496-12): padding that players skip."""
    return size.to_bytes(4, "big") + b"free" + bytes(size - 8)


def _encode(
    frames: Sequence[NDArray[np.uint8]], sound: NDArray[np.float32], fps: int, rate: int, quality: int
) -> bytes:
    target = io.BytesIO()
    # bitexact leaves out the time of writing and the writer's version.
    with av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        options = {"crf": str(quality), "preset": "veryfast", "g": "50", "threads": "1", "flags": "+bitexact"}
        video = container.add_stream("libx264", rate=fps, options=options)
        video.height, video.width = frames[0].shape[0] * 2 // 3, frames[0].shape[1]
        video.pix_fmt = "yuv420p"
        video.time_base = Fraction(1, fps)
        audio = container.add_stream("aac", rate=rate, layout="mono", options={"flags": "+bitexact"})
        audio.bit_rate = 32000
        for index, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts = index
            container.mux(video.encode(frame))
        container.mux(video.encode())
        wave = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="fltp", layout="mono")
        wave.sample_rate, wave.pts = rate, 0
        fifo = av.AudioFifo()
        fifo.write(wave)
        while (block := fifo.read(1024, partial=True)) is not None:
            container.mux(audio.encode(block))
        container.mux(audio.encode())
    return target.getvalue()
