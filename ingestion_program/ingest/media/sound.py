"""Decode the sound of a clip as resampled mono, and exchange some of it for other sound."""

from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.container import InputContainer

Sound = npt.NDArray[np.float32]
FADE_S = 0.01
"""How long one sound fades into another: a hard cut would be an audible click."""

HISS = 1e-4
"""Largest value of the noise, of a full scale of 1: 80 dB below the loudest sound, so too little to hear."""


def read_sound(path: Path, rate: int, duration_s: float) -> Sound | None:
    """Return the first audio stream as mono float32 in [-1, 1] at `rate` samples a second.

    The result has exactly `duration_s * rate` samples: the sound that goes with the picture, padded with silence where
    it begins later or ends earlier. None when the clip has no sound that can be decoded; a clip without sound is a
    valid clip.
    """
    decoded = _decode(path, rate)
    if decoded is None:
        return None
    samples, later_s = decoded
    length = round(duration_s * rate)
    later = round(min(max(later_s, -duration_s), duration_s) * rate)
    sound = np.zeros(length, np.float32)
    heard = samples[max(0, -later) :][: length - max(0, later)]
    sound[max(0, later) :][: len(heard)] = heard
    return sound


def with_hiss(sound: Sound, seed: int) -> Sound:
    """Return a sound with noise."""
    noise = np.random.default_rng(seed).random(len(sound), np.float32)
    noise *= np.float32(2 * HISS)
    noise += sound - np.float32(HISS)
    return noise


def exchange(sound: Sound, other: Sound, rate: int, spans_s: Iterable[tuple[float, float]]) -> Sound:
    """Return a sound with that of another one in some spans of time; outside them no bit differs.

    `other`: as long as `sound`. It is faded in and out within each span.
    """
    share = np.zeros(len(sound), np.float32)
    for start_s, end_s in spans_s:
        share[round((start_s + FADE_S) * rate) : max(0, round((end_s - FADE_S) * rate))] = 1.0
    return _faded(sound, other, share, rate)


def _faded(sound: Sound, other: Sound, share: Sound, rate: int) -> Sound:
    """Return a sound with another one where its share is 1; the sounds fade into each other where the share changes."""
    length = max(1, round(FADE_S * rate))
    summed = np.cumsum(np.pad(share, (length - length // 2, length // 2), "edge"), dtype=np.float64)
    soft = ((summed[length:] - summed[:-length]) / length).astype(np.float32)
    mixed: Sound = np.where(soft > 0, (1 - soft) * sound + soft * other, sound)
    return mixed


def _decode(path: Path, rate: int) -> tuple[Sound, float] | None:
    """Return the first audio stream and how many seconds it begins after the picture; None if it cannot be decoded."""
    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                return None
            frames = list(container.decode(audio=0))
            later_s = (frames[0].time or 0.0) - _picture_begins_s(container)
            # As one frame, which is resampled in a fraction of the time of hundreds.
            fifo = av.AudioFifo()
            for frame in frames:
                frame.pts = None  # gaps are refused before
                fifo.write(frame)
            whole = fifo.read()
            resampler = av.AudioResampler(format="fltp", rate=rate)
            # The mean of the channels: FFmpeg's own mix to mono raises the level of floats by up to 3 dB per pair.
            pieces = [
                piece.to_ndarray().mean(axis=0) for piece in (*resampler.resample(whole), *resampler.resample(None))
            ]
            return np.clip(np.concatenate(pieces), -1.0, 1.0), later_s
    except (av.error.FFmpegError, IndexError, OSError, ValueError):
        return None


def _picture_begins_s(container: InputContainer) -> float:
    video = next(iter(container.streams.video), None)
    return 0.0 if video is None else float((video.start_time or 0) * (video.time_base or 0))
