"""The codes as ``docs/error_codes.md`` lists them for people."""

import re
from typing import NamedTuple

from tests import ROOT

PAGE = ROOT / "docs" / "error_codes.md"
SCORING = "In scoring:"
"""Stands in a section between the codes of ingestion and those of scoring."""


class Listed(NamedTuple):
    """One code of the page."""

    name: str
    kind: str
    """The letter of its section."""


def listed(*, scoring: bool) -> list[Listed]:
    """Return the codes of one program, in the order of the page."""
    codes = []
    for kind, section in re.findall(r"^## .+ \(([SCWO])\)\n((?:(?!## ).*\n?)+)", PAGE.read_text("utf-8"), re.MULTILINE):
        codes += [Listed(name, kind) for name in re.findall(r"`(\w+)`", section.partition(SCORING)[2 * scoring])]
    return codes
