"""Reading level of a text, in school grades."""

import re
from collections.abc import Sequence
from functools import cache

from score.text.phrases import (
    LONGEST_TEXT,
    LONGEST_WORD,
    PhraseBook,
    Vocabulary,
    lexicon,
    phrase_book,
    sentences_of,
    words_of,
)

_VOWELS = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """Count groups of vowels, less a silent e at the end; at least 1.

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

    `text`: English; the first 1,200 characters count. Returns a school grade; about -3 for the simplest text, no upper
    limit. 0 for a text without words.
    """
    words = words_of(text)
    if not words:
        return 0.0
    sentences = max(1, sum(any(token[0].isalpha() for token in sentence) for sentence in sentences_of(text)))
    return 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


SHORTEST_TEXT = 20
HARDEST_GRADE = 20.0
LEAST_LETTERS = 0.40
LEAST_KNOWN = 0.35

_MARKUP = re.compile(r"https?:|www\.|<[/!a-z]|</?[a-z]+>|\]\(|&[a-z]{2,6};|```", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?%?")


def text_validity(text: str) -> tuple[str, ...]:
    """Return why a text is not a valid explanation; empty if it is valid.

    Only the first 1,200 characters are read, so that a text of any size costs the same.
    """
    reasons = []
    length = len(text)
    text = text[: LONGEST_TEXT + 1]
    bare = text.strip()
    if len(bare) < SHORTEST_TEXT:
        reasons.append(f"shorter than {SHORTEST_TEXT} characters")
    if length > LONGEST_TEXT:
        reasons.append(f"longer than {LONGEST_TEXT:,} characters")
    sentences = sentences_of(text)
    words = words_of(text)
    if not any(len(sentence) >= 3 for sentence in sentences):
        reasons.append("no sentence of at least three words")
    visible = [character for character in bare if not character.isspace()]
    letters = sum(character.isascii() and character.isalpha() for character in visible)
    if letters < LEAST_LETTERS * max(1, len(visible)):
        reasons.append(f"fewer than {LEAST_LETTERS:.0%} of the characters are English letters")
    if _MARKUP.search(text):
        reasons.append("contains a web address or markup")
    if any(len(word) > LONGEST_WORD for word in re.split(r"[\s-]+", text)):
        reasons.append(f"contains a word of more than {LONGEST_WORD} characters")
    if words and _known(sentences) < LEAST_KNOWN:
        reasons.append(f"fewer than {LEAST_KNOWN:.0%} of the words are common words or words of the lexicon")
    # The writer cannot choose shorter names for the targets.
    if words and readability(_target_names().sub("name", text)) > HARDEST_GRADE:
        reasons.append(f"harder to read than school grade {HARDEST_GRADE:.0f}")
    if _NUMBER.sub("#", " ".join(bare.split())).casefold() in _kit_texts():
        reasons.append("copies a text of the starting kit")
    return tuple(reasons)


def _known(sentences: Sequence[Sequence[str]]) -> float:
    """Return the share of words that are function words or belong to a phrase of the lexicon."""
    book, common = _common_words()
    known = total = 0
    for tokens in sentences:
        inside: set[int] = set()
        for index, token in enumerate(tokens):
            if not token[0].isalpha():
                continue
            total += 1
            if index not in inside and token not in common:
                phrase = book.find(tokens, index)
                inside |= set(range(index, phrase[1])) if phrase else set()
            known += token in common or index in inside
    return known / total if total else 0.0


@cache
def _common_words() -> tuple[PhraseBook, frozenset[str]]:
    return phrase_book(Vocabulary((), (), "")), frozenset(lexicon()["function_words"])


@cache
def _kit_texts() -> frozenset[str]:
    return frozenset(text.casefold() for text in lexicon()["kit_texts"])


@cache
def _target_names() -> re.Pattern[str]:
    names = {
        noun for target in lexicon()["targets"].values() for key in ("nouns", "opposite_nouns") for noun in target[key]
    }
    long = sorted((re.escape(name) for name in names if "*" not in name and len(name) > 8), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(long)})\b", re.IGNORECASE)
