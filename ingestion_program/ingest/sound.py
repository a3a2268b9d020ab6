"""Decode the sound of a clip, resampled to mono."""

from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

Sound = npt.NDArray[np.float32]
RATES = (4_000, 48_000)


def read_sound(path: Path, rate: int, duration_s: float) -> Sound | None:
    """Return the first audio stream as mono float32 in [-1, 1] at `rate` samples a second.

    The result has exactly `duration_s * rate` samples: the sound that lies beside the picture, padded with silence.
    None when the clip has no sound that can be decoded; a clip without sound is a valid clip.
    """
    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                return None
            resampler = av.AudioResampler(format="fltp", rate=rate)
            pieces = [
                piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)
            ] + resampler.resample(None)
            # The mean of the channels: FFmpeg's own mix to mono raises the level of floats by up to 3 dB per pair.
            parts = [np.asarray(piece.to_ndarray(), np.float32).mean(axis=0) for piece in pieces]
    except (av.error.FFmpegError, OSError, ValueError):
        return None
    if not parts:
        return None
    length = round(duration_s * rate)
    sound = np.zeros(length, np.float32)
    samples = np.concatenate(parts)[:length]
    sound[: len(samples)] = np.clip(samples, -1.0, 1.0)
    return sound
