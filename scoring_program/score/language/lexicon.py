"""The published lexicon: which phrase means what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from score.language.phrases import Meaning, PhraseBook
from score.language.vocabulary import Vocabulary

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
_EFFECTS = {
    "neutral": ("", 0),
    "likes": (LIKES, 1),
    "dislikes": (LIKES, -1),
    "over": (OVER, 1),
    "even": (EVEN, -1),
    "list_raise": (LIST, 1),
    "list_lower": (LIST, -1),
    "rise": (MOVES, 1),
    "fall": (MOVES, -1),
    "raise": ("", 1),
    "lower": ("", -1),
}
_COMPARATIVES = {
    "higher": ("comparative", 1),
    "lower_than": ("comparative", -1),
    "more": ("amount", 1),
    "less": ("amount", -1),
}


@cache
def lexicon() -> dict[str, Any]:
    """Return the lexicon as it is written in ``lexicon.yaml``: every value is text, a list or a mapping."""
    # A base loader, which knows nothing but text: to YAML's other loaders "no" and "on" are truth values.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data: dict[str, Any] = yaml.load(PATH.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    return data


def phrase_book(vocabulary: Vocabulary) -> PhraseBook:
    """Arrange the phrases of the lexicon, of the vocabulary's names and of its aliases for search."""
    words = lexicon()
    book = PhraseBook(words["small_words"])
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
    for key, name in (
        ("all_targets", ALL),
        ("all_traits", TRAITS),
        ("main_target", MAIN),
        ("generic_target", GENERIC),
        ("former", FORMER),
        ("latter", LATTER),
    ):
        _add(book, words[key], Meaning("target", name, 1))
    _add(book, words["occasion"], Meaning("word"))
    effects = words["effects"]
    for name in ("same", "opposite"):
        _add(book, effects[name], Meaning("effect", name, 1 if name == "same" else -1))
    for name, (value, sign) in _EFFECTS.items():
        _add(book, effects[name], Meaning("effect", value, sign))
    for name, (kind, sign) in _COMPARATIVES.items():
        _add(book, effects[name], Meaning(kind, "", sign))
    for level, sign in (("low", -1), ("medium", 0), ("high", 1)):
        _add(book, words["levels"][level], Meaning("level", level, sign))
    _add(book, words["links"]["when"], Meaning("clausal", "when"))
    for kind, phrases in words["links"].items():
        _add(book, phrases, Meaning(kind))
    for cue, phrases in words["cues"].items():
        _add(book, phrases["weak"], Meaning("cue", cue, weak=True))
    _add(book, words["auxiliaries"], Meaning("auxiliary"))
    _add(book, words["determiners"], Meaning("determiner"))
    _add(book, words["small_words"], Meaning("small"))
    _add(book, ["and", "or", "&", "but also"], Meaning("and"))
    _add(book, ["with"], Meaning("with"))
    _add(
        book,
        ["of", "in", "on", "at", "from", "behind", "to", "against", "into", "near", "under", "between"],
        Meaning("preposition"),
    )
    _add(book, [",", "(", ")"], Meaning("comma"))
    _add(book, [":"], Meaning("colon"))
    return book


def _add(book: PhraseBook, phrases: list[str], meaning: Meaning) -> None:
    for phrase in phrases:
        for one in spelled_out(phrase):
            book.add(one, meaning)


def spelled_out(phrase: str) -> Iterator[str]:
    """Yield the phrases that "@carry|lift~ ... up" stands for: every choice, with its inflections."""
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
