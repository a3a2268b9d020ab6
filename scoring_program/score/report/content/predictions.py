"""The section on predictions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MetricCell:
    """One metric of one target."""

    value: str
    """Rounded value."""
    interval: str
    """Rounded interval, or an empty text."""
    baseline: str
    """The constant baseline's value; empty where that is closed, or 0 by definition."""


@dataclass(frozen=True)
class TargetRow:
    """One target of the table of metrics."""

    title: str
    """Heading."""
    cells: tuple[MetricCell, ...]
    """In the order of the registry of metrics."""


@dataclass(frozen=True)
class Comparison:
    """What landmarks reach by one metric, target by target."""

    metric: str
    """Title of the metric."""
    names: tuple[str, ...]
    """Headings: this run, then the landmarks."""
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """(title of a target, one value for each heading)."""


@dataclass(frozen=True)
class Dot:
    """A point of a plot; both coordinates are percentages of the scale, y upwards."""

    x: float
    """Predicted."""
    y: float
    """True."""


@dataclass(frozen=True)
class Shade:
    """Cells of a density plot that hold about as many clips."""

    opacity: str
    """0.2 to 1."""
    cells: tuple[tuple[int, int], ...]
    """(column, row from below)."""


@dataclass(frozen=True)
class Scatter:
    """Predicted against true values: points, or shades where there are too many for points."""

    dots: tuple[Dot, ...]
    """One a clip."""
    shades: tuple[Shade, ...]
    """Lightest first."""
    cells: int
    """Cells along each side of the density plot."""
    ticks: tuple[tuple[float, str], ...]
    """(percentage of the scale, value) of both axes."""
    label: str
    """What a reader who cannot see it needs to know."""
    caption: str
    """What it says, in a sentence."""


@dataclass(frozen=True)
class CalibrationBin:
    """Clips with about the same prediction."""

    clips: int
    """How many."""
    at: Dot
    """Mean prediction and mean truth."""
    interval: tuple[float, float] | None
    """Ends of the interval of the mean truth, percentages of the scale."""
    predicted: str
    """Mean prediction, rounded."""
    truth: str
    """Mean truth, rounded."""
    spread: str
    """Its interval, rounded, or an empty text."""


@dataclass(frozen=True)
class Calibration:
    """Whether clips with a high prediction have a label as high."""

    bins: tuple[CalibrationBin, ...]
    """From low to high predictions."""
    ticks: tuple[tuple[float, str], ...]
    """As in a scatter plot."""
    label: str
    """As in a scatter plot."""
    caption: str
    """As in a scatter plot."""


@dataclass(frozen=True)
class ResidualBar:
    """One bar of the histogram of residuals."""

    x: float
    """Left end, percentage of the scale."""
    width: float
    """Percentage of the scale."""
    height: float
    """Percentage of the highest bar."""
    over: str
    """From where to where, in the target's units."""
    clips: int
    """How many."""


@dataclass(frozen=True)
class Residuals:
    """How far predictions are off: predicted minus true."""

    bars: tuple[ResidualBar, ...]
    """From too low to too high."""
    ticks: tuple[tuple[float, str], ...]
    """(percentage of the scale, value)."""
    label: str
    """As in a scatter plot."""
    caption: str
    """As in a scatter plot."""


@dataclass(frozen=True)
class TargetPlots:
    """The three plots of one target."""

    title: str
    """Of the target."""
    main: bool
    """Whether it is the main target."""
    scatter: Scatter
    """Predicted against true."""
    calibration: Calibration
    """Mean truth of clips with like predictions."""
    residuals: Residuals
    """Predicted minus true."""


@dataclass(frozen=True)
class GapCell:
    """One number about one group."""

    value: str
    """Rounded, or a dash."""
    interval: str
    """Rounded interval, or an empty text."""


@dataclass(frozen=True)
class GapLine:
    """A group's mean residual, drawn: percentages of a scale whose middle is zero."""

    at: float
    """The value."""
    interval: tuple[float, float] | None
    """Position and length of the interval."""


@dataclass(frozen=True)
class GroupRow:
    """One group of people."""

    name: str
    """Of the group."""
    people: int
    """How many."""
    few: bool
    """Whether too few to conclude anything."""
    clips: int
    """How many."""
    residual: GapCell
    """Mean residual of the main target."""
    line: GapLine | None
    """The same, drawn."""
    error_gap: GapCell
    """Mean absolute error minus the others'."""
    rate: str
    """Share that reaches the threshold."""
    rate_ratio: GapCell
    """That share divided by the others'."""
    label_ratio: GapCell
    """The same of the labels."""
    residuals: tuple[GapCell, ...]
    """Mean residual of every target."""
    error_gaps: tuple[GapCell, ...]
    """Error gap of every target."""


@dataclass(frozen=True)
class AttributeTable:
    """The groups of one attribute."""

    title: str
    """Of the attribute."""
    sentence: str
    """The largest gaps."""
    note: str
    """What is missing or to be taken with care; may be empty."""
    rows: tuple[GroupRow, ...]
    """None where readers may see the sentence only, or nothing can be compared."""


@dataclass(frozen=True)
class GroupGaps:
    """How groups of people are treated."""

    rule: str
    """From where on somebody counts as selected."""
    attributes: tuple[AttributeTable, ...]
    """At least one."""
    target_titles: tuple[str, ...]
    """Headings of what is told of every target."""


@dataclass(frozen=True)
class Predictions:
    """How good the predictions are, target by target."""

    metric_titles: tuple[str, ...]
    """Headings of the table of metrics."""
    targets: tuple[TargetRow, ...]
    """Rows of the table of metrics."""
    comparisons: tuple[Comparison, ...]
    """What landmarks reach; empty without landmarks, and where they are coarse."""
    plots: tuple[TargetPlots, ...]
    """One a target, the main one first; empty where true values are closed."""
    main_title: str
    """Title of the main target."""
    groups: GroupGaps | None
    """None where the phase has no groups."""
