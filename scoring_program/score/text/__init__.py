"""Claims from plain English: which cue raised or lowered which target, by the published lexicon and grammar.

The parser is deterministic, needs no data but ``lexicon.yaml``, and takes linear time. It reads the first 1,200
characters.
``docs/language.md`` explains the rules in plain words.
"""

from __future__ import annotations

from functools import lru_cache

from score.text.claims import ClaimReader
from score.text.grammar.items import Item, read_items
from score.text.grammar.lexicon import phrase_book
from score.text.grammar.phrases import PhraseBook
from score.text.grammar.regions import named
from score.text.grammar.tokens import LONGEST_TEXT, placed_sentences
from score.text.grammar.vocabulary import Level, LevelStatement, Mention, TextClaim, Vocabulary
from score.text.levels import consistent, stated_levels
from score.text.readability import readability
from score.text.validity import text_validity

__all__ = [
    "Level",
    "LevelStatement",
    "Mention",
    "TextClaim",
    "Vocabulary",
    "consistent",
    "cue_mentions",
    "parse_claims",
    "parse_levels",
    "readability",
    "text_validity",
]


def parse_claims(text: str, vocabulary: Vocabulary) -> tuple[TextClaim, ...]:
    """Return what a text claims: each cue and target at most once, in the order of first mention.

    A cue that is claimed both to raise and to lower a target is left out.

    Parameters
    ----------
    text
        English; the first 1,200 characters count.
    vocabulary
        Cues and targets of the task. Create it once, because its phrase book is cached.

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


def cue_mentions(text: str, vocabulary: Vocabulary) -> tuple[Mention, ...]:
    """Return where a text names cues, as the parser of claims reads it, in the order of the text; none overlap.

    Examples
    --------
    >>> cue_mentions("Her warm smile helped.", Vocabulary(("smile",), ("interview",), "interview"))
    (Mention(start=9, end=14, cue='smile'),)
    """
    text = text[:LONGEST_TEXT]
    found: list[Mention] = []
    for sentence, items in zip(placed_sentences(text), _items(text, vocabulary), strict=True):
        for item in _naming(items):
            if item.value in vocabulary.cues:
                # Words inside a gap ("eyes ... on the camera") belong to other items, so each run is a mention.
                found += [Mention(start, end, item.value) for start, end in _runs(item.tokens, sentence.places)]
    return tuple(sorted(found, key=lambda mention: mention.start))


def _naming(items: tuple[Item, ...]) -> list[Item]:
    """Return the items that name cues, including both words of "upright posture"."""
    counted = {item.tokens for item in (*named(items), *named(items, excluded=True))}
    for one, following in zip(items[-2::-1], items[:0:-1], strict=True):
        if following.tokens in counted and (one.kind, one.value) == (following.kind, following.value):
            counted.add(one.tokens)
    return [item for item in items if item.tokens in counted]


def _runs(tokens: tuple[int, ...], places: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Join consecutive tokens to stretches of the text."""
    runs: list[tuple[int, int]] = []
    for before, token in zip((-2, *tokens), tokens, strict=False):
        start, end = places[token]
        if token == before + 1:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


@lru_cache(maxsize=8)
def _book(vocabulary: Vocabulary) -> PhraseBook:
    return phrase_book(vocabulary)


@lru_cache(maxsize=32)
def _items(text: str, vocabulary: Vocabulary) -> tuple[tuple[Item, ...], ...]:
    """Return the items of a text, which both parsers share."""
    return tuple(tuple(read_items(each.tokens, _book(vocabulary))) for each in placed_sentences(text))
