"""The first screen: scores and axes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A value on its scale; positions are percentages of the scale's length."""

    start: float
    """Where the fill begins: at zero, or at the minimum."""
    length: float
    """Length of the fill."""
    value: float
    """Position of the value."""
    interval: tuple[float, float] | None
    """Position and length of the interval."""
    baseline: float | None
    """Position of the constant baseline."""


@dataclass(frozen=True)
class ScoreRow:
    """One score column."""

    title: str
    """Heading."""
    key: str
    """Column key."""
    meaning: str
    """One sentence."""
    value: str
    """Rounded value."""
    interval: str
    """Rounded interval, or an empty text."""
    baseline: str
    """The constant baseline's value, or an empty text."""
    best: str
    """Best possible value, or an empty text."""
    bar: Bar | None
    """None for plain facts."""


@dataclass(frozen=True)
class AxisRow:
    """One axis of the explanation score."""

    title: str
    """Heading."""
    value: str
    """Rounded value."""
    interval: str
    """Rounded interval, or an empty text."""
    chance: str
    """What random explanations have."""
    weight: str
    """Share of the total's mean; empty where it has none."""
    meaning: str
    """One sentence."""


@dataclass(frozen=True)
class DiagnosticRow:
    """One number that is in no score."""

    title: str
    """Heading."""
    value: str
    """Rounded value with its unit, or a dash."""
    meaning: str
    """One sentence."""


@dataclass(frozen=True)
class Scores:
    """The first screen, and the numbers behind it."""

    total: ScoreRow
    """The primary column."""
    verdict: tuple[str, ...]
    """What the numbers say, in sentences; the most important first."""
    rows: tuple[ScoreRow, ...]
    """The other columns."""
    axes: tuple[AxisRow, ...]
    """How the explanations were measured."""
    diagnostics: tuple[DiagnosticRow, ...]
    """What else was noticed about them."""
    level: str
    """Nominal coverage of the intervals, such as ``95 %``; empty without intervals."""
