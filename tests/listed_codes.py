"""The codes as ``docs/error_codes.md`` lists them for people."""

import re
from typing import NamedTuple

from tests import ROOT

PAGE = ROOT / "docs" / "error_codes.md"
SCORING = "In scoring:"
"""Stands in a section between the codes of ingestion and those of scoring."""
_LONGEST = 16


class Listed(NamedTuple):
    """One line of the page."""

    name: str
    kind: str
    """The letter of its section."""
    sentence: str


def listed(*, scoring: bool) -> list[Listed]:
    """Return what the page says about the codes of one program, in its order."""
    found = []
    for heading, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE):
        kind = re.search(r"\(([SCWO])\)$", heading)
        part = section.partition(SCORING)[2 if scoring else 0]
        found += [Listed(name, kind[1], said) for name, said in re.findall(r"^- `(\w+)`: (.+)$", part, re.M) if kind]
    return found


def strange_names(sentence: str, words: str) -> list[str]:
    """Return what a sentence marks as code (a file, a key, a command) although the program's own words lack it."""
    return [name for name in re.findall(r"`([^`]+)`", sentence) if name not in words]


def is_plain(sentence: str) -> bool:
    """Whether it is a short sentence with its full stop."""
    return sentence[0] in "`" or (
        sentence[0].isupper() and sentence.endswith(".") and len(sentence.split()) <= _LONGEST
    )
