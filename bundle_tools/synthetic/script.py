"""What a drawn person says and how it sounds, and what people would say about the clip."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.person import CAUSAL, NEUTRAL, WORD_STEPS, Cast, Cues, stream

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
        return tuple(adjective.middle_s for adjective in self.adjectives if adjective.level)


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
    sentences, middles, syllable = [], [], 0
    for gap, (clause, adjective) in enumerate(zip(clauses, adjectives, strict=True)):
        sentences.append(" ".join([*(phrase for phrase, _ in fillers[gap::GAPS]), clause.format(adjective)]))
        syllable += sum(size for _, size in fillers[gap::GAPS]) + 4
        middles.append(syllable - 1)
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
    likely = np.array([(0.5 if abs(rest + step) == ends else 1.0) / ways[rest + step] for step in levels])
    below = np.cumsum(likely / likely.sum())
    rung = levels.index(level)
    rank = below[rung] - random.uniform() * likely[rung] / likely.sum()
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


RATE = 24000
"""Samples a second."""

# Centres of the first three formants of a few vowels, Hz.
_VOWELS = (
    (300, 2250, 3000),
    (400, 2000, 2600),
    (600, 1750, 2500),
    (750, 1200, 2500),
    (500, 900, 2400),
    (350, 800, 2300),
)
_BANDWIDTHS = (90.0, 130.0, 200.0)
_CONTROL_S = 0.02
"""Seconds between two positions of the mouth."""


def envelope(script: Script, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how loud the voice is at each time, in [0, 1]: one raised cosine a syllable."""
    level = np.zeros_like(times)
    for onset in script.onsets:
        first, last = np.searchsorted(times, (onset, onset + script.length_s))
        phase = (times[first:last] - onset) / script.length_s
        level[first:last] = np.maximum(level[first:last], np.sin(np.pi * phase) ** 0.8)
    return level


def speak(seed: int, cast: Cast, script: Script, duration_s: float) -> NDArray[np.float32]:
    """Return the sound of a clip, mono, in [-1, 1], ``RATE`` samples a second."""
    random = stream(seed, "voice")
    times = np.arange(round(duration_s * RATE)) / RATE
    wander = np.interp(times, np.linspace(0, duration_s, 9), random.normal(0, 0.06, 9))
    pitch = cast.pitch_hz * (1 + wander - 0.02 * times)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    coarse = np.linspace(0, duration_s, 26)
    vowels = np.array(_VOWELS, dtype=float)
    formants = cast.tract * vowels[random.integers(len(_VOWELS), size=26)]
    control = np.linspace(0, duration_s, round(duration_s / _CONTROL_S) + 1)
    tracks = [np.interp(control, coarse, formants[:, i]) for i in range(3)]
    for adjective in script.adjectives:  # a word sounds the same whenever it is said
        first, second = cast.tract * vowels[stream(0, adjective.word).integers(len(_VOWELS), size=2)]
        during = (control >= adjective.start_s) & (control < adjective.end_s)
        for i in range(3):
            tracks[i][during] = np.where(control[during] < adjective.middle_s, first[i], second[i])
    voiced = np.zeros_like(times)
    for harmonic in range(1, int(3600 / cast.pitch_hz)):
        frequency = harmonic * cast.pitch_hz
        gain = sum(
            1 / (1 + ((frequency - track) / width) ** 2) for track, width in zip(tracks, _BANDWIDTHS, strict=True)
        )
        voiced += np.interp(times, control, gain / harmonic**0.6) * np.sin(harmonic * phase)
    level = envelope(script, times)
    breath = random.normal(0, 1, times.size)
    attack = np.clip(np.gradient(level, times) / 40, 0, 1)
    sound = level * voiced / np.abs(voiced).max() + 0.05 * attack * breath + 0.001 * breath
    return np.asarray(0.5 * sound / np.abs(sound).max(), np.float32)


# By cue: phrases for little and for much of it, used at the start of a sentence or after "by".
_PHRASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "smile": (
        ("the lack of a smile", "the missing smile", "a sad mouth", "the drooping corners of the mouth"),
        ("a broad smile", "the open smile", "the wide smile", "the smile"),
    ),
    "gaze": (
        ("the averted gaze", "a gaze that wanders off", "the lack of eye contact", "looking away from the camera"),
        ("the steady gaze", "good eye contact", "a gaze into the camera", "looking into the camera"),
    ),
    "motion": (
        ("the lack of gestures", "little motion", "sitting still", "the few gestures"),
        ("lively gestures", "the gestures", "the large gesture", "much motion"),
    ),
    "posture": (
        ("the slouched posture", "a slumped posture", "the tilted shoulders", "slouching"),
        ("the upright posture", "an upright posture", "the level shoulders", "sitting upright"),
    ),
    "lighting": (
        ("the dim lighting", "dim light", "the poor lighting", "the dark picture"),
        ("the bright lighting", "bright light", "the good lighting", "the bright picture"),
    ),
    "framing": (
        ("the distant framing", "a wide framing", "the distance from the camera", "sitting far from the camera"),
        ("the close framing", "a close-up framing", "the closeness to the camera", "sitting close to the camera"),
    ),
    "speech_rate": (
        ("the slow speech", "a slow pace of speech", "slow speech", "speaking slowly"),
        ("the fast speech", "a fast pace of speech", "fast speech", "speaking fast"),
    ),
    "words": (
        ("the gloomy words", "negative words", "the gloomy choice of words", "negative wording"),
        ("the cheerful words", "positive words", "the bright choice of words", "positive wording"),
    ),
}
_RAISED = ("raised", "lifted", "increased", "boosted", "pushed up", "improved")
_LOWERED = ("lowered", "reduced", "decreased", "hurt", "pulled down", "weakened")
_PASSIVE = {1: ("raised", "lifted", "increased", "boosted"), -1: ("lowered", "reduced", "decreased", "weakened")}
_LOW, _HIGH = 0.45, 0.55
"""Labels below are low, labels above high, those between medium."""


def paraphrases(cue: str, *, much: bool, sign: int, score: str) -> list[str]:
    """Return every wording of one statement, each without its full stop.

    `much`: whether there is more of it than neutral. `sign`: 1 if it raised the score, -1 if it lowered it.
    """
    phrases = _PHRASES[cue][much]
    verbs = _RAISED if sign > 0 else _LOWERED
    active = [f"{_capital(phrase)} {verb} {score}" for phrase, verb in product(phrases, verbs)]
    return active + [f"{_capital(score)} was {verb} by {phrase}" for phrase, verb in product(phrases, _PASSIVE[sign])]


def explain(
    cues: Cues, shares: Mapping[str, float], label: float, score: str, random: np.random.Generator
) -> list[str]:
    """Return two true texts about a clip's score, differently worded.

    `label`: the score, in [0, 1].
    """
    level = "low" if label < _LOW else "high" if label > _HIGH else "medium"
    strongest = sorted(CAUSAL, key=lambda cue: -abs(shares[cue]))[:2]
    texts = []
    for _ in range(2):
        sentences = [f"{_capital(score)} is {level}"]
        for cue in strongest:
            sign = 1 if shares[cue] > 0 else -1
            wordings = paraphrases(cue, much=getattr(cues, cue) > NEUTRAL, sign=sign, score=score)
            sentences.append(wordings[random.integers(len(wordings))])
        texts.append(". ".join(sentences) + ".")
    return texts


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
