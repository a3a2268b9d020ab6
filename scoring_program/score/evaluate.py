"""Evaluate one run: every column and every metric, with intervals and the constant baseline, and each clip."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Unit
from score.axes.faithfulness import KINDS, marks
from score.axes.registry import LABEL_FREE, REGISTRY
from score.axes.table import AxisSums, ClipAxes, axis_values, clip_axes, explains_nothing, not_applicable
from score.columns import NOT_COMPARABLE, Column, Measured, columns
from score.cues import CueNumbers, cue_table
from score.diagnostics import (
    Diagnostic,
    ErrorShares,
    RankCurve,
    ReactionSize,
    RightReasons,
    analyse_errors,
    diagnose,
    rank_curves,
    reaction_size,
    right_reasons,
)
from score.fairness import Fairness, measure_fairness
from score.metrics import METRICS, Moments, moments, percentile_interval, resample_weights
from score.order import ratio
from score.read.answers import Explanation
from score.read.outcomes import Outcomes
from score.read.reference import JuryRating
from score.settings import AxisWeights, Settings, Target
from score.text.reading import Triple


@dataclass(frozen=True)
class UnitNumbers:
    """One unit of a clip, as its map or timeline marks it."""

    unit: Unit
    weight: float
    """Mean weight of the clip's map or timeline there, >= 0."""

    @property
    def effect(self) -> float | None:
        """Joint effect on all targets, on the unit scale, >= 0; None without a valid answer."""
        return _known(self.unit.effect)


@dataclass(frozen=True)
class ClipNumbers:
    """One clip. Effects and claims are about the target on which its explanation was judged, on the unit scale."""

    target: int
    axes: Mapping[str, float]
    """Value of each axis that applies to the clip, by key, in [-1, 1]; that of known causes depends on the label."""
    label_free_mean: float
    """Mean of the values that do not depend on labels, weighted as in the total, in [-1, 1]."""
    units: Mapping[str, tuple[UnitNumbers, ...]]
    """By ``space`` and ``time``: units, highest weight first; a kind without any is left out."""
    edited: Mapping[str, float | None]
    """By cue: how much lower the prediction is without it; None without a valid answer."""
    claimed: Mapping[str, float]
    """By cue: the claim that counts, in [-1, 1], never 0."""
    stated: frozenset[Triple]
    """Claims of the text about any target: cue, target, and 1 (raised) or -1 (lowered)."""
    epsilon: float
    """Smallest change of its target that counts, > 0."""
    joint_epsilon: float
    """Smallest joint effect that counts, > 0."""


def clip_numbers(
    outcomes: Outcomes, counted: Outcomes, axes: ClipAxes, settings: Settings
) -> tuple[ClipNumbers | None, ...]:
    """Gather the numbers of every clip of the reference; None for a clip without a prediction."""
    means = held_up(axes.table, settings.explanation_score.weights)
    values = {key: axis.clip_values(axes.table) for key, axis in REGISTRY.items()}
    numbers = {
        clip_id: _numbers(
            row,
            counted,
            axes,
            {key: float(of_clips[row]) for key, of_clips in values.items() if not np.isnan(of_clips[row])},
            float(means[row]),
            settings,
        )
        for row, clip_id in enumerate(counted.clip_ids)
        if counted.statuses[row] == "ok"
    }
    return tuple(numbers.get(clip_id) for clip_id in outcomes.clip_ids)


def held_up(table: AxisSums, weights: AxisWeights) -> NDArray[np.float64]:
    """Return each clip's mean of the axes that do not depend on its label, weighted as in the total.

    Returns (n,) in [-1, 1]; 0 if none of the axes that apply to a clip has a weight.
    """
    share = np.array([getattr(weights, axis.key) for axis in LABEL_FREE])
    values = np.column_stack([axis.clip_values(table) for axis in LABEL_FREE])
    return ratio(np.nan_to_num(np.clip(values, -1.0, 1.0)) @ share, ~np.isnan(values) @ share)


def _numbers(
    row: int, counted: Outcomes, axes: ClipAxes, values: dict[str, float], mean: float, settings: Settings
) -> ClipNumbers:
    calls, explanation = counted.probes[row], counted.explanations[row]
    effects, target = axes.effects, int(axes.target[row])
    vocabulary = settings.explanation_score.vocabulary
    return ClipNumbers(
        target=target,
        axes=values,
        label_free_mean=mean,
        units={kind: units for kind in KINDS if (units := _units(row, explanation, axes, kind))},
        edited={
            call.cue: _known(effects.edited[row, vocabulary.index(call.cue)])
            for call in calls
            if call.kind == "cue" and call.cue in vocabulary
        },
        claimed={
            vocabulary[cue]: float(axes.readings.claims[row, target, cue])
            for cue in np.flatnonzero(axes.readings.claims[row, target])
        },
        stated=axes.readings.stated[row],
        epsilon=float(effects.epsilon[row]),
        joint_epsilon=effects.joint_epsilon,
    )


def _units(row: int, explanation: Explanation, axes: ClipAxes, kind: str) -> tuple[UnitNumbers, ...]:
    units = axes.effects.of(row, kind)
    weights = marks(explanation, kind, units)
    if weights is None:
        return ()
    return tuple(UnitNumbers(units[at], float(weights[at])) for at in np.argsort(-weights, kind="stable"))


def _known(change: float) -> float | None:
    return None if np.isnan(change) else float(change)


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """One number with its interval and baseline."""

    value: float
    """Value over all clips that count."""
    interval: tuple[float, float] | None
    """Bootstrap interval; None without resamples, with fewer than two sources, or for facts such as the run time."""
    baseline: float | None
    """The constant baseline's value on the same clips; None if it has none."""


@dataclass(frozen=True)
class Evaluation:
    """All numbers of one run."""

    columns: tuple[tuple[Column, Estimate], ...]
    """The score columns, in leaderboard order."""
    targets: tuple[tuple[Target, dict[str, Estimate]], ...]
    sources: int
    left_out: frozenset[str] = frozenset()
    """Axes that no clip can measure, and that the total leaves out."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Unscored numbers; none depends on a label."""
    error_analysis: ErrorShares = field(default_factory=dict)
    """Where explanations lose points; none depends on a label."""
    curves: tuple[RankCurve, ...] = ()
    """Effect of exchanging by rank of the mark, in space and in time; unscored."""
    clips: tuple[ClipNumbers | None, ...] = ()
    """One entry a clip of the reference; None for a clip without a prediction."""
    cues: tuple[CueNumbers, ...] = ()
    """Claims and effects of each cue; unscored."""
    fairness: Fairness | None = None
    """How groups of people are treated; None if the phase has no groups."""
    reasons: RightReasons | None = None
    """Right and wrong predictions, grounded or not; None if the phase has no known causes."""


@dataclass(frozen=True)
class ClipScores:
    """The data behind every column of a run, one row per counted clip; also used to compare runs.

    With ``by_source`` and a matrix of weights (resamples, sources), ``column_values`` gives every column for every
    resample. Runs over the same clips have the same sources in the same order, so common weights pair them.
    """

    settings: Settings
    clip_ids: tuple[str, ...]
    """n ids, ascending; clips that cannot be decoded are left out."""
    sources: NDArray[np.int64]
    """(n,) number of each clip's source, 0 .. g-1."""
    moments: Moments
    """(n, ...) addends of the metrics of predictions."""
    axes: AxisSums
    """(n, ...) addends of the axes."""
    has_causes: bool
    reasons: RightReasons | None
    """Right and wrong predictions, grounded or not, for no column; None if the phase has no known causes."""
    reaction: ReactionSize
    """How strongly the model reacts to exchanges, relative to its claims; for no column."""

    @property
    def left_out(self) -> frozenset[str]:
        """Axes that no clip can measure, and that the total leaves out."""
        return not_applicable(self.axes, causes=self.has_causes)

    @property
    def groups(self) -> int:
        """Number of sources."""
        return int(self.sources.max()) + 1

    def by_source(self) -> tuple[Moments, AxisSums]:
        """Sum the rows of each source: a resample weighs sources, so clips need to be summed only once."""
        return self.moments.grouped(self.sources, self.groups), self.axes.grouped(self.sources, self.groups)

    def measured(
        self,
        sums: tuple[Moments, AxisSums],
        jury: float = 0.0,
        failed_clips: float = 0.0,
        duration_s: float = 0.0,
        not_comparable: float = 0.0,
    ) -> Measured:
        """Compute the input of the columns from sums of rows, and from what is the same in every resample."""
        metrics = {name: metric(sums[0]) for name, metric in METRICS.items()}
        axes = axis_values(sums[1], self.settings, self.left_out)
        return Measured(metrics, axes, jury, failed_clips, duration_s, not_comparable)


def clip_scores(outcomes: Outcomes, settings: Settings) -> ClipScores:
    """Gather the addends of every column, clip by clip.

    `outcomes`: one outcome for each clip of the reference; unreadable clips are left out here.
    """
    return _terms(outcomes.only_counted(), settings)[0]


def column_values(scores: ClipScores, weights: Array) -> dict[str, Array]:
    """Compute every column that has an interval, for many weightings of the sources at once.

    `weights`: (b, g) how often each source counts; a row of ones gives the scores themselves. Returns (b,) unrounded
    values by column key, without columns that are the same in every resample.
    """
    by_source = scores.by_source()
    measured = scores.measured((by_source[0].weighted(weights), by_source[1].weighted(weights)))
    values = {column.key: column.compute(measured) for column in columns(scores.settings)}
    return {key: value for key, value in values.items() if isinstance(value, np.ndarray)}


def _terms(outcomes: Outcomes, settings: Settings) -> tuple[ClipScores, ClipAxes, Moments]:
    """Return the addends of the run, its axes, and the constant baseline's addends; all outcomes must count."""
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    constant = (np.array([target.constant for target in settings.targets]) - low) / span
    truth, prediction = (outcomes.truth - low) / span, (outcomes.prediction - low) / span
    _, sources = np.unique(outcomes.sources, return_inverse=True)
    axes = clip_axes(outcomes, settings, truth, prediction, constant)
    table = moments(truth, prediction, constant)
    scores = ClipScores(
        settings=settings,
        clip_ids=outcomes.clip_ids,
        sources=sources.astype(np.int64),
        moments=table,
        axes=axes.table,
        has_causes=outcomes.known.causes is not None,
        reasons=right_reasons(outcomes, axes, settings),
        reaction=reaction_size(axes.effects, axes.readings, axes.importance),
    )
    return scores, axes, moments(truth, np.broadcast_to(constant, truth.shape), constant)


def evaluate(
    outcomes: Outcomes,
    settings: Settings,
    duration_s: float,
    jury: JuryRating | None = None,
    *,
    not_comparable: bool = False,
) -> Evaluation:
    """Compute every number of a run.

    `outcomes`: one outcome for each clip of the reference; unreadable clips are left out here.
    `duration_s`: wall time of ingestion in seconds, >= 0.
    `jury`: rating of these explanations; None without one.
    `not_comparable`: whether a busy machine cost the run time.
    """
    counted = outcomes.only_counted()
    scores, axes, always = _terms(counted, settings)

    def measure(sums: Moments, table: AxisSums) -> Measured:
        rating = jury.value if jury else 0.0
        return scores.measured((sums, table), rating, outcomes.failed, duration_s, float(not_comparable))

    everything = np.ones((1, len(scores.clip_ids)))
    by_source = scores.by_source()
    resamples = settings.bootstrap.resamples if scores.groups > 1 else 0
    chunks = resample_weights(scores.groups, resamples, settings.bootstrap.seed)
    point = measure(scores.moments.weighted(everything), scores.axes.weighted(everything))
    baseline = measure(always.weighted(everything), explains_nothing(scores.axes).weighted(everything))
    draws = [measure(by_source[0].weighted(weights), by_source[1].weighted(weights)) for weights in chunks]

    def estimate(compute: Callable[[Measured], Array | float]) -> Estimate:
        value, interval = compute(point), None
        if isinstance(value, float | int):  # a fact, such as the run time
            return Estimate(float(value), None, None)
        if draws:
            drawn = np.concatenate([np.asarray(compute(draw)) for draw in draws])
            low, high = percentile_interval(drawn, settings.bootstrap.level)
            interval = float(low), float(high)
        return Estimate(float(value[0]), interval, float(np.asarray(compute(baseline))[0]))

    def metric(name: str, target: int) -> Estimate:
        return estimate(lambda measured: measured.metrics[name][:, target])

    curves = rank_curves(counted.explanations, axes.effects)
    return Evaluation(
        columns=tuple((column, estimate(column.compute)) for column in columns(settings)),
        targets=tuple(
            (target, {name: metric(name, number) for name in METRICS}) for number, target in enumerate(settings.targets)
        ),
        sources=scores.groups,
        left_out=scores.left_out,
        diagnostics=diagnose(counted.explanations, axes, curves, scores.reaction),
        error_analysis=analyse_errors(counted.explanations, axes, ~np.isnan(counted.prediction[:, 0])),
        curves=curves,
        clips=clip_numbers(outcomes, counted, axes, settings),
        cues=cue_table(counted, axes, settings.explanation_score.vocabulary),
        fairness=measure_fairness(outcomes, settings),
        reasons=scores.reasons,
    )


def worst_values(
    settings: Settings, outcomes: Outcomes, duration_s: float, *, not_comparable: bool = False
) -> dict[str, float | int]:
    """Return the worst scores, for a run whose computation failed on checked input.

    If the run failed instead, it would cost no attempt and would reveal which predictions break the computation.
    """
    clips = int(outcomes.counted.sum())
    own = {"failed_clips": clips, "duration_s": duration_s, NOT_COMPARABLE: not_comparable}
    return {
        column.key: column.rounded(own.get(column.key, 0.0) if column.worst is None else column.worst)
        for column in columns(settings)
    }
