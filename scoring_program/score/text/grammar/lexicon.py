"""The published lexicon of phrases and their meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from score.text.grammar.phrases import Meaning, PhraseBook
from score.text.grammar.vocabulary import Vocabulary

PATH = Path(__file__).with_name("lexicon.yaml")
IT = "it"
GENERIC = "generic"
MAIN = "main"
FORMER = "former"
LATTER = "latter"
ALL = "all"
TRAITS = "traits"
MOVES = "moves"
LIST = "list"
NOTE = "note"
CHANGE = "change"
OVER = "over"
EVEN = "even"
LIKES = "likes"
WEAKENS = "weakens"


@cache
def lexicon() -> dict[str, Any]:
    """Return the lexicon as in ``lexicon.yaml``: every value is text, a list or a mapping."""
    # A base loader reads only text; YAML's other loaders read "no" and "on" as booleans.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data: dict[str, Any] = yaml.load(PATH.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    return data


def phrase_book(vocabulary: Vocabulary) -> PhraseBook:
    """Arrange the phrases of the lexicon, of the vocabulary's names and of its aliases for search."""
    words = lexicon()
    book = PhraseBook(words["grammar"]["small"])
    for cue in vocabulary.cues:
        own = () if cue in words["cues"] else (cue.replace("_", " "),)
        _add(book, [*own, *vocabulary.aliases.get(cue, ())], Meaning("cue", cue))
    for cue, phrases in words["cues"].items():
        _add(book, phrases["strong"], Meaning("cue", cue))
    for target in vocabulary.targets:
        name = target.replace("_", " ")
        _add(book, [name, f"{name} score", f"{name} rating"], Meaning("target", target, 1))
    for target, phrases in words["targets"].items():
        _add(book, phrases["nouns"], Meaning("target", target, 1))
        _add(book, phrases["opposite_nouns"], Meaning("target", target, -1))
        _add(book, phrases["adjectives"], Meaning("target", target, 1, weak=True))
        _add(book, phrases["opposite_adjectives"], Meaning("target", target, -1, weak=True))
    for head, phrases in words["grammar"].items():
        kind, *rest = head.split()
        value = next((word for word in rest if word.isalpha()), "")
        _add(book, phrases, Meaning(kind, value, {"+": 1, "-": -1}.get(head[-1], 0)))
    for cue, phrases in words["cues"].items():
        _add(book, phrases["weak"], Meaning("cue", cue, weak=True))
    return book


def _add(book: PhraseBook, phrases: list[str], meaning: Meaning) -> None:
    for phrase in phrases:
        for one in spelled_out(phrase):
            book.add(one, meaning)


def spelled_out(phrase: str) -> Iterator[str]:
    """Yield the phrases of a pattern like "@carry|lift~ ... up": every choice, with its inflections."""
    return map(" ".join, product(*(dict.fromkeys(_choices(part)) for part in phrase.split())))


def _choices(part: str) -> Iterator[str]:
    for choice in part.split("|"):
        if choice.startswith("@"):
            for word in lexicon()["classes"][choice[1:]]:
                yield from spelled_out(word)
        elif choice.endswith("~"):
            yield from _inflected(choice[:-1])
        else:
            yield choice


def _inflected(verb: str) -> Iterator[str]:
    """Yield the forms of a regular verb: "carry", "carries", "carried", "carrying"."""
    stem = verb[:-1] if verb.endswith(("e", "y")) and verb[-2] not in "aeo" else verb
    if re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", verb):
        stem += verb[-1]
    ending = "i" if verb.endswith("y") and stem != verb else ""
    sibilant = verb.endswith(("s", "sh", "ch", "x", "z", "o"))
    yield verb
    yield stem + "ies" if ending else verb + ("es" if sibilant else "s")
    yield stem + ending + "ed"
    yield verb + "ing" if ending else stem + "ing"
