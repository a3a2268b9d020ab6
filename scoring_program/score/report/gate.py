"""The gate to the report: it reduces a scored run to what readers may see, before any section is built."""

from dataclasses import replace

import numpy as np

from score.axes.registry import LABEL_FREE
from score.columns import Column
from score.diagnostics import Diagnostic
from score.evaluate import Estimate, Evaluation
from score.landmarks import KeyFrames
from score.read.answers import Explanation
from score.read.known import Known
from score.read.outcomes import Outcomes
from score.read.results import Results
from score.run import MOST_DECIMALS, ScoredRun
from score.settings import Settings


def redact(run: ScoredRun) -> ScoredRun:
    """Remove what the settings close, so that no builder or template can show it.

    Bars are drawn from the reduced numbers, too, because a position reveals a number.
    """
    results, outcomes, settings = run.results, run.outcomes, run.settings
    landmarks, hashes, key_frames = run.landmarks, run.hashes, run.key_frames
    if not settings.report.clips:
        results, outcomes = _without_clips(results, outcomes)
    if not settings.report.truth:
        outcomes = replace(outcomes, truth=np.full_like(outcomes.truth, np.nan), known=Known())
        landmarks, hashes = landmarks.coarse(settings), replace(hashes, labels="")
        # The means of the training set say something about labels; the middle of the range says nothing.
        blank = tuple(replace(target, constant=(target.minimum + target.maximum) / 2) for target in settings.targets)
        settings = replace(settings, targets=blank, skill_reference={}, label_noise={})
    if not (settings.report.clips and settings.report.pictures):
        key_frames = KeyFrames()
        blind = tuple(replace(explanation, image=None) for explanation in outcomes.explanations)
        outcomes = replace(outcomes, explanations=blind)
    return replace(
        run,
        settings=settings,
        results=results,
        outcomes=outcomes,
        jury=None,
        landmarks=landmarks,
        key_frames=key_frames,
        hashes=hashes,
        evaluation=redact_numbers(run.evaluation, run.settings),
    )


def _without_clips(results: Results, outcomes: Outcomes) -> tuple[Results, Outcomes]:
    """Remove all that belongs to a single clip, but for how many ended in which way."""
    count = len(outcomes.clip_ids)
    return (
        replace(results, clips={}, predictions={}, explanations={}, probes={}, repeats={}, warnings=()),
        replace(
            outcomes,
            clip_ids=("",) * count,
            statuses=tuple(sorted(outcomes.statuses)),
            explanations=(Explanation(),) * count,
            prediction=np.full_like(outcomes.prediction, np.nan),
            truth=np.full_like(outcomes.truth, np.nan),
            sources=np.zeros_like(outcomes.sources),
            probes=((),) * count,
            repeats=(None,) * count,
            known=Known(),
            warnings=(),
        ),
    )


def redact_numbers(evaluation: Evaluation, settings: Settings) -> Evaluation:
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
        columns=tuple((column, _closed(column, estimate, ranking)) for column, estimate in evaluation.columns),
        targets=(),
        # Whether a clip passes the gate of known causes reveals how far its prediction is from its label.
        clips=tuple(
            clip and replace(clip, axes={axis.key: clip.axes[axis.key] for axis in LABEL_FREE if axis.key in clip.axes})
            for clip in evaluation.clips
        ),
        cues=tuple(replace(cue, with_causes=None) for cue in evaluation.cues),
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
        error_analysis={key: share and round(share, 1) for key, share in evaluation.error_analysis.items()},
        sources=evaluation.sources,
        left_out=evaluation.left_out,
        fairness=evaluation.fairness,
    )


def _coarse_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    """Round one number: diagnostics depend on a model's answers, which could encode clips."""
    if diagnostic.value is None:
        return diagnostic
    places = 2 if diagnostic.unit in {"range", "share"} else 1
    return replace(diagnostic, value=round(diagnostic.value, places))
