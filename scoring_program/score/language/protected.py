"""Protected attributes that a text names: sex, age, ethnicity, religion, disability, sexual orientation.

It feeds a warning and no score, so it would rather miss one than cry wolf: "a black jacket" is no ethnicity. What
counts where is written in ``protected.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from score.language.tokens import LONGEST_TEXT, sentences_of

PATH = Path(__file__).with_name("protected.yaml")
_MOST_BETWEEN = 2
_POSSESSIVE = "'s"

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """One protected attribute that a text names."""

    attribute: str
    """Such as ``age``, one of `attributes`."""
    words: str
    """The words that name it, as the list has them, such as ``years old``."""


@dataclass(frozen=True)
class _Attribute:
    """The phrases of one attribute; ``protected.yaml`` says what counts where."""

    name: str
    always: frozenset[Phrase]
    of_people: frozenset[Phrase]
    owned: frozenset[Phrase]
    names: frozenset[Phrase]
    exceptions: frozenset[Phrase]


@dataclass(frozen=True)
class _Lists:
    """All of ``protected.yaml``."""

    attributes: tuple[_Attribute, ...]
    people: frozenset[str]
    subjects: frozenset[str]
    copulas: frozenset[str]
    adverbs: frozenset[str]
    between: frozenset[str]
    ends: frozenset[str]
    owners: frozenset[str]
    reasons: frozenset[Phrase]
    denials: frozenset[str]


def attributes() -> tuple[str, ...]:
    """Name the attributes that are looked for."""
    return tuple(attribute.name for attribute in _lists().attributes)


def named_attributes(text: str) -> tuple[Named, ...]:
    """Return the protected attributes that a text names, each once, in the order of `attributes`.

    Parameters
    ----------
    text
        English; the first 1,200 characters count, and quotations of more than three words do not.

    Examples
    --------
    >>> named_attributes("The young woman in the black jacket smiles, so the score is high.")
    (Named(attribute='sex or gender', words='woman'), Named(attribute='age', words='young'))
    >>> named_attributes("A warm smile and a black jacket raised the score.")
    ()
    """
    sentences = [tuple(map(_bare, tokens)) for tokens in sentences_of(text[:LONGEST_TEXT])]
    found = []
    for attribute in _lists().attributes:
        words = next((words for tokens in sentences for words in _named_in(tokens, attribute)), None)
        if words:
            found.append(Named(attribute.name, words))
    return tuple(found)


def _named_in(tokens: Phrase, attribute: _Attribute) -> Iterator[str]:
    lists = _lists()
    denied = not lists.denials.isdisjoint(tokens)
    for start in range(len(tokens)):
        if _at(tokens, start, attribute.exceptions) or (start and _at(tokens, start - 1, attribute.exceptions)):
            continue
        for phrases, counts in (
            (attribute.always, True),
            (attribute.names, not denied),
            (attribute.of_people, None),
            (attribute.owned, not denied and _is_owned(tokens, start)),
        ):
            phrase = _at(tokens, start, phrases)
            if phrase and (counts or (counts is None and _is_of_a_person(tokens, start, start + len(phrase)))):
                yield " ".join(phrase)


def _is_of_a_person(tokens: Phrase, start: int, end: int) -> bool:
    """Tell whether an adjective stands before a person, or is said of one."""
    lists = _lists()
    after = end
    while after < min(end + _MOST_BETWEEN, len(tokens)) and tokens[after] in lists.between | _adjectives():
        after += 1
    if after < len(tokens) and tokens[after] in lists.people:
        return True
    before = start - 1
    while before >= 0 and (tokens[before] in lists.adverbs or tokens[before].isdecimal()):
        before -= 1
    said = before >= 1 and tokens[before] in lists.copulas and tokens[before - 1] in lists.people | lists.subjects
    return said and (end == len(tokens) or tokens[end] in lists.ends)


def _is_owned(tokens: Phrase, start: int) -> bool:
    lists = _lists()
    before = tokens[start - 1] if start else ""
    if before in lists.owners or before in lists.people:
        return True
    # "due to the age", "because of age"
    end = start - 1 if before == "the" else start
    return any(tokens[max(0, end - len(reason)) : end] == reason for reason in lists.reasons)


def _at(tokens: Phrase, start: int, phrases: frozenset[Phrase]) -> Phrase | None:
    """Give the longest phrase that begins at a place."""
    pieces = (tokens[start : start + length] for length in range(_longest(phrases), 0, -1))
    return next((piece for piece in pieces if piece in phrases), None)


@cache
def _longest(phrases: frozenset[Phrase]) -> int:
    return max((len(phrase) for phrase in phrases), default=0)


def _bare(token: str) -> str:
    return token.removesuffix(_POSSESSIVE) if token not in _lists().owners else token


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(phrase[0] for attribute in _lists().attributes for phrase in attribute.of_people)


@cache
def _lists() -> _Lists:
    # A base loader knows nothing but text: to YAML's other loaders "no" is a truth value.
    data = yaml.load(PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    words = {key: frozenset(data[key]) for key in _WORDS}
    found = tuple(
        _Attribute(
            name=name,
            always=_phrases(entry["always"]),
            of_people=_phrases(entry["of_people"]),
            owned=_phrases(entry["owned"]),
            names=_phrases(entry["names"]),
            exceptions=_phrases(entry["except"]),
        )
        for name, entry in data["attributes"].items()
    )
    return _Lists(attributes=found, reasons=_phrases(data["reasons"]), **words)


_WORDS = ("people", "subjects", "copulas", "adverbs", "between", "ends", "owners", "denials")


def _phrases(texts: Sequence[str]) -> frozenset[Phrase]:
    return frozenset(tuple(text.split()) for text in texts)
