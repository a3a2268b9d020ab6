"""The gate to the report: it reduces a scored run to what readers may see, before any section is built."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from score.columns import Column, spread_decimals
from score.diagnostics import Diagnostic
from score.error_analysis import Shortfalls
from score.errors import Problem
from score.evaluate import Estimate, Evaluation
from score.read.answers import NO_EXPLANATION
from score.read.known import NOTHING_KNOWN
from score.read.landmarks import NO_KEY_FRAMES, NO_LANDMARKS, KeyFrames, Landmarks
from score.read.outcomes import Outcomes
from score.read.results import Results
from score.read.run import Facts
from score.read.tables import NO_HASHES, Hashes
from score.settings import Settings

MOST_DECIMALS = 3
"""Decimals of a score on the page; scores.json has one more."""


@dataclass(frozen=True)
class ReportExtras:
    """Report content from outside the run and the evaluation; each part may be empty."""

    worker: Facts = ()
    landmarks: Landmarks = NO_LANDMARKS
    """Scores of baselines and known submissions, to compare with."""
    key_frames: KeyFrames = NO_KEY_FRAMES
    """A picture of each clip, if the phase has any."""
    hashes: Hashes = NO_HASHES
    """Hashes of the files that the scores depend on."""
    private: bool = False
    """Whether the page shows what participants of this phase must not see."""


@dataclass(frozen=True)
class Scored:
    """The content that sections are built from."""

    results: Results
    """For the run's facts, its problems and the pictures."""
    outcomes: Outcomes
    """What happened to each clip; without true values and known causes if the settings close them."""
    evaluation: Evaluation
    """Every number; reduced if labels or clips are closed."""
    settings: Settings
    """``settings.report`` says what may be shown; training means and errors are removed if labels are closed."""
    findings: Sequence[Problem]
    beside: ReportExtras
    """Content from elsewhere."""
    parts_hidden: bool
    """Whether parts of filmed clips were hidden, not exchanged."""

    def spread_places(self, column: Column) -> int:
        """Decimals of numbers shown beside a score: its interval and landmarks."""
        return min(spread_decimals(column, open_=self.settings.report.truth), MOST_DECIMALS)


def may_show(
    results: Results,
    outcomes: Outcomes,
    evaluation: Evaluation,
    settings: Settings,
    findings: Sequence[Problem],
    beside: ReportExtras,
) -> Scored:
    """Remove what the settings close, so that no builder or template can show it.

    Bars are drawn from the reduced numbers, too, because a position reveals a number.
    """
    evaluation = may_tell(evaluation, settings)
    parts_hidden = any(call.shows for calls in outcomes.probes for call in calls)
    if not settings.report.clips:
        results, outcomes = _without_clips(results, outcomes)
    if not settings.report.truth:
        hidden = np.full_like(outcomes.truth, np.nan)
        outcomes = replace(outcomes, truth=hidden, known=NOTHING_KNOWN)
        hashes = replace(beside.hashes, labels="")
        beside = replace(beside, landmarks=beside.landmarks.coarse(settings), hashes=hashes)
        # The means of the training set say something about labels; the middle of the range says nothing.
        blank = tuple(replace(target, constant=(target.minimum + target.maximum) / 2) for target in settings.targets)
        settings = replace(settings, targets=blank, skill_reference={})
    if not (settings.report.clips and settings.report.pictures):
        beside = replace(beside, key_frames=NO_KEY_FRAMES)
        blind = tuple(replace(one, image=None) for one in outcomes.explanations)
        outcomes = replace(outcomes, explanations=blind)
    return Scored(results, outcomes, evaluation, settings, findings, beside, parts_hidden)


def _without_clips(results: Results, outcomes: Outcomes) -> tuple[Results, Outcomes]:
    """Remove all that belongs to a single clip, but for how many ended in which way."""
    count = len(outcomes.clip_ids)
    return (
        replace(results, clips={}, predictions={}, explanations={}, probes={}, repeats={}, warnings=()),
        replace(
            outcomes,
            clip_ids=("",) * count,
            statuses=tuple(sorted(outcomes.statuses)),
            explanations=(NO_EXPLANATION,) * count,
            prediction=np.full_like(outcomes.prediction, np.nan),
            truth=np.full_like(outcomes.truth, np.nan),
            sources=np.zeros_like(outcomes.sources),
            probes=((),) * count,
            repeats=(None,) * count,
            known=NOTHING_KNOWN,
            warnings=(),
        ),
    )


def may_tell(evaluation: Evaluation, settings: Settings) -> Evaluation:
    """Keep the numbers that page and log may show.

    If labels are closed, every number that depends on them is another equation about them. Only the scores stay, a
    coarse interval of the ranking score, and rough group gaps. The constant baseline's exact score is removed, because
    it is a statistic of the labels alone.
    """
    if settings.report.truth:
        return evaluation
    ranking, _ = evaluation.columns[0]
    evaluation = replace(
        evaluation,
        columns=tuple((column, _closed(column, one, ranking)) for column, one in evaluation.columns),
        targets=(),
        # Whether a clip passes the gate of known causes reveals how far its prediction is from its label.
        clips=tuple(one and replace(one, causes=None) for one in evaluation.clips),
        fairness=evaluation.fairness and evaluation.fairness.coarse(),
        # The number of well-predicted clips is another equation about labels and causes.
        reasons=None,
    )
    return evaluation if settings.report.clips else _coarse(evaluation)


def _closed(column: Column, estimate: Estimate, ranking: Column) -> Estimate:
    ends = estimate.interval if column.key == ranking.key or not column.of_labels else None
    interval = (round(ends[0], column.closed_spread), round(ends[1], column.closed_spread)) if ends else None
    return Estimate(round(estimate.value, min(column.decimals, MOST_DECIMALS)), interval, None)


def _coarse(evaluation: Evaluation) -> Evaluation:
    """List what stays: any new field of the evaluation is closed until it is listed here."""
    return Evaluation(
        columns=evaluation.columns,
        targets=evaluation.targets,
        diagnostics=tuple(_coarse_diagnostic(diagnostic) for diagnostic in evaluation.diagnostics),
        shortfalls=evaluation.shortfalls and _coarse_shortfalls(evaluation.shortfalls),
        sources=evaluation.sources,
        fairness=evaluation.fairness,
    )


def _coarse_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    """Round one number: diagnostics depend on a model's answers, which could encode clips."""
    if diagnostic.value is None:
        return diagnostic
    places = 2 if diagnostic.unit in {"range", "share"} else 1
    return replace(diagnostic, value=round(diagnostic.value, places))


def _coarse_shortfalls(found: Shortfalls) -> Shortfalls:
    shares = {one.name: getattr(found, one.name) for one in fields(found)}
    return Shortfalls(**{name: None if share is None else round(share, 1) for name, share in shares.items()})
