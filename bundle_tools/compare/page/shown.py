"""What the page may show, and how numbers are written and drawn."""

from dataclasses import dataclass

from bundle_tools.compare.field import Field
from bundle_tools.compare.page.content import Drawn
from score.report.numbers import interval, number, position

MOST_DECIMALS = 3
"""Of a score; scores.json has one more."""

Ends = tuple[float, float]


@dataclass(frozen=True)
class Shown:
    """What the page may show, and so how fine numbers are."""

    clips: bool
    """Single clips, and intervals as fine as their scores."""
    truth: bool
    """Labels, and what follows from them for a single clip."""
    private: bool
    """Whether that is more than the phase lets participants see."""

    def spread(self, decimals: int) -> int:
        """Give the decimals of what is beside a score of so many: in a closed phase two fewer, as in the report."""
        return decimals if self.clips else max(0, decimals - 2)


def what_to_show(field: Field, *, full: bool) -> Shown:
    """Decide by the phase's settings, or show everything to the organiser."""
    report = field.settings.report
    if full:
        return Shown(clips=True, truth=True, private=not (report.clips and report.truth))
    return Shown(clips=report.clips, truth=report.truth, private=False)


@dataclass(frozen=True)
class Written:
    """A score with its interval, as the page has it."""

    value: str
    """Rounded."""
    interval: str
    """Rounded, or an empty text."""
    drawn: Drawn
    """From these rounded numbers: a position is a number, too."""


def write(
    value: float, ends: Ends | None, decimals: int, scale: Ends, shown: Shown, chance: float | None = None
) -> Written:
    """Write and draw a score of so many decimals on its scale."""
    places, spread = min(decimals, MOST_DECIMALS), min(shown.spread(decimals), MOST_DECIMALS)
    value = round(value, places)
    ends = ends and (round(ends[0], spread), round(ends[1], spread))
    zero, place = position(max(0.0, scale[0]), *scale), position(value, *scale)
    low, high = (position(end, *scale) for end in ends or (value, value))
    drawn = Drawn(
        start=min(zero, place),
        length=round(abs(place - zero), 2),
        interval=(low, round(high - low, 2)) if ends else None,
        chance=None if chance is None else position(chance, *scale),
    )
    return Written(number(value, places), interval(ends, spread), drawn)
