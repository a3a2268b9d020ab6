"""Where a long text may be cut, so that the rest can wait behind a click."""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_LEAST_SHARE = 0.6
_HIDES_LITTLE = 1.25


def cut_place(text: str, length: int) -> int:
    """Return how many characters of a text are shown at first.

    Behind a sentence if one ends late enough, else behind a word, and never inside what looks like one character. A
    text that is hardly longer than allowed is shown whole: a click for a few words is a nuisance.

    Parameters
    ----------
    text
        Any text.
    length
        About how many characters are wanted, >= 1.

    Returns
    -------
    int
        In 1 .. ``1.25 * length``, or 0 for an empty text; the text's length if all of it is shown.
    """
    if len(text) <= _HIDES_LITTLE * length:
        return len(text)
    least = max(1, int(_LEAST_SHARE * length))
    for ends in (_ends_sentence, _ends_word):
        place = next((place for place in range(length, least - 1, -1) if ends(text, place)), 0)
        if place:
            return place
    place = next((place for place in range(length, 0, -1) if not _inside_character(text, place)), 0)
    return place or length


def _ends_sentence(text: str, place: int) -> bool:
    return text[place].isspace() and text[place - 1] in ".!?"


def _ends_word(text: str, place: int) -> bool:
    return text[place].isspace() and not text[place - 1].isspace()


def _inside_character(text: str, place: int) -> bool:
    joined = text[place] in _JOINERS or text[place - 1] in _JOINERS
    return joined or bool(unicodedata.combining(text[place]))
