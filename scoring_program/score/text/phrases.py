"""The published lexicon, and the search for its phrases in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

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
        word = words[start]
        best: tuple[tuple[int, int], Meaning, int] | None = None
        for length in range(2, len(word) + 2):
            first = word if length > len(word) else f"{word[:length]}*"
            for rest, meaning in self._by_first.get(first, ()):
                end = self._end(words, start + 1, rest)
                rank = (len(rest), length)
                if end and (best is None or rank > best[0]):
                    best = rank, meaning, end
        return best and best[1:]

    def _end(self, words: Sequence[str], at: int, rest: Sequence[str]) -> int:
        """Return the index after a phrase whose other words are `rest`; 0 if it is not there."""
        for part in rest:
            passed = 0
            while at < len(words) and not _fits(words[at], part):
                if passed == _MOST_SMALL_WORDS or words[at] not in self._small:
                    return 0
                at, passed = at + 1, passed + 1
            at += 1
        return at if at <= len(words) else 0


def _fits(word: str, part: str) -> bool:
    return word.startswith(part[:-1]) if part.endswith("*") else word == part


@lru_cache(maxsize=8)
def phrase_book(vocabulary: Vocabulary) -> PhraseBook:
    """Return the book of a vocabulary, made once."""
    return PhraseBook(vocabulary)
