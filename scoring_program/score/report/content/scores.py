"""The first screen: how good it is, why, and what to fix first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """Something to compare a score with, on the score's bar."""

    kind: str
    """``chance``, or the kind of a landmark: it decides the shape."""
    title: str
    """What it is."""
    value: str
    """Its rounded score."""
    position: float
    """Percentage of the scale's length."""
    drawn: bool
    """Whether it stands on the bars of the first screen; the table has them all."""


@dataclass(frozen=True)
class Bar:
    """A value on its scale; positions are percentages of the scale's length."""

    start: float
    """Where the fill begins: at zero, or at the minimum."""
    length: float
    """Length of the fill."""
    interval: tuple[float, float] | None
    """Position and length of the interval."""
    label: str
    """What a reader who cannot see it needs to know."""


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
    best: str
    """Best possible value, or an empty text."""
    marks: tuple[Mark, ...]
    """What to compare it with."""
    bar: Bar | None
    """None for plain facts."""
    weight: str = ""
    """Of an axis: its share in the total's mean."""


@dataclass(frozen=True)
class Band:
    """A range of the total that has a word."""

    word: str
    """Such as ``good``."""
    begins: str
    """Its lower limit."""
    start: float
    """Percentage of the scale."""
    length: float
    """Percentage of the scale."""
    here: bool
    """Whether the total lies in it."""


@dataclass(frozen=True)
class Factor:
    """One factor of the total."""

    title: str
    """Such as ``coverage``."""
    value: str
    """Rounded value, or a dash."""


@dataclass(frozen=True)
class Advice:
    """One thing to fix."""

    sentence: str
    """What to do."""
    evidence: str
    """The figures that say so."""
    gain: str
    """What it is worth in points of the total; an empty text where that is not known."""


@dataclass(frozen=True)
class StatusItem:
    """One fact of how the run went."""

    title: str
    """What it is about."""
    value: str
    """In few words."""
    note: str
    """In a few more; may be empty."""
    tone: str
    """``good``, ``warning``, ``error`` or ``plain``."""


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
    band: str
    """The word for the total."""
    bands: tuple[Band, ...]
    """All words, lowest first."""
    verdict: tuple[str, ...]
    """What the numbers say, in sentences; the most important first."""
    factors: tuple[Factor, ...]
    """What is multiplied to make the total."""
    axes: tuple[ScoreRow, ...]
    """How well the explanations did; in the order of their weights."""
    predictions: tuple[ScoreRow, ...]
    """How well the predictions did."""
    rows: tuple[ScoreRow, ...]
    """All columns, in leaderboard order."""
    compared: tuple[Mark, ...]
    """One mark of each kind that occurs, for the legend and the headings of the table."""
    advice: tuple[Advice, ...]
    """What to fix first: what gains most comes first."""
    status: tuple[StatusItem, ...]
    """How the run went."""
    diagnostics: tuple[DiagnosticRow, ...]
    """What else was noticed about the explanations."""
    level: str
    """Nominal coverage of the intervals, such as ``95 %``; empty without intervals."""
