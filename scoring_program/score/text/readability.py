"""Reading level of a text, in school grades."""

from __future__ import annotations

import re

from score.text.tokens import sentences_of, words_of

_VOWELS = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """Count groups of vowels, less a silent e at the end; at least 1.

    Examples
    --------
    >>> [syllables(word) for word in ("smile", "table", "lighting", "posture", "the", "raised")]
    [1, 2, 2, 2, 1, 2]
    """
    lower = word.lower()
    groups = len(_VOWELS.findall(lower))
    silent = lower.endswith("e") and not lower.endswith(("ee", "ie", "oe", "ye"))
    if lower.endswith("le") and lower[-3:-2] not in tuple("aeiouy"):
        silent = False
    return max(1, groups - silent)


def readability(text: str) -> float:
    """Return the Flesch-Kincaid grade ``0.39 words/sentences + 11.8 syllables/words - 15.59`` (Kincaid et al. 1975).

    Parameters
    ----------
    text
        English; the first 1,200 characters count.

    Returns
    -------
    float
        School grade; about -3 for the simplest text, no upper limit. 0 for a text without words.
    """
    words = words_of(text)
    if not words:
        return 0.0
    sentences = max(1, sum(any(token[0].isalpha() for token in sentence) for sentence in sentences_of(text)))
    return 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
