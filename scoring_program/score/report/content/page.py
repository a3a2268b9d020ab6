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

    heading: str
    """Names of the challenge and the phase."""
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
    record: str
    """The numbers of the page once more, for machines: JSON without any sign that means something in HTML."""
    private: bool
    """Whether it holds what participants of the phase may not see."""


@dataclass(frozen=True)
class EarlyPage:
    """What is known of a run before it is scored."""

    heading: str
    """Names of the challenge and the phase."""
    clips: str
    """How the clips went, in one sentence."""
    problems: Problems
    """What went wrong so far."""
    facts: Facts
    """Of the run."""


@dataclass(frozen=True)
class FailedPage:
    """The report of a run without scores, or whose report could not be made."""

    band: str
    """What came of it, in a few words."""
    heading: str
    """Names of the challenge and the phase; empty where they are not known."""
    headline: str
    """What happened."""
    problems: Problems
    """Why, without label values."""
    facts: Facts
    """What the platform noted."""
