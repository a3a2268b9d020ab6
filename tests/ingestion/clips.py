"""Small videos whose frames carry their own number, in the formats that organisers really have."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

BITS = 10
RATE = 48_000


@dataclass(frozen=True)
class Format:
    """How a clip is written."""

    codec: str = "libx264"
    width: int = 96
    height: int = 64
    fps: int = 25
    audio: str | None = "aac"
    pixels: str = "yuv420p"
    gop: int = 250
    comment: str = ""
    late_sound_s: float = 0.0
    rate: int = RATE
    loudness: float = 0.5
    grey: int | None = None
    """Level of all pixels, in the place of the numbers."""
    first: int = 0
    """Number of the first frame."""


def numbered_frame(number: int, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Return an RGB frame with `number` written in black and white bars, lowest bit left."""
    bits = (number >> np.arange(BITS)) & 1
    columns = np.arange(width) * BITS // width
    row = np.where(bits[columns] == 1, 220, 35).astype(np.uint8)
    return np.broadcast_to(row[None, :, None], (height, width, 3)).copy()


def read_number(frame: npt.NDArray[np.uint8]) -> int:
    """Return the number that `numbered_frame` wrote, after any compression and scaling."""
    width = frame.shape[1]
    centres = ((np.arange(BITS) + 0.5) * width / BITS).astype(int)
    bits = frame[:, centres].mean(axis=(0, 2)) > 128
    return int((bits * (1 << np.arange(BITS))).sum())


def write_clip(path: Path, count: int, form: Format | None = None, times_ms: Sequence[int] | None = None) -> Path:
    """Write a clip of `count` numbered frames, at constant rate or at `times_ms`."""
    form = form or Format()
    with av.open(str(path), "w") as container:
        container.metadata.update({"comment": form.comment} if form.comment else {})
        video = container.add_stream(form.codec, rate=form.fps)
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt = form.width, form.height, form.pixels
        if form.codec == "libx265":  # with threads of its own it has crashed on a busy machine
            video.options = {"x265-params": "pools=none:frame-threads=1"}
        video.codec_context.gop_size = form.gop
        video.codec_context.time_base = Fraction(1, 1000) if times_ms else Fraction(1, form.fps)
        if form.audio:
            sound = container.add_stream(form.audio, rate=form.rate)
            assert isinstance(sound, av.AudioStream)
            sound.layout = "mono"
            seconds = times_ms[-1] / 1000 if times_ms else count / form.fps
            length = int((seconds + form.late_sound_s) * form.rate)
            samples = (form.loudness * np.sin(np.arange(length) * 2 * np.pi * 440 / form.rate)).astype(np.float32)
            audio_frame = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
            audio_frame.sample_rate = form.rate
            fifo = av.AudioFifo()
            fifo.write(audio_frame)
            size = 960 if form.audio == "libopus" else 1024  # the only size that each encoder takes
            while (piece := fifo.read(size, partial=True)) is not None:
                container.mux(sound.encode(piece))
            container.mux(sound.encode(None))
        for number in range(count):
            pixels = numbered_frame(form.first + number, form.width, form.height)
            if form.grey is not None:
                pixels[:] = form.grey
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = times_ms[number] if times_ms else number
            frame.time_base = video.codec_context.time_base
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
    return path
