"""Protected attributes that a text names: sex, age, ethnicity, religion, disability, sexual orientation.

They cause a warning and affect no score, so the search prefers misses to false alarms: "a black jacket" names none.
The words and rules are in ``protected.yaml``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from score.text.phrases import LONGEST_TEXT, sentences_of

PATH = Path(__file__).with_name("protected.yaml")
_MOST_BETWEEN = 2
_POSSESSIVE = "'s"

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class NamedAttribute:
    """One protected attribute that a text names."""

    attribute: str
    """One of `attributes`, such as ``age``."""
    words: str
    """The words that name it, as listed, such as ``years old``."""


def attributes() -> tuple[str, ...]:
    """Return the names of all attributes."""
    return tuple(_attributes())


def named_attributes(text: str) -> tuple[NamedAttribute, ...]:
    """Return the protected attributes that a text names, each once, in the order of `attributes`.

    `text`: English; the first 1,200 characters count, and quotations of more than three words do not.

    >>> named_attributes("The young woman in the black jacket smiles, so the score is high.")
    (NamedAttribute(attribute='sex or gender', words='woman'), NamedAttribute(attribute='age', words='young'))
    >>> named_attributes("A warm smile and a black jacket raised the score.")
    ()
    """
    sentences = [tuple(map(_bare, tokens)) for tokens in sentences_of(text[:LONGEST_TEXT])]
    named = []
    for name in _attributes():
        words = next((words for tokens in sentences for words in _named_in(tokens, name)), None)
        if words:
            named.append(NamedAttribute(name, words))
    return tuple(named)


def _named_in(tokens: Phrase, name: str) -> Iterator[str]:
    attribute, beginnings = _attributes()[name], _beginnings(name)
    denied = not _words("denials").isdisjoint(tokens)
    for start in (index for index, token in enumerate(tokens) if token in beginnings):
        if any(_at(tokens, index, attribute["except"]) for index in (start, start - 1) if index >= 0):
            continue
        for kind, phrases in attribute.items():
            phrase = _at(tokens, start, phrases)
            if phrase and (
                kind == "always"
                or (kind == "names" and not denied)
                or (kind == "of_people" and _is_of_a_person(tokens, start, start + len(phrase)))
                or (kind == "owned" and not denied and _is_owned(tokens, start))
            ):
                yield " ".join(phrase)


def _is_of_a_person(tokens: Phrase, start: int, end: int) -> bool:
    """Tell whether an adjective precedes or describes a person."""
    after = end
    while after < min(end + _MOST_BETWEEN, len(tokens)) and tokens[after] in _words("between") | _adjectives():
        after += 1
    if after < len(tokens) and tokens[after] in _words("people"):
        return True
    before = start - 1
    while before >= 0 and (tokens[before] in _words("adverbs") or tokens[before].isdecimal()):
        before -= 1
    described = (
        before >= 1
        and tokens[before] in _words("copulas")
        and tokens[before - 1] in _words("people") | _words("subjects")
    )
    return described and (end == len(tokens) or tokens[end] in _words("ends"))


def _is_owned(tokens: Phrase, start: int) -> bool:
    before = tokens[start - 1] if start else ""
    if before in _words("owners") or before in _words("people"):
        return True
    # "due to the age", "because of age"
    end = start - 1 if before == "the" else start
    return any(tokens[max(0, end - len(reason)) : end] == reason for reason in _phrases(_data()["reasons"]))


def _at(tokens: Phrase, start: int, phrases: frozenset[Phrase]) -> Phrase | None:
    """Return the longest phrase that begins at a place."""
    longest = _longest(phrases).get(tokens[start], 0)
    pieces = (tokens[start : start + length] for length in range(longest, 0, -1))
    return next((piece for piece in pieces if piece in phrases), None)


@cache
def _beginnings(name: str) -> frozenset[str]:
    return frozenset(first for phrases in _attributes()[name].values() for first, *_ in phrases)


@cache
def _longest(phrases: frozenset[Phrase]) -> dict[str, int]:
    """Return the number of words of the longest phrase, by its first word."""
    return {first: max(len(phrase) for phrase in phrases if phrase[0] == first) for first, *_ in phrases}


def _bare(token: str) -> str:
    return token.removesuffix(_POSSESSIVE) if token not in _words("owners") else token


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(phrase[0] for attribute in _attributes().values() for phrase in attribute["of_people"])


@cache
def _attributes() -> dict[str, dict[str, frozenset[Phrase]]]:
    """Return the phrases of every attribute; ``protected.yaml`` says what counts where."""
    return {
        name: {kind: _phrases(texts) for kind, texts in entry.items()} for name, entry in _data()["attributes"].items()
    }


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_data()[name])


@cache
def _data() -> dict[str, Any]:
    # A base loader reads only text; YAML's other loaders read "no" as a boolean.
    data: dict[str, Any] = yaml.load(PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    return data


def _phrases(texts: Sequence[str]) -> frozenset[Phrase]:
    return frozenset(tuple(text.split()) for text in texts)
