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
    """The constant baseline's value."""


@dataclass(frozen=True)
class TargetRow:
    """One target of the table of metrics."""

    title: str
    """Heading."""
    cells: tuple[MetricCell, ...]
    """In the order of the registry of metrics."""


@dataclass(frozen=True)
class Predictions:
    """How good the predictions are, target by target."""

    metric_titles: tuple[str, ...]
    """Headings of the table of metrics."""
    targets: tuple[TargetRow, ...]
    """Rows of the table of metrics."""
