"""Speech rate and words."""

import re

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Requested samples a second."""
_WINDOW_S = 0.02
_LOUD = 0.1
"""Loudness from which somebody speaks, relative to the loudest moment."""

# Everyday words by how bright they sound, -2 to 2.
LEXICON: dict[int, tuple[str, ...]] = {
    2: (
        "brilliant",
        "splendid",
        "thrilling",
        "joyful",
        "stunning",
        "superb",
        "excellent",
        "amazing",
        "wonderful",
        "perfect",
    ),
    1: (
        "pleasant",
        "helpful",
        "cheerful",
        "friendly",
        "hopeful",
        "good",
        "nice",
        "happy",
        "kind",
        "glad",
        "fun",
        "fine",
    ),
    0: ("normal", "common", "simple", "routine", "standard", "usual", "average", "regular", "typical", "ordinary"),
    -1: ("boring", "tiring", "gloomy", "messy", "clumsy", "dull", "slow", "bad", "sad", "hard", "weak", "annoying"),
    -2: ("dreadful", "awful", "hopeless", "horrid", "ghastly", "terrible", "horrible", "worst", "hated", "disastrous"),
}
_SCORES = {word: score for score, words in LEXICON.items() for word in words}


def valence(transcript: str) -> float:
    """Return how bright the words are, -2 to 2: the mean over evaluative words; 0 without any."""
    scores = [_SCORES[word] for word in telling_words(transcript)]
    return float(np.mean(scores)) if scores else 0.0


def telling_words(transcript: str) -> list[str]:
    """Return the evaluative words, in spoken order."""
    return [word for word in _words(transcript) if word in _SCORES]


def telling_moments(transcript: str, level: NDArray[np.float64]) -> list[tuple[float, int]]:
    """Return when each evaluative word is said, seconds, and its brightness; nothing without sound.

    All syllables between the first and the last sound are taken to last equally long.
    """
    loud = np.flatnonzero(level > _LOUD * level.max(initial=0.0))
    if not loud.size:
        return []
    begin_s, end_s = loud[0] * _WINDOW_S, (loud[-1] + 1) * _WINDOW_S
    total, spoken, moments = syllables(transcript), 0, []
    for word in _words(transcript):
        length = syllables(word)
        if word in _SCORES:
            moments.append((begin_s + (spoken + length / 2) / total * (end_s - begin_s), _SCORES[word]))
        spoken += length
    return moments


def syllables(transcript: str) -> int:
    """Estimate the number of syllables: groups of vowels, without silent endings."""
    count = 0
    for word in _words(transcript):
        groups = len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^aeiouy])e[sd]?$", "", word)))
        count += max(groups, 1)
    return count


def loudness(sound: NDArray[np.float32], rate: int = RATE) -> NDArray[np.float64]:
    """Return the root mean square of every 20 ms, shape (windows,)."""
    size = int(_WINDOW_S * rate)
    blocks = sound[: len(sound) // size * size].reshape(-1, size).astype(np.float64)
    level: NDArray[np.float64] = np.sqrt((blocks**2).mean(axis=1))
    return level


def beats(level: NDArray[np.float64]) -> float:
    """Return the beats a second in the loudness: peaks that stand out from the dips around them."""
    if len(level) < 10 or level.max() <= 0:
        return 0.0
    smooth = np.convolve(level / level.max(), np.array((0.25, 0.5, 0.25)), mode="same")
    count, low, high, rising = 0, smooth[0], smooth[0], True
    for value in smooth:
        if rising:
            high = max(high, value)
            if value < high - 0.2:
                count, rising, low = count + 1, False, value
        else:
            low = min(low, value)
            if value > low + 0.2:
                rising, high = True, value
    return count / (len(level) * _WINDOW_S)


def _words(transcript: str) -> list[str]:
    return re.findall(r"[a-z']+", transcript.lower())
