"""The pages: of a scored run, and of a run without scores."""

from __future__ import annotations

from dataclasses import dataclass

from score.report.content.explanations import Explanations
from score.report.content.predictions import Predictions
from score.report.content.problems import Problems
from score.report.content.provenance import Facts, Provenance
from score.report.content.scores import Scores


@dataclass(frozen=True)
class Page:
    """The report of a scored run, one field a section."""

    task: str
    """Name of the phase."""
    scores: Scores
    """The first screen."""
    predictions: Predictions
    """Target by target."""
    explanations: Explanations
    """Clip by clip."""
    problems: Problems
    """What went wrong."""
    provenance: Provenance
    """Where the numbers come from."""


@dataclass(frozen=True)
class FailedPage:
    """The report of a run without scores."""

    headline: str
    """What happened."""
    problems: Problems
    """Why, without label values."""
    facts: Facts
    """What the platform noted."""
