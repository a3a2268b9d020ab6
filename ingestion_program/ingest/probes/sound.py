"""Put room noise in the place of what is heard."""

from collections.abc import Collection

import numpy as np

from ingest.sound import Sound

WINDOW_S = 0.05
QUIET_SHARE = 0.1
"""The room is what is heard in the quietest tenth of the windows."""
FADE_S = 0.01
FAINTEST = 1e-4
"""Even where a clip is digitally silent in its pauses, nothing is replaced by perfect silence."""


def room_level(sound: Sound, rate: int) -> float:
    """Return the root mean square of the room alone: that of the windows which only a tenth are quieter than."""
    length = max(1, round(WINDOW_S * rate))
    whole = len(sound) // length * length
    if not whole:
        return FAINTEST
    levels = np.sqrt(np.mean(np.square(sound[:whole].reshape(-1, length), dtype=np.float64), axis=1))
    return max(FAINTEST, float(np.quantile(levels, QUIET_SHARE)))


def replace_by_room_noise(sound: Sound, rate: int, seconds: Collection[int], seed: int) -> Sound:
    """Return the sound with noise as loud as its room in the given seconds, each [i, i + 1).

    Parameters
    ----------
    sound
        Shape (samples,), in [-1, 1].
    rate
        Samples a second.
    seconds
        Which ones; those beyond the end do nothing.
    seed
        Of the noise.
    """
    if not len(sound):
        return sound
    share = np.zeros(len(sound), np.float32)
    for second in seconds:
        share[second * rate : (second + 1) * rate] = 1.0
    # A hard cut is a click that nobody made.
    length = max(1, round(FADE_S * rate))
    summed = np.cumsum(np.pad(share, (length - length // 2, length // 2), "edge"), dtype=np.float64)
    share = ((summed[length:] - summed[:-length]) / length).astype(np.float32)
    noise = np.random.default_rng(seed).standard_normal(len(sound), np.float32) * np.float32(room_level(sound, rate))
    mixed: Sound = np.clip(sound + share * (noise - sound), -1.0, 1.0).astype(np.float32)
    return mixed
