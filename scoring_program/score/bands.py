"""Words for the total: limits of the settings, and which word a total has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from score.checked import Checked

_LONGEST_WORD = 20
_MOST = 8


@dataclass(frozen=True)
class Band:
    """Totals that share a word."""

    word: str
    """At most 20 characters."""
    begins: float
    """Lowest total, in [0, 100)."""


STANDARD = (Band("at chance", 0), Band("weak", 5), Band("fair", 20), Band("good", 40), Band("excellent", 65))
"""Unless the settings have others; docs/metrics.md says why these limits."""


def band_of(bands: tuple[Band, ...], total: float) -> Band:
    """Return the highest band that begins at the total or below."""
    return max((band for band in bands if band.begins <= total), key=lambda band: band.begins, default=bands[0])


def read_bands(item: Checked) -> tuple[Band, ...]:
    """Read a mapping of words to lower limits, in ascending order, the first limit being 0."""
    bands = tuple(Band(word, item.number(word, 0, 99.99)) for word in item.given())
    item.finish()
    for band in bands:
        if not 1 <= len(band.word) <= _LONGEST_WORD or not band.word.isprintable():
            item.add(item.where, "a word that is too long", f"1 to {_LONGEST_WORD} printable characters")
    limits = [band.begins for band in bands]
    if not 2 <= len(bands) <= _MOST or limits[0] != 0 or any(a >= b for a, b in pairwise(limits)):
        item.add(item.where, "limits that do not ascend from 0", f"2 to {_MOST} words, lowest limit 0, then ascending")
        return STANDARD
    return bands
