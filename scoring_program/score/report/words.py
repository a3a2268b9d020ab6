"""A text in which the recognised cues are marked; the rest of a long text is shown on a click."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from score.text import Mention, Vocabulary, cue_mentions
from score.text.reading import Triple
from score.visible import visible

_SHOWN = 420
_LONGEST = 5000
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_LEAST_SHARE = 0.6
_HIDES_LITTLE = 1.25


def highlight(text: str, vocabulary: Vocabulary, stated: Iterable[Triple], titles: Mapping[str, str]) -> dict[str, Any]:
    """Split a text into plain words and cues.

    `text`: any text; hidden characters are made visible here, and the template escapes markup. Returns the pieces of
    the beginning (``shown``) and of the ``rest``, together the stripped text of at most 5,000 characters, and whether
    it was ``cut_off``. Each piece has a ``text``, the ``cue`` that it names, the claimed ``sign`` of the cue (0 if none
    or mixed) and all ``claims`` about it in words.
    """
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    mentions = _joined(text, cue_mentions(text, vocabulary))
    cut = start + cut_place(text[start:end], _SHOWN)
    cut = next(
        (mention.end for mention in mentions if mention.start < cut < mention.end), cut
    )  # do not split a marked word
    last = min(end, start + _LONGEST)
    claims = {cue: _claims(cue, stated, titles) for cue in {mention.cue for mention in mentions}}

    def pieces(first: int, behind: int) -> list[dict[str, Any]]:
        pieces_found = []
        for begin, stop, cue in _stretches(first, behind, mentions):
            sign, words = claims.get(cue, (0, ""))
            shown = visible(text[begin:stop], _LONGEST)
            pieces_found.append({"text": shown, "cue": cue.replace("_", " "), "sign": sign, "claims": words})
        return pieces_found

    return {"shown": pieces(start, min(cut, last)), "rest": pieces(cut, last), "cut_off": last < end}


def _claims(cue: str, stated: Iterable[Triple], titles: Mapping[str, str]) -> tuple[int, str]:
    """Return the claimed sign of a cue (0 if mixed), and all claims about it in words."""
    signs = {target: sign for name, target, sign in stated if name == cue}
    parts = []
    for wanted, verb in ((1, "raised"), (-1, "lowered")):
        targets = [title for name, title in titles.items() if signs.get(name) == wanted]
        if targets:
            parts.append(f"said to have {verb} {', '.join(targets)}")
    distinct = set(signs.values())
    return (distinct.pop() if len(distinct) == 1 else 0), "; ".join(parts)


def _joined(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Join adjacent mentions of one cue, such as "upright" and "posture"."""
    joined: list[Mention] = []
    for mention in mentions:
        if joined and joined[-1].cue == mention.cue and not text[joined[-1].end : mention.start].strip(" "):
            joined[-1] = replace(joined[-1], end=mention.end)
        else:
            joined.append(mention)
    return tuple(joined)


def _stretches(first: int, behind: int, mentions: Iterable[Mention]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, cue) of every stretch in order; plain words have no cue."""
    position = first
    for mention in mentions:
        if mention.start >= position and mention.end <= behind:
            if mention.start > position:
                yield position, mention.start, ""
            yield mention.start, mention.end, mention.cue
            position = mention.end
    if behind > position:
        yield position, behind, ""


def cut_place(text: str, length: int) -> int:
    """Return how many characters of a text to show at first.

    Cut after a sentence if one ends late enough, else after a word, and never inside a visible character. Show a
    slightly longer text whole, to save a click.

    `length`: approximate number of characters wanted, >= 1. Returns a number in 1 .. ``1.25 * length``, or 0 for an
    empty text; the text's length if all of it is shown.
    """
    if len(text) <= _HIDES_LITTLE * length:
        return len(text)
    least = max(1, int(_LEAST_SHARE * length))
    gaps = [position for position in range(length, least - 1, -1) if text[position].isspace()]
    sentences = (position for position in gaps if text[position - 1] in ".!?")
    words = (position for position in gaps if not text[position - 1].isspace())
    characters = (
        position
        for position in range(length, 0, -1)
        if not _JOINERS & {text[position], text[position - 1]} and not unicodedata.combining(text[position])
    )
    return next(chain(sentences, words, characters), length)
