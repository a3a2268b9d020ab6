"""All that is known of one run: checked input, and, once it is evaluated, its numbers and problems."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from score.columns import Column, spread_decimals
from score.errors import Problem
from score.evaluate import Evaluation
from score.landmarks import KeyFrames, Landmarks
from score.messages import Audience
from score.read.outcomes import Outcomes
from score.read.reference import JuryRating
from score.read.results import Results
from score.read.run import Facts
from score.read.tables import Hashes
from score.settings import Settings

MOST_DECIMALS = 3
"""Decimals of a score on the page; scores.json has one more."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Checked input, before anything is compared."""

    settings: Settings
    results: Results
    outcomes: Outcomes
    """One for each clip of the reference."""
    jury: JuryRating | None = None
    """How people rated these explanations; None without a rating."""
    landmarks: Landmarks = field(default_factory=Landmarks)
    """Scores of baselines and known submissions, to compare with."""
    key_frames: KeyFrames = field(default_factory=KeyFrames)
    """A picture of each clip, if the phase has any."""
    hashes: Hashes = field(default_factory=Hashes)
    """Hashes of the files that the scores depend on."""
    worker: Facts = ()
    """What the platform recorded."""
    private: bool = False
    """Whether the page shows what participants of this phase must not see."""

    @property
    def audience(self) -> Audience:
        """Who will read the output."""
        results = self.results
        ids = {*self.outcomes.clip_ids, *results.clips, *results.predictions, *results.explanations, *results.probes}
        return Audience(self.settings.report.clips).knowing(ids)


@dataclass(frozen=True, kw_only=True)
class ScoredRun(Run):
    """A run with its numbers; a report gets it from score.report.gate, without what the phase closes."""

    evaluation: Evaluation
    problems: Sequence[Problem] = ()
    """Problems of the run, grouped for its readers."""

    def spread_places(self, column: Column) -> int:
        """Decimals of numbers shown beside a score: its interval and landmarks."""
        return min(spread_decimals(column, open_=self.settings.report.truth), MOST_DECIMALS)
