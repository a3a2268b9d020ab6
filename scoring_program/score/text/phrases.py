"""Cut a text into sentences and words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

LONGEST_TEXT = 1200
"""Characters that are read; the rest is ignored."""
LONGEST_WORD = 30

_SIGNS = {
    "e.g.": "such as",
    "i.e.": "namely",
    "etc.": "",
    "vs.": "versus",
    "approx.": "about",
    "avg": "average",
    "avg.": "average",
} | {
    "\x01": "quotation",
    "\x02": ",",
    "↑": "+",
    "↓": "-",
    "/": ",",
    "|": ",",
    "&": "and",
    "=": ":",
    "b/c": "because",
    "w/o": "without",
    "w/": "with",
    "→": "so",
    "->": "so",
    "=>": "so",
    "<-": "because",
    "<<": "because",
}
_CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_ENDINGS = {"n't": " not", "'d": " would", "'ve": " have", "'ll": " will", "'re": " are", "'m": " am"}
_IS = frozenset(["it's", "that's", "what's", "there's", "he's", "she's", "who's"])
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "«": '"', "»": '"', "…": ".", "\t": " ", "\r": "\n", "İ": "i"}
    | {"−": "-", "\x01": " ", "\x02": " ", "[": "(", "]": ")", "⇒": "→", "➜": "→"}
    | {"▲": "↑", "▼": "↓", "⇧": "↑", "⇩": "↓"}
)
_QUOTATION, _PAUSE = "\x01", "\x02"
"""Stand for a quotation and a dash in plain text, which keeps the position of every character."""
_DASH = re.compile(r"[–—](?!\d)|(?<![,:(]) - |(?<=[a-z0-9)])--|(?<=[a-z0-9)] )--(?=[ a-z])")
_SHORT = re.compile(r";(?=(?:\s+[+\w'-]+(?:\.\d+)?){1,3}\s*(?:[;!?]|\.(?!\d)|$))")
_ASKED = re.compile(r"(\b(?:what|why|which)\b[^.?!:;]{0,60})\?(?=\s+\w)")
_ASIDE = re.compile(r", as (?:i|we|you|one|people|most|expected|usual)\b[^,.;:]{0,40},")
_BULLET = re.compile(r"\n[ ]?(?:[-*•·]|\n)")
_QUOTE = re.compile(r'"([^"]{0,200})"')
_TOKEN = re.compile(
    r"[-=]>|<[-<]|→|b/c|w/o|w/|=|e\.g\.|i\.e\.|(?:etc|vs|approx|avg)\.|(?:(?<![\w.])[+–-])?(?:\d+(?:[.,]\d+)?|(?<!\w)\.\d+)%?|[a-z]+(?:'[a-z]+)?"
    r"|\++|(?<=[\s,(])-+(?=[a-z])|(?:(?<=[a-z,:] )|(?<=[(=]))-+(?=[\s.,:;)]|$)|[.!?;:,()&|↑↓\x01\x02]|(?<=\s)/(?=\s)"
)
STOPS = frozenset(".!?;")


def words_of(text: str) -> list[str]:
    """Return the original words of the first 1,200 characters of a text."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text[:LONGEST_TEXT])


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence and their places in the text."""

    tokens: tuple[str, ...]
    """n words, numbers and signs in lower case."""
    places: tuple[tuple[int, int], ...]
    """n pairs of the first character and one past the last; tokens of an expanded contraction share a place."""


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Cut a text into sentences of lower-case tokens.

    Contractions are expanded, hyphens separate words, and quotations of more than three words are left out: what a
    person in the clip says is not a claim. Only the first 1,200 characters are read.
    """
    return tuple(sentence.tokens for sentence in placed_sentences(text))


def placed_sentences(text: str) -> tuple[Sentence, ...]:
    """Cut a text into sentences like `sentences_of`, and keep the place of each token."""
    return _cut(text[:LONGEST_TEXT])


@lru_cache(maxsize=8)  # validity, school grade and both parsers read the same text
def _cut(text: str) -> tuple[Sentence, ...]:
    tokens: list[str] = []
    places: list[tuple[int, int]] = []
    sentences = []
    for match in _TOKEN.finditer(_plain(text)):
        word = match[0]
        if word in STOPS:
            if tokens:
                sentences.append(Sentence(tuple(tokens), tuple(places)))
            tokens, places = [], []
            continue
        written = _written_out(word)
        tokens += written
        places += [match.span()] * len(written)
    if tokens:
        sentences.append(Sentence(tuple(tokens), tuple(places)))
    return tuple(sentences)


def _plain(text: str) -> str:
    """Convert a text to lower case and plain signs of equal length, so that every character keeps its place."""
    plain = text.translate(_PLAIN).lower()
    plain = _ASIDE.sub(lambda match: " " * len(match[0]), plain)
    plain = _ASKED.sub(lambda match: match[1] + ":", plain)
    plain = _QUOTE.sub(
        lambda match: f" {match[1]} " if len(match[1].split()) <= 3 else _QUOTATION.center(len(match[0])), plain
    )
    plain = _SHORT.sub(",", plain)  # "reasons: no eye contact; a flat voice"
    plain = _BULLET.sub(lambda match: ".".ljust(len(match[0])), plain)
    plain = _DASH.sub(lambda match: _PAUSE.center(len(match[0])), plain)
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)


def _written_out(word: str) -> list[str]:
    if word in _SIGNS:
        return _SIGNS[word].split()
    if "'" not in word and word != "cannot":
        return [word[:LONGEST_WORD]]
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word].split()
    if word in _IS:
        return [word[:-2], "is"]
    for ending, long in _ENDINGS.items():
        if word.endswith(ending):
            return (word[: -len(ending)] + long).split()
    return [word[:LONGEST_WORD]]


PATH = Path(__file__).with_name("lexicon.yaml")
_MOST_SMALL_WORDS = 2


@dataclass(frozen=True)
class Vocabulary:
    """The cues and targets of a task."""

    cues: tuple[str, ...]
    """Names of the cues, such as ``speech_rate``."""
    targets: tuple[str, ...]
    """Names of the targets, such as ``emotional_stability``."""
    main: str
    """The target that is meant if a text names none; one of `targets`."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Phrases for each cue, in addition to the lexicon's."""


@dataclass(frozen=True)
class Meaning:
    """The meaning of a phrase."""

    kind: str
    """Kind in the grammar, such as ``cue`` or ``effect``."""
    value: str = ""
    """A cue, a target or a level; empty for words of the grammar."""
    sign: int = 0
    """Sign of an effect, or -1 for the opposite of a target: 1, -1 or 0."""
    weak: bool = False
    """Whether it is a cue that counts only without a strong one nearby, or an adjective for a target."""


@cache
def lexicon() -> dict[str, Any]:
    """Return the lexicon as in ``lexicon.yaml``: every value is text, a list or a mapping."""
    # A base loader reads only text; YAML's other loaders read "no" and "on" as booleans.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data: dict[str, Any] = yaml.load(PATH.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    return data


def spelled_out(phrase: str) -> Iterator[tuple[str, ...]]:
    """Yield every choice of a pattern like "dark|dim room", as words."""
    return product(*(part.split("|") for part in phrase.split()))


class PhraseBook:
    """Phrases and their meanings; the first meaning of a phrase counts."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Arrange the phrases of the lexicon and of the vocabulary for search."""
        words = lexicon()
        self._small = frozenset(words["grammar"]["small"])
        self._by_first: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        self._starting = lru_cache(maxsize=4096)(self._beginning)
        for cue in vocabulary.cues:
            own = () if cue in words["cues"] else (cue.replace("_", " "),)
            self._add([*own, *vocabulary.aliases.get(cue, ())], Meaning("cue", cue))
        for cue, phrases in words["cues"].items():
            self._add(phrases["strong"], Meaning("cue", cue))
        for target in vocabulary.targets:
            name = target.replace("_", " ")
            self._add([name, f"{name} score|rating|value|estimate|prediction|result"], Meaning("target", target, 1))
        for target, phrases in words["targets"].items():
            for sign, prefix in ((1, ""), (-1, "opposite_")):
                self._add(phrases[f"{prefix}nouns"], Meaning("target", target, sign))
                self._add(phrases[f"{prefix}adjectives"], Meaning("target", target, sign, weak=True))
        for head, phrases in words["grammar"].items():
            kind, *rest = head.split()
            value = next((word for word in rest if word.isalpha()), "")
            self._add(phrases, Meaning(kind, value, {"+": 1, "-": -1}.get(head[-1], 0)))
        for cue, phrases in words["cues"].items():
            self._add(phrases["weak"], Meaning("cue", cue, weak=True))

    def _add(self, phrases: Sequence[str], meaning: Meaning) -> None:
        for phrase in phrases:
            for first, *rest in spelled_out(phrase.lower()):
                self._by_first.setdefault(first, []).append((tuple(rest), meaning))

    def find(self, words: Sequence[str], start: int) -> tuple[Meaning, int] | None:
        """Return the meaning of the longest phrase that begins at word `start`, and the word after it, or None."""
        for rest, meaning in self._starting(words[start]):
            if end := self._end(words, start + 1, rest):
                return meaning, end
        return None

    def _beginning(self, word: str) -> tuple[tuple[tuple[str, ...], Meaning], ...]:
        """Return what may follow a word, and what it then means: most words first, and whole words before stems."""
        stems = [f"{word[:length]}*" for length in range(len(word), 1, -1)]
        found = [phrase for first in (word, *stems) for phrase in self._by_first.get(first, ())]
        return tuple(sorted(found, key=lambda phrase: -len(phrase[0])))

    def _end(self, words: Sequence[str], at: int, rest: Sequence[str]) -> int:
        """Return the index after a phrase whose other words are `rest`; 0 if it is not there."""
        for part in rest:
            passed = 0
            while at < len(words) and not (
                words[at].startswith(part[:-1]) if part.endswith("*") else words[at] == part
            ):
                if passed == _MOST_SMALL_WORDS or words[at] not in self._small:
                    return 0
                at, passed = at + 1, passed + 1
            at += 1
        return at if at <= len(words) else 0


@lru_cache(maxsize=8)
def phrase_book(vocabulary: Vocabulary) -> PhraseBook:
    """Return the book of a vocabulary, made once."""
    return PhraseBook(vocabulary)
