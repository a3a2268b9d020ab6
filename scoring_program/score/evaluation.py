"""The judgement of one run: every column and every target's metrics, with intervals and the constant baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.bootstrap import percentile_interval, resample_weights
from score.columns import Column, Measured, columns
from score.metrics import METRICS, Moments, coverage, moments
from score.outcomes import Outcomes
from score.settings import Settings, Target

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """One number, with what is needed to judge it."""

    value: float
    """Over all clips that count."""
    interval: tuple[float, float] | None
    """Bootstrap interval; None without resamples, with fewer than two sources, or for a plain fact."""
    baseline: float | None
    """The constant baseline's value on the same clips; None where it has none."""


@dataclass(frozen=True)
class Evaluation:
    """All numbers of one run."""

    columns: tuple[tuple[Column, Estimate], ...]
    """The score columns, in leaderboard order."""
    targets: tuple[tuple[Target, dict[str, Estimate]], ...]
    """Each target's metrics by name."""
    sources: int
    """Number of sources that the bootstrap draws from."""


def evaluate(outcomes: Outcomes, settings: Settings, duration_s: float) -> Evaluation:
    """Compute every number of a run.

    Parameters
    ----------
    outcomes
        One outcome for each clip of the reference; unreadable clips are left out here.
    settings
        Targets and bootstrap settings.
    duration_s
        Wall time of ingestion in seconds, >= 0.
    """
    counted = outcomes.counted
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    constant = (np.array([target.constant for target in settings.targets]) - low) / span
    truth = (outcomes.truth[counted] - low) / span
    prediction = (outcomes.prediction[counted] - low) / span
    given = outcomes.coverage[counted]
    _, sources = np.unique(outcomes.sources[counted], return_inverse=True)
    groups = int(sources.max()) + 1

    def measure(sums: Moments) -> Measured:
        metrics = {name: metric(sums) for name, metric in METRICS.items()}
        return Measured(metrics, coverage(sums), outcomes.failed, duration_s)

    rows = moments(truth, prediction, constant, given)
    always = moments(truth, np.broadcast_to(constant, truth.shape), constant, np.zeros_like(given))
    everything = np.ones((1, len(truth)))
    by_source = rows.grouped(sources, groups)  # a resample weighs sources: clips need to be summed only once
    resamples = settings.bootstrap.resamples if groups > 1 else 0
    chunks = resample_weights(groups, resamples, settings.bootstrap.seed)
    judge = _Judge(
        point=measure(rows.weighted(everything)),
        baseline=measure(always.weighted(everything)),
        draws=[measure(by_source.weighted(weights)) for weights in chunks],
        level=settings.bootstrap.level,
    )
    return Evaluation(
        columns=tuple((column, judge.column(column)) for column in columns(settings)),
        targets=tuple(
            (target, {name: judge.metric(name, number) for name in METRICS})
            for number, target in enumerate(settings.targets)
        ),
        sources=groups,
    )


@dataclass(frozen=True)
class _Judge:
    """Turns what was measured into estimates."""

    point: Measured
    baseline: Measured
    draws: list[Measured]
    level: float

    def column(self, column: Column) -> Estimate:
        """Estimate one score column; facts such as the run time have neither interval nor baseline."""
        value = column.compute(self.point)
        if isinstance(value, float | int):
            return Estimate(float(value), None, None)
        return self._estimate(lambda measured: np.asarray(column.compute(measured)))

    def metric(self, name: str, target: int) -> Estimate:
        """Estimate one metric of one target."""
        return self._estimate(lambda measured: measured.metrics[name][:, target])

    def _estimate(self, compute: Callable[[Measured], Array]) -> Estimate:
        interval = None
        if self.draws:
            low, high = percentile_interval(np.concatenate([compute(draw) for draw in self.draws]), self.level)
            interval = float(low), float(high)
        return Estimate(float(compute(self.point)[0]), interval, float(compute(self.baseline)[0]))


def worst_values(settings: Settings, outcomes: Outcomes, duration_s: float) -> dict[str, float | int]:
    """Score a run whose computation broke down although its input was checked.

    Failing instead would cost no attempt, and would tell which predictions break the computation with these labels.
    """
    clips = int(outcomes.counted.sum())
    own = {"failed_clips": clips, "duration_s": duration_s}
    return {
        column.key: column.rounded(own.get(column.key, 0.0) if column.worst is None else column.worst)
        for column in columns(settings)
    }
