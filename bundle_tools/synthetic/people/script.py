"""The spoken words, their syllables and timing."""

from collections import Counter
from dataclasses import dataclass
from itertools import product

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
class Adjective:
    """A word that tells something, or would if it were not neutral."""

    word: str
    level: int
    """Brightness, -2 to 2."""
    start_s: float
    middle_s: float
    """When its second syllable begins."""
    end_s: float


@dataclass(frozen=True)
class Script:
    """What one clip says."""

    text: str
    onsets: tuple[float, ...]
    """Start of each syllable, seconds."""
    length_s: float
    """Length of a syllable, seconds."""
    adjectives: tuple[Adjective, ...]
    """One of each clause, in order."""

    @property
    def telling_s(self) -> tuple[float, ...]:
        """Middle of each adjective that is brighter or gloomier than neutral, seconds."""
        return tuple(one.middle_s for one in self.adjectives if one.level)


def write_script(seed: int, *, words: float, speech_rate: float, duration_s: float, other: int | None = None) -> Script:
    """Write a clip's words and timing.

    `words` and `speech_rate`: intensities in [0, 1]. `duration_s`: length of the clip, seconds. `other`: number of the
    clause whose adjective is exchanged for its counterpart; None for none.
    """
    rate = SLOWEST + (FASTEST - SLOWEST) * speech_rate
    spoken_s = duration_s - 0.4
    syllables = max(round(rate * spoken_s), GAPS * 4)
    levels, adjectives = _adjectives(seed, words, other)
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
    length_s = min(0.85 * step, 0.24)
    spoken = [
        Adjective(word, level, float(onsets[at - 1]), float(onsets[at]), float(onsets[at]) + length_s)
        for word, level, at in zip(adjectives, levels, middles, strict=True)
    ]
    return Script(text, tuple(float(t) for t in onsets), length_s, tuple(spoken))


def _adjectives(seed: int, words: float, other: int | None) -> tuple[list[int], list[str]]:
    """Choose `GAPS` adjectives whose brightness adds up to the intensity: from -2 each to 2 each in 12 steps.

    All ways to do so are equally likely. Return the brightness of each and the words.
    """
    total = round(words * WORD_STEPS) - 2 * GAPS
    ways = [way for way in product(ADJECTIVES, repeat=GAPS) if sum(way) == total]
    levels = list(ways[stream(seed, "gaps").integers(len(ways))])
    picks = stream(seed, "adjectives").permutation(5)[: GAPS + 1].tolist()
    if other is not None:
        levels[other] = _counterpart(levels[other], total - levels[other], stream(seed, "other words"))
        picks[other] = picks[GAPS]
    return levels, [ADJECTIVES[level][pick] for level, pick in zip(levels, picks[:GAPS], strict=True)]


def _counterpart(level: int, rest: int, random: np.random.Generator) -> int:
    """Return the brightness that is as far from the ordinary on the other side.

    Its rank among all adjectives that go with the others is reversed, so exchanged clips have the same distribution as
    all clips.

    `rest`: sum of the other adjectives' brightness.
    """
    levels = sorted(ADJECTIVES)
    ends = 2 * GAPS
    ways = Counter(map(sum, product(levels, repeat=GAPS)))
    # The intensity is rounded to steps, so the two ends are half as likely as every other total.
    likely = np.array([(0.5 if abs(rest + one) == ends else 1.0) / ways[rest + one] for one in levels])
    below = np.cumsum(likely / likely.sum())
    place = levels.index(level)
    rank = below[place] - random.uniform() * likely[place] / likely.sum()
    return levels[min(int(np.searchsorted(below, 1 - rank)), len(levels) - 1)]


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
