"""Decode the sound of a clip as resampled mono, and replace some seconds of it by others."""

from collections.abc import Collection
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

Sound = npt.NDArray[np.float32]
RATES = (4_000, 48_000)
FADE_S = 0.01


def read_sound(path: Path, rate: int, duration_s: float) -> Sound | None:
    """Return the first audio stream as mono float32 in [-1, 1] at `rate` samples a second.

    The result has exactly `duration_s * rate` samples: the sound that goes with the picture, padded with silence.
    None when the clip has no sound that can be decoded; a clip without sound is a valid clip.
    """
    samples = _decode(path, rate)
    if samples is None:
        return None
    length = round(duration_s * rate)
    sound = np.zeros(length, np.float32)
    sound[: len(samples)] = samples[:length]
    return sound


def read_repeated_sound(path: Path, rate: int, duration_s: float) -> Sound | None:
    """Return the sound as `read_sound` does, but repeat it if it is too short."""
    samples = _decode(path, rate)
    return None if samples is None else np.resize(samples, round(duration_s * rate))


def replace_by_another_moment(sound: Sound, rate: int, seconds: Collection[int], seed: int) -> Sound:
    """Replace the sound of the given seconds [i, i + 1) by the clip's own sound from another time.

    All replacements are shifted by the same number of seconds, so that neighbours stay together. It is drawn from the
    shifts that replace the fewest given seconds by each other. A clip of less than two seconds stays as it is.

    Parameters
    ----------
    sound
        Shape (samples,), in [-1, 1].
    rate
        Samples a second.
    seconds
        Seconds to replace; those beyond the end are ignored.
    seed
        Seed of the draw.
    """
    whole = len(sound) // rate
    if whole < 2:
        return sound
    share = np.zeros(len(sound), np.float32)
    for second in seconds:
        share[second * rate : (second + 1) * rate] = 1.0
    # A hard cut would be an audible click.
    length = max(1, round(FADE_S * rate))
    summed = np.cumsum(np.pad(share, (length - length // 2, length // 2), "edge"), dtype=np.float64)
    share = ((summed[length:] - summed[:-length]) / length).astype(np.float32)
    moves = np.random.default_rng(seed).permutation(np.arange(1, whole)).tolist()
    move = min(moves, key=lambda by: sum((second - by) % whole in seconds for second in seconds))
    mixed: Sound = sound + share * (np.roll(sound, move * rate) - sound)
    return mixed


def has_sound(path: Path) -> bool:
    """Tell whether a file has an audio stream."""
    try:
        with av.open(str(path)) as container:
            return bool(container.streams.audio)
    except (av.error.FFmpegError, OSError, ValueError):
        return False


def _decode(path: Path, rate: int) -> Sound | None:
    """Return the first audio stream as it is; None if there is nothing to decode."""
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
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    return np.clip(samples, -1.0, 1.0) if len(samples) else None
