"""Cut a text into sentences and words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

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
    for found in _TOKEN.finditer(_plain(text)):
        word = found[0]
        if word in STOPS:
            if tokens:
                sentences.append(Sentence(tuple(tokens), tuple(places)))
            tokens, places = [], []
            continue
        written = _written_out(word)
        tokens += written
        places += [found.span()] * len(written)
    if tokens:
        sentences.append(Sentence(tuple(tokens), tuple(places)))
    return tuple(sentences)


def _plain(text: str) -> str:
    """Convert a text to lower case and plain signs of equal length, so that every character keeps its place."""
    plain = text.translate(_PLAIN).lower()
    plain = _ASIDE.sub(lambda found: " " * len(found[0]), plain)
    plain = _ASKED.sub(lambda found: found[1] + ":", plain)
    plain = _QUOTE.sub(_unquoted, plain)
    plain = _SHORT.sub(",", plain)  # "reasons: no eye contact; a flat voice"
    plain = _BULLET.sub(lambda found: ".".ljust(len(found[0])), plain)
    plain = _DASH.sub(lambda found: _PAUSE.center(len(found[0])), plain)
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)


def _unquoted(found: re.Match[str]) -> str:
    return f" {found[1]} " if len(found[1].split()) <= 3 else _QUOTATION.center(len(found[0]))


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
