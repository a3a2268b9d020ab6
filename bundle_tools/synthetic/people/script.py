"""The spoken words, their syllables and timing."""

from dataclasses import dataclass

import numpy as np

from bundle_tools.synthetic.people.cues import WORD_STEPS
from bundle_tools.synthetic.seeds import stream

# Adjectives by brightness, -2 to 2. All have two syllables: exchanging them leaves every timing as it was.
ADJECTIVES: dict[int, tuple[str, ...]] = {
    2: ("brilliant", "splendid", "thrilling", "joyful", "stunning"),
    1: ("pleasant", "helpful", "cheerful", "friendly", "hopeful"),
    0: ("normal", "common", "simple", "routine", "standard"),
    -1: ("boring", "tiring", "gloomy", "messy", "clumsy"),
    -2: ("dreadful", "awful", "hopeless", "horrid", "ghastly"),
}
# Every clause has two syllables of its own and one gap for an adjective.
_CLAUSES = (
    "work was {}", "life is {}", "school was {}", "my team's {}", "the job's {}", "trips were {}",
    "friends are {}", "home feels {}", "things look {}", "it seems {}",
)  # fmt: skip
_FILLERS: dict[int, tuple[str, ...]] = {
    1: ("well", "so", "now", "then", "yes"),
    2: ("you know", "this year", "at work", "back then", "I think", "for me", "in town", "by now"),
    3: ("in the end", "on most days", "with my friends", "at the time", "as I said", "where I live", "as a rule"),
    4: ("when you ask me", "in the city", "after college", "over the years", "during the week"),
}
GAPS = 3
"""Clauses, and so adjectives, in one clip."""

SLOWEST, FASTEST = 2.7, 6.3
"""Syllables a second at speech rate 0 and 1."""


@dataclass(frozen=True)
class Script:
    """What one clip says."""

    text: str
    onsets: tuple[float, ...]
    """Start of each syllable, seconds."""
    length_s: float
    """Length of a syllable, seconds."""
    telling_s: tuple[float, ...]
    """Middle of each adjective that is brighter or gloomier than neutral, seconds."""


def write_script(seed: int, *, words: float, speech_rate: float, duration_s: float) -> Script:
    """Write a clip's words and timing.

    `words` and `speech_rate`: intensities in [0, 1]. `duration_s`: length of the clip, seconds.
    """
    rate = SLOWEST + (FASTEST - SLOWEST) * speech_rate
    spoken_s = duration_s - 0.4
    syllables = max(round(rate * spoken_s), GAPS * 4)
    levels, adjectives = _adjectives(seed, words)
    clauses = [_CLAUSES[i] for i in stream(seed, "clauses").permutation(len(_CLAUSES))[:GAPS]]
    fillers = _fillers(seed, syllables - GAPS * 4)
    sentences, middles, said = [], [], 0
    for gap, (clause, adjective) in enumerate(zip(clauses, adjectives, strict=True)):
        sentences.append(" ".join([*(phrase for phrase, _ in fillers[gap::GAPS]), clause.format(adjective)]))
        said += sum(size for _, size in fillers[gap::GAPS]) + 4
        middles.append(said - 1)
    text = " ".join(sentence[0].upper() + sentence[1:] + "." for sentence in sentences)
    step = spoken_s / syllables
    jitter = stream(seed, "timing").uniform(-0.12, 0.12, 64)[np.arange(syllables) % 64]
    onsets = 0.2 + step * (np.arange(syllables) + 0.15 + jitter)
    return Script(
        text=text,
        onsets=tuple(float(t) for t in onsets),
        length_s=min(0.85 * step, 0.24),
        telling_s=tuple(float(onsets[middle]) for middle, level in zip(middles, levels, strict=True) if level),
    )


def _adjectives(seed: int, words: float) -> tuple[list[int], list[str]]:
    """Choose `GAPS` adjectives whose brightness adds up to the intensity: from -2 each to 2 each in 12 steps.

    Return the brightness of each and the words.
    """
    total = round(words * WORD_STEPS) - 2 * GAPS
    low, extra = divmod(total, GAPS)
    levels = [low + 1] * extra + [low] * (GAPS - extra)
    order = stream(seed, "gaps").permutation(GAPS)
    picks = stream(seed, "adjectives").permutation(5)[:GAPS]
    placed = [levels[place] for place in order]
    return placed, [ADJECTIVES[level][pick] for level, pick in zip(placed, picks, strict=True)]


def _fillers(seed: int, syllables: int) -> list[tuple[str, int]]:
    """Choose phrases with this many syllables together; a phrase is repeated only after all others of its length.

    Return each with its number of syllables.
    """
    random = stream(seed, "fillers")
    pools = {size: list(random.permutation(words)) for size, words in _FILLERS.items()}
    chosen: list[tuple[str, int]] = []
    while syllables > 0:
        size = int(random.choice([size for size in pools if size <= syllables]))
        phrase = str(pools[size].pop(0))
        pools[size].append(phrase)
        chosen.append((phrase, size))
        syllables -= size
    return chosen
