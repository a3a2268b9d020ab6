"""What the page may show, and how numbers are written and drawn."""

from dataclasses import dataclass

from bundle_tools.challenge.compare.field import Field
from bundle_tools.challenge.compare.page.content import Drawn
from score.columns import Column, spread_decimals
from score.report.gate import MOST_DECIMALS
from score.report.numbers import interval, number, position


@dataclass(frozen=True)
class Shown:
    """What the page may show, and so how fine numbers are."""

    clips: bool
    """Single clips, and intervals as fine as their scores."""
    truth: bool
    """Labels, and what follows from them for a single clip."""
    private: bool
    """Whether that is more than the phase lets participants see."""


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


def write(column: Column, value: float, ends: tuple[float, float] | None, shown: Shown) -> Written:
    """Write and draw a score on its column's scale, with as many decimals as the report has."""
    places = min(column.decimals, MOST_DECIMALS)
    spread = min(spread_decimals(column, open_=shown.clips), MOST_DECIMALS)
    value = round(value, places)
    ends = ends and (round(ends[0], spread), round(ends[1], spread))
    low, high = column.minimum, 1.0 if column.maximum is None else column.maximum
    zero, place = position(max(0.0, low), low, high), position(value, low, high)
    start, end = (position(one, low, high) for one in ends or (value, value))
    drawn = Drawn(
        start=min(zero, place),
        length=round(abs(place - zero), 2),
        interval=(start, round(end - start, 2)) if ends else None,
        chance=None if column.chance is None else position(column.chance, low, high),
    )
    return Written(number(value, places), interval(ends, spread), drawn)
