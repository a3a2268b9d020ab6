"""Make participants' text safe to display: hidden characters appear as ⟦U+202E⟧, and no letter towers over others."""

import re
import unicodedata
from collections.abc import Iterator

_JOINERS = "\u200c\u200d"
# Controls (except tab and newline), bidirectional overrides, zero-width signs, line separators, lone surrogates, tags.
# The zero-width joiners are kept, because some scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
MOST_MARKS = 4
"""Most combining marks on one letter: no language needs more."""


def visible(text: str, limit: int = 10_000) -> str:
    r"""Show every hidden character as its code point, drop a letter's fifth mark and more, and cut at the limit.

    `limit`: most characters of the original to keep, >= 1. Returns a text that can be encoded as UTF-8, in logical
    order. It is *not* HTML-escaped: the template does that.

    Examples
    --------
    >>> visible("a\u202eb")
    'a⟦U+202E⟧b'
    """
    kept = text if len(text) <= limit else text[:limit] + "…"
    shown = _HIDDEN.sub(lambda match: f"⟦U+{ord(match.group()):04X}⟧", kept)
    return shown if shown.isascii() else "".join(_few_marks(shown))


def _few_marks(text: str) -> Iterator[str]:
    marks = 0
    for letter in text:
        if unicodedata.category(letter) in ("Mn", "Me"):
            marks += 1
        elif letter not in _JOINERS:
            marks = 0
        if marks <= MOST_MARKS:
            yield letter


def one_line(text: str, limit: int) -> str:
    """Like `visible`, with every run of white space as one space, so that a line break cannot forge a log line."""
    return visible(" ".join(text.split()), limit)


def in_words(name: str, limit: int) -> str:
    """Write an identifier, such as ``speech_rate``, as words."""
    return one_line(name.replace("_", " "), limit)
