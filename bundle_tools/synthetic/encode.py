"""Video and sound into an MP4 file of a fixed size."""

import io
from collections.abc import Sequence
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray

Clip = tuple[Sequence[NDArray[np.uint8]], NDArray[np.float32]]
"""Pictures in planar YUV 4:2:0 as OpenCV makes them, each (height * 3 / 2, width), and mono samples in [-1, 1]."""

CLIP_BYTES = 112 * 1024
"""Size of every clip's file. A file's size would reveal how much moves, so all are padded to one size."""

_QUALITIES = (25, 28, 30, 33, 36, 40)
"""Constant rate factors to try until all clips fit."""


def encode_together(clips: Sequence[Clip], *, fps: int, rate: int, size: int = CLIP_BYTES) -> list[bytes]:
    """Return MP4 files (H.264, AAC) of exactly `size` bytes each, all with the best quality at which every clip fits.

    `size`: size of a file, bytes. Raises ValueError if a clip does not fit even at the lowest quality.
    """
    for quality in _QUALITIES:
        files: list[bytes] = []
        for frames, sound in clips:
            data = _encode(frames, sound, fps, rate, quality)
            if len(data) + 8 > size:
                break
            files.append(data + _free_box(size - len(data)))
        else:
            return files
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
