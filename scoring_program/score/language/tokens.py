"""Cutting a text into sentences and words."""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_TEXT = 1200
"""Characters that are read; what follows is not looked at."""
LONGEST_WORD = 30

_ABBREVIATIONS = {"e.g.": "such as", "i.e.": "namely", "etc.": "", "vs.": "versus", "approx.": "about"}
_CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_ENDINGS = {"n't": " not", "'d": " would", "'ve": " have", "'ll": " will", "'re": " are", "'m": " am"}
_IS = frozenset(["it's", "that's", "what's", "there's", "he's", "she's", "who's"])
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "«": '"', "»": '"', "…": ".", "\t": " ", "\r": "\n"}
)
_DASH = re.compile(r"[–—]| - |--")
_BULLET = re.compile(r"\n[ ]?(?:[-*•·]|\n)")
_QUOTE = re.compile(r'"([^"]{0,200})"')
_TOKEN = re.compile(r"[+-]?\d+(?:[.,]\d+)?%?|[a-z]+(?:'[a-z]+)?|[.!?;:,()\"]")
STOPS = frozenset(".!?;")


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are written, at most the first 1,200 characters of it."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text[:LONGEST_TEXT])


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Cut a text into sentences of lower-case tokens.

    Contractions are written out, hyphens part words, and quotations of more than three words are left out: what a
    person in the clip says is no claim. Only the first 1,200 characters are read.
    """
    return _cut(text[:LONGEST_TEXT])


@lru_cache(maxsize=8)  # the validity, the grade and both parsers read the same text
def _cut(text: str) -> tuple[tuple[str, ...], ...]:
    plain = text.translate(_PLAIN).lower()
    for short, long in _ABBREVIATIONS.items():
        plain = plain.replace(short, long)
    plain = _QUOTE.sub(lambda found: f" {found[1]} " if len(found[1].split()) <= 3 else " quotation ", plain)
    plain = _BULLET.sub(". ", plain)
    plain = _DASH.sub(" , ", plain)
    plain = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)
    sentences: list[list[str]] = [[]]
    for word in _TOKEN.findall(plain):
        if word in STOPS:
            if sentences[-1]:
                sentences.append([])
        elif word != '"':
            sentences[-1] += _written_out(word)
    return tuple(tuple(sentence) for sentence in sentences if sentence)


def _written_out(word: str) -> list[str]:
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
