"""What the report may show. The template sees these objects and nothing else, so what is not in them cannot leak.

All texts are ready for people: rounded, with hidden characters made visible; the template escapes them.
"""

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
class MetricCell:
    """One metric of one target."""

    value: str
    """Rounded value."""
    interval: str
    """Rounded interval, or an empty text."""
    baseline: str
    """The constant baseline's value."""


@dataclass(frozen=True)
class TargetRow:
    """One target of the table of metrics."""

    title: str
    """Heading."""
    cells: tuple[MetricCell, ...]
    """In the order of the registry of metrics."""


@dataclass(frozen=True)
class ProblemRow:
    """One problem, or several of the same kind."""

    severity: str
    """``error`` or ``warning``."""
    code: str
    """Short name."""
    count: int
    """How often."""
    where: str
    """Place, of the first one."""
    found: str
    """What was found, of the first one; empty where participants must not see it."""
    expected: str
    """What was expected."""
    fix: str
    """What to do."""


@dataclass(frozen=True)
class ClipRow:
    """One clip of the table."""

    clip_id: str
    """Opaque id."""
    status: str
    """In words."""
    good: bool
    """Whether the clip has a valid prediction."""
    predicted: str
    """Predicted main target, or a dash."""
    truth: str
    """True main target; empty unless the settings open it."""
    error: str
    """Error of the main target; empty unless the settings open it."""
    judged_on: str
    """Target on which the explanation was judged; empty without a prediction."""
    axes: tuple[str, ...]
    """Space, time, claims, text, and known causes where the settings open true values; a dash where there is none."""
    note: str
    """First problem, and how many more."""


@dataclass(frozen=True)
class ValueRow:
    """One predicted value of a card."""

    title: str
    """Target."""
    value: str
    """Rounded prediction."""
    position: float
    """Percentage of the range."""
    truth: str
    """Rounded label; empty unless the settings open it."""
    truth_position: float | None
    """Percentage of the range; None unless the settings open it."""


@dataclass(frozen=True)
class ClaimRow:
    """One cue claim of a card."""

    cue: str
    """Cue."""
    target: str
    """Title of the target."""
    contribution: str
    """Signed, rounded."""
    raised: bool
    """Whether the cue is said to have raised the target."""
    width: float
    """Percentage: the size of the contribution."""


@dataclass(frozen=True)
class Mark:
    """One filled cell of an evidence drawing."""

    x: int
    """Column."""
    y: int
    """Row."""
    opacity: str
    """0.1 to 1, one decimal."""


@dataclass(frozen=True)
class Grid:
    """Evidence in space (rows x columns) or time (one row)."""

    rows: int
    """Number of rows."""
    columns: int
    """Number of columns."""
    marks: tuple[Mark, ...]
    """Cells with weight."""
    label: str
    """What a reader who cannot see it needs to know."""


@dataclass(frozen=True)
class Card:
    """One explanation of the gallery."""

    clip_id: str
    """Opaque id."""
    image: str
    """``data:`` URI, or an empty text."""
    no_image: str
    """Why there is no picture."""
    text: str
    """The explanation."""
    text_ok: bool
    """Whether the text is valid."""
    values: tuple[ValueRow, ...]
    """One a target."""
    claims: tuple[ClaimRow, ...]
    """Largest first."""
    space: Grid | None
    """Where the model looked."""
    time: Grid | None
    """When the model looked."""


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
class ReportData:
    """A report of scores."""

    task: str
    """Name of the phase."""
    total: ScoreRow
    """The primary column."""
    verdict: tuple[str, ...]
    """What the numbers say, in sentences; the most important first."""
    scores: tuple[ScoreRow, ...]
    """The other columns."""
    axes: tuple[AxisRow, ...]
    """How the explanations were measured."""
    diagnostics: tuple[DiagnosticRow, ...]
    """What else was noticed about them."""
    facts: tuple[tuple[str, str], ...]
    """(label, value) of the run."""
    yours: tuple[ProblemRow, ...]
    """Problems that the participant can solve."""
    theirs: tuple[ProblemRow, ...]
    """Problems for the organisers."""
    metric_titles: tuple[str, ...]
    """Headings of the table of metrics."""
    targets: tuple[TargetRow, ...]
    """Rows of the table of metrics."""
    level: str
    """Nominal coverage of the intervals, such as ``95 %``; empty without intervals."""
    method: tuple[str, ...]
    """How the intervals were made, in sentences."""
    main_title: str
    """Title of the main target."""
    shows_clips: bool
    """Whether the table of clips and the gallery are open."""
    shows_truth: bool
    """Whether true values and errors are open."""
    clip_groups: tuple[tuple[str, tuple[ClipRow, ...]], ...]
    """(heading, rows) of the table of clips."""
    cards: tuple[Card, ...]
    """The gallery."""


@dataclass(frozen=True)
class FailureData:
    """A report of a run without scores."""

    headline: str
    """What happened."""
    yours: tuple[ProblemRow, ...]
    """Problems that the participant can solve."""
    theirs: tuple[ProblemRow, ...]
    """Problems for the organisers, without label values."""
    facts: tuple[tuple[str, str], ...]
    """(label, value) of the run."""
