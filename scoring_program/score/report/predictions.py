"""The section on predictions."""

from __future__ import annotations

from score.evaluation import Estimate
from score.metrics import METRICS
from score.report.content.predictions import MetricCell, Predictions, TargetRow
from score.report.numbers import interval, number
from score.report.scored import COARSE_DECIMALS, MOST_DECIMALS, Scored

METRIC_TITLES = {"accuracy": "Accuracy", "r2": "R²", "ccc": "CCC", "pearson": "Pearson", "skill": "Skill"}


def predictions(scored: Scored) -> Predictions:
    """Build the section."""
    places = MOST_DECIMALS if scored.settings.report.clips else COARSE_DECIMALS
    return Predictions(
        metric_titles=tuple(METRIC_TITLES[name] for name in METRICS),
        targets=tuple(
            TargetRow(target.title, tuple(_cell(metrics[name], places) for name in METRICS))
            for target, metrics in scored.evaluation.targets
        ),
    )


def _cell(estimate: Estimate, places: int) -> MetricCell:
    baseline = "" if estimate.baseline is None else number(estimate.baseline, places)
    return MetricCell(number(estimate.value, places), interval(estimate.interval, places), baseline)
