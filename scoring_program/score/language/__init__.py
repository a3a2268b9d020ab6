"""Claims from plain English: which cue raised or lowered which target, by the published lexicon and grammar.

Deterministic, without data beyond ``lexicon.yaml``, and linear in the text, of which the first 1,200 characters count.
The rules are in ``docs/language.md`` in plain words.
"""

from __future__ import annotations

from functools import lru_cache

from score.language.claims import ClaimReader
from score.language.items import Item, read_items
from score.language.levels import consistent, stated_levels
from score.language.lexicon import phrase_book
from score.language.phrases import PhraseBook
from score.language.readability import readability
from score.language.tokens import LONGEST_TEXT, sentences_of
from score.language.validity import text_validity
from score.language.vocabulary import Level, LevelStatement, TextClaim, Vocabulary

__all__ = [
    "Level",
    "LevelStatement",
    "TextClaim",
    "Vocabulary",
    "consistent",
    "parse_claims",
    "parse_levels",
    "readability",
    "text_validity",
]


def parse_claims(text: str, vocabulary: Vocabulary) -> tuple[TextClaim, ...]:
    """Return what a text claims: each cue and target at most once, in the order of first mention.

    A cue that is said both to raise and to lower a target is left out: who says both says nothing.

    Parameters
    ----------
    text
        English; the first 1,200 characters count.
    vocabulary
        Cues and targets of the task. Make it once: its phrase book is kept.

    Examples
    --------
    >>> words = Vocabulary(("smile", "gaze"), ("interview", "openness"), "interview")
    >>> parse_claims("A warm smile raised the score, but looking away lowered openness.", words)
    ... # doctest: +NORMALIZE_WHITESPACE
    (TextClaim(cue='smile', target='interview', sign=1), TextClaim(cue='gaze', target='openness', sign=-1))
    """
    reader = ClaimReader(vocabulary)
    for sentence in _items(text[:LONGEST_TEXT], vocabulary):
        reader.read(sentence)
    return reader.claims()


def parse_levels(text: str, vocabulary: Vocabulary) -> tuple[LevelStatement, ...]:
    """Return which targets a text calls low, medium or high, each statement once.

    Examples
    --------
    >>> parse_levels("The interview score is rather high (0.62).", Vocabulary((), ("interview",), "interview"))
    (LevelStatement(target='interview', level='high'),)
    """
    return tuple(
        dict.fromkeys(
            LevelStatement(target, level)
            for target, level in stated_levels(_items(text[:LONGEST_TEXT], vocabulary), vocabulary)
            if target in vocabulary.targets
        )
    )


@lru_cache(maxsize=8)
def _book(vocabulary: Vocabulary) -> PhraseBook:
    return phrase_book(vocabulary)


@lru_cache(maxsize=32)
def _items(text: str, vocabulary: Vocabulary) -> tuple[tuple[Item, ...], ...]:
    """Both parsers read the same items."""
    return tuple(tuple(read_items(tokens, _book(vocabulary))) for tokens in sentences_of(text))
