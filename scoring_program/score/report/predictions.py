"""The section on predictions."""

from __future__ import annotations

from collections.abc import Iterable

from score.evaluation.evaluate import Estimate
from score.measure.metrics import METRICS
from score.report.content.predictions import Comparison, MetricCell, Predictions, TargetRow
from score.report.group_gaps import group_gaps
from score.report.numbers import NONE, interval, number
from score.report.plots import plots
from score.report.scored import MOST_DECIMALS, Scored

METRIC_TITLES = {"accuracy": "Accuracy", "r2": "R²", "ccc": "CCC", "pearson": "Pearson", "skill": "Skill"}
_CONSTANT_HAS_NONE = ("ccc", "pearson", "skill")
"""Metrics in which the constant has 0 by definition, which needs no line of its own."""
_COMPARED = ("accuracy", "ccc")


def predictions(scored: Scored) -> Predictions:
    """Build the section."""
    return Predictions(
        metric_titles=tuple(METRIC_TITLES[name] for name in METRICS),
        targets=tuple(
            TargetRow(target.title, tuple(_cell(name, metrics[name]) for name in METRICS))
            for target, metrics in scored.evaluation.targets
        ),
        comparisons=tuple(_comparisons(scored)),
        plots=plots(scored),
        main_title=scored.settings.main.title,
        groups=group_gaps(scored),
    )


def _cell(name: str, estimate: Estimate) -> MetricCell:
    constant = None if name in _CONSTANT_HAS_NONE else estimate.baseline
    baseline = "" if constant is None else number(constant, MOST_DECIMALS)
    return MetricCell(number(estimate.value, MOST_DECIMALS), interval(estimate.interval, MOST_DECIMALS), baseline)


def _comparisons(scored: Scored) -> Iterable[Comparison]:
    known = [item for item in scored.beside.landmarks.items if item.targets]
    for metric in _COMPARED if known else ():
        rows = []
        for target, metrics in scored.evaluation.targets:
            others = [item.targets.get(target.name, {}).get(metric) for item in known]
            values = [metrics[metric].value, *others]
            rows.append((target.title, tuple(NONE if one is None else number(one, MOST_DECIMALS) for one in values)))
        yield Comparison(METRIC_TITLES[metric], ("This run", *(item.title for item in known)), tuple(rows))
