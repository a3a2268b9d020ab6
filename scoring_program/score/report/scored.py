"""A scored run as its builders get it: already reduced to what its readers may learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from score.axes.diagnostics import Diagnostic
from score.axes.shortfalls import Shortfalls
from score.columns import Column, spread_decimals
from score.evaluation import Estimate, Evaluation
from score.findings import Finding
from score.key_frames import NO_KEY_FRAMES
from score.known import NOTHING_KNOWN
from score.outcomes import Outcomes
from score.report.beside import Beside
from score.results import Results
from score.settings import Settings

MOST_DECIMALS = 3
"""Of a score on the page; scores.json has one more."""
COARSE_DECIMALS = 2
"""Of a single target's metric where clips are closed."""


@dataclass(frozen=True)
class Scored:
    """What the sections are built from."""

    results: Results
    """For the run's facts, its problems and the pictures."""
    outcomes: Outcomes
    """What happened to each clip; without true values and known causes where the settings close them."""
    evaluation: Evaluation
    """Every number; rounded to what is shown of it where clips are closed."""
    settings: Settings
    """``settings.report`` says what may be shown."""
    findings: Sequence[Finding]
    """Problems, fit for their readers."""
    beside: Beside
    """What comes from elsewhere."""

    def spread_places(self, column: Column) -> int:
        """Decimals of what is shown beside a score: its interval, and what others reach."""
        return min(spread_decimals(column, open_=self.settings.report.clips), MOST_DECIMALS)


def may_show(
    results: Results,
    outcomes: Outcomes,
    evaluation: Evaluation,
    settings: Settings,
    findings: Sequence[Finding],
    beside: Beside,
) -> Scored:
    """Take away what the settings close, before any section is built: a builder cannot show what it never had.

    Where single clips are closed, a number that depends on labels and is not a score is one more equation about them.
    There intervals, targets, group gaps and landmarks are coarse, and what the constant baseline reaches exactly, a
    statistic of the labels alone, is left out. Bars are drawn from these numbers, since a position is a number, too.
    """
    if not settings.report.truth:
        hidden = np.full_like(outcomes.truth, np.nan)
        outcomes = replace(outcomes, truth=hidden, known=NOTHING_KNOWN)
        # Whether a clip counts for known causes tells how far its prediction is from its label.
        clips = tuple(one and replace(one, causes=None) for one in evaluation.clips)
        fairness = evaluation.fairness and evaluation.fairness.coarse()
        # How many clips lie near their labels is one more equation about these, and about the causes.
        evaluation = replace(evaluation, clips=clips, fairness=fairness, reasons=None)
        hashes = replace(beside.hashes, labels="")
        beside = replace(beside, landmarks=beside.landmarks.coarse(settings), hashes=hashes)
    if not settings.report.clips:
        evaluation = _coarse(evaluation)
        beside = replace(beside, key_frames=NO_KEY_FRAMES)
    return Scored(results, outcomes, evaluation, settings, findings, beside)


def _coarse(evaluation: Evaluation) -> Evaluation:
    """Name what stays: a number that somebody adds to the evaluation is closed until it is named here."""
    return Evaluation(
        columns=tuple((column, _coarse_column(column, estimate)) for column, estimate in evaluation.columns),
        targets=tuple(
            (target, {name: Estimate(round(one.value, COARSE_DECIMALS), None, None) for name, one in metrics.items()})
            for target, metrics in evaluation.targets
        ),
        diagnostics=tuple(_coarse_diagnostic(diagnostic) for diagnostic in evaluation.diagnostics),
        shortfalls=evaluation.shortfalls and _coarse_shortfalls(evaluation.shortfalls),
        sources=evaluation.sources,
        fairness=evaluation.fairness,
    )


def _coarse_column(column: Column, estimate: Estimate) -> Estimate:
    spread = spread_decimals(column, open_=False)
    ends = estimate.interval
    interval = (round(ends[0], spread), round(ends[1], spread)) if ends else None
    return Estimate(round(estimate.value, min(column.decimals, MOST_DECIMALS)), interval, None)


def _coarse_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    """Round one number: a model could speak of clips through its own answers, to which diagnostics belong."""
    if diagnostic.value is None:
        return diagnostic
    places = 2 if diagnostic.unit in {"range", "share"} else 1
    return replace(diagnostic, value=round(diagnostic.value, places))


def _coarse_shortfalls(found: Shortfalls) -> Shortfalls:
    shares = {one.name: getattr(found, one.name) for one in fields(found)}
    return Shortfalls(**{name: None if share is None else round(share, 1) for name, share in shares.items()})
