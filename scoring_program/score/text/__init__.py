"""Claims from plain English: which cue raised or lowered which target, by the published lexicon and a few rules.

The reader is deterministic, needs no data but ``lexicon.yaml``, and takes linear time. It reads the first 1,200
characters. ``docs/language.md`` explains the rules in plain words.
"""

from dataclasses import dataclass

from score.text.claims import ClaimReader, Level, LevelStatement, TextClaim, consistent, sentences, stated_levels
from score.text.phrases import LONGEST_TEXT, Vocabulary, placed_sentences
from score.text.validity import readability, text_validity

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


@dataclass(frozen=True)
class Mention:
    """A stretch of a text that names a cue."""

    start: int
    """First character."""
    end: int
    """One past the last character."""
    cue: str
    """One of the vocabulary's cues."""


def parse_claims(text: str, vocabulary: Vocabulary) -> tuple[TextClaim, ...]:
    """Return what a text claims: each cue and target at most once, in the order of first mention.

    A cue that is claimed both to raise and to lower a target is left out.

    `text`: English; the first 1,200 characters count. `vocabulary`: cues and targets of the task. Create it once,
    because its phrase book is cached.

    >>> words = Vocabulary(("smile", "gaze"), ("interview", "openness"), "interview")
    >>> parse_claims("A warm smile raised the score, but looking away lowered openness.", words)
    ... # doctest: +NORMALIZE_WHITESPACE
    (TextClaim(cue='smile', target='interview', sign=1), TextClaim(cue='gaze', target='openness', sign=-1))
    """
    reader = ClaimReader(vocabulary)
    for sentence in sentences(text, vocabulary):
        reader.read(sentence)
    return reader.claims()


def parse_levels(text: str, vocabulary: Vocabulary) -> tuple[LevelStatement, ...]:
    """Return which targets a text calls low, medium or high, each statement once.

    >>> parse_levels("The interview score is rather high (0.62).", Vocabulary((), ("interview",), "interview"))
    (LevelStatement(target='interview', level='high'),)
    """
    stated = dict.fromkeys(stated_levels(sentences(text, vocabulary), vocabulary))
    return tuple(statement for statement in stated if statement.target in vocabulary.targets)


def cue_mentions(text: str, vocabulary: Vocabulary) -> tuple[Mention, ...]:
    """Return where a text names cues, as the parser of claims reads it, in the order of the text; none overlap.

    >>> cue_mentions("Her warm smile helped.", Vocabulary(("smile",), ("interview",), "interview"))
    (Mention(start=9, end=14, cue='smile'),)
    """
    text = text[:LONGEST_TEXT]
    return tuple(
        Mention(sentence.places[item.start][0], sentence.places[item.end - 1][1], item.meaning.value)
        for sentence, items in zip(placed_sentences(text), sentences(text, vocabulary), strict=True)
        for item in items
        if item.kind == "cue" and item.meaning.value in vocabulary.cues
    )
