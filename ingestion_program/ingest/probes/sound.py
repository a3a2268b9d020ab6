"""Put another moment of a clip in the place of what is heard in some seconds."""

from collections.abc import Collection

import numpy as np

from ingest.sound import Sound

FADE_S = 0.01


def replace_by_another_moment(sound: Sound, rate: int, seconds: Collection[int], seed: int) -> Sound:
    """Return the sound with the clip's own sound of another time in the given seconds, each [i, i + 1).

    All of it is moved by the same number of seconds, so that neighbours stay together: by a drawn one of those that
    bring the fewest of the given seconds into each other's place. A clip of less than two seconds stays as it is.

    Parameters
    ----------
    sound
        Shape (samples,), in [-1, 1].
    rate
        Samples a second.
    seconds
        Which ones; those beyond the end do nothing.
    seed
        Of what is drawn.
    """
    whole = len(sound) // rate
    if whole < 2:
        return sound
    share = np.zeros(len(sound), np.float32)
    for second in seconds:
        share[second * rate : (second + 1) * rate] = 1.0
    # A hard cut is a click that nobody made.
    length = max(1, round(FADE_S * rate))
    summed = np.cumsum(np.pad(share, (length - length // 2, length // 2), "edge"), dtype=np.float64)
    share = ((summed[length:] - summed[:-length]) / length).astype(np.float32)
    moves = np.random.default_rng(seed).permutation(np.arange(1, whole)).tolist()
    move = min(moves, key=lambda by: sum((second - by) % whole in seconds for second in seconds))
    mixed: Sound = sound + share * (np.roll(sound, move * rate) - sound)
    return mixed
