"""The table from which every axis is computed: each clip's addends, or their weighted sums."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.cue_claims import clip_claims
from score.axes.effects import Effects, evaluated_targets, measure_effects
from score.axes.faithfulness import Agreement, agreement, faithfulness
from score.axes.known_causes import PART_WEIGHTS, clip_known_causes
from score.axes.plausibility import clip_plausibility
from score.axes.text import TextNumbers, clip_text, specificity
from score.axes.total import credited_skill, explanation_total, power_mean
from score.measure.sums import Sums
from score.read.outcomes import Outcomes
from score.read.output.probe_record import HIDDEN
from score.read.reference.known import Causes
from score.settings import Settings
from score.text.reading import Readings, read_claims

Array = NDArray[np.float64]
_NEEDS_CAUSES = frozenset({"known_causes"})


@dataclass(frozen=True)
class AxisSums(Sums):
    """Sums, or the addends of sums: (rows, width) arrays, where rows are clips, sources or resamples."""

    clips: Array
    """(rows, 1) clips."""
    covered: Array
    """(rows, 1) clips with a valid text."""
    faithfulness_space: Array
    """(rows, 2) agreement of the effects with a clip's own map and with those of others, in [-1, 1] a clip."""
    faithfulness_time: Array
    """(rows, 2) the same in time."""
    cue_claims: Array
    """(rows, 1) in [-1.25, 1.25] a clip."""
    predicted_well: Array
    """(rows, 1) clips whose prediction passes the gate of known causes."""
    cause_value: Array
    """(rows, 3) agreement with known causes by cue, space and time, in [-1, 1] a clip; 0 where the gate fails."""
    cause_defined: Array
    """(rows, 3) clips that pass the gate and have causes of that kind."""
    text: Array
    """(rows, 1) in [0, 1] a clip."""
    between: Array
    """(rows, 1) distance of the claims to those of other clips."""
    between_defined: Array
    """(rows, 1) clips for which ``between`` is defined."""
    within: Array
    """(rows, 1) distance of the claims to those of the twin."""
    within_defined: Array
    """(rows, 1) clips for which ``within`` is defined."""
    plausible: Array
    """(rows, 2) agreement with people's observations in space and time, in [-1, 1] a clip."""
    plausible_defined: Array
    """(rows, 2) clips with such observations."""
    error: Array
    """(rows, k) absolute error of the predictions that were tested; 1 for a failed clip."""
    baseline_error: Array
    """(rows, k) absolute error of the constant baseline."""
    reference_error: Array
    """(rows, k) absolute error that earns a skill factor of 1."""


@dataclass(frozen=True)
class ClipAxes:
    """The axes of each clip, and the numbers behind them."""

    table: AxisSums
    """n rows of addends."""
    readings: Readings
    effects: Effects
    maps: dict[str, Agreement]
    """By kind, ``space`` and ``time``: how the maps agree with the effects."""
    text: TextNumbers
    target: NDArray[np.int64]
    """(n,) number of each clip's evaluated target."""


def clip_axes(outcomes: Outcomes, settings: Settings, truth: Array, prediction: Array, constant: Array) -> ClipAxes:
    """Compute the axes' addends of the clips that count.

    `truth`: (n, k) labels on the unit scale.
    `prediction`: (n, k) predictions on the unit scale; NaN for a failed clip.
    `constant`: (k,) the constant baseline's predictions on the unit scale.
    """
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    vocabulary = settings.explanation.vocabulary
    main = settings.names.index(settings.main_target)
    target = evaluated_targets(outcomes.clip_ids, len(settings.targets), main, settings.bootstrap.seed)
    effects = measure_effects(outcomes.probes, prediction, (low, span), target, vocabulary)
    readings = read_claims(outcomes.explanations, settings)
    maps = {kind: agreement(outcomes.explanations, effects, kind) for kind in HIDDEN}
    error = credited_error(truth, prediction, effects)
    well = error[np.arange(len(error)), target] < settings.explanation.gate
    causes, has_causes = cause_agreement(outcomes, readings.claims, target, vocabulary)
    told = clip_text(outcomes.explanations, readings, prediction, (effects.twins, effects.twin_asked), settings)
    plausible, pointed = np.zeros((len(error), 2)), np.zeros((len(error), 2))
    if outcomes.known.observations is not None:
        plausible, pointed = clip_plausibility(outcomes.clip_ids, outcomes.explanations, outcomes.known.observations)
    reference = np.array([settings.skill_reference.get(name, 0.0) for name in settings.names]) / span
    table = AxisSums(
        clips=np.ones((len(error), 1)),
        covered=_column([explanation.text_ok for explanation in outcomes.explanations]),
        faithfulness_space=maps["space"].columns,
        faithfulness_time=maps["time"].columns,
        cue_claims=_column(clip_claims(readings.claims, effects, target)),
        predicted_well=_column(well),
        cause_value=causes * well[:, None],
        cause_defined=has_causes * well[:, None],
        text=_column(told.good),
        between=_column(np.nan_to_num(told.between)),
        between_defined=_column(~np.isnan(told.between)),
        within=_column(np.nan_to_num(told.within)),
        within_defined=_column(~np.isnan(told.within)),
        plausible=plausible,
        plausible_defined=pointed,
        error=error,
        baseline_error=np.abs(truth - constant),
        reference_error=np.broadcast_to(reference, truth.shape),
    )
    return ClipAxes(table, readings, effects, maps, told, target)


def credited_error(truth: Array, prediction: Array, effects: Effects) -> Array:
    """Absolute error of the predictions behind the skill factor: those for the jittered originals.

    Effects are measured against these answers. If the first pass counted instead, a model could predict with one
    function and be tested on another, simpler one.

    `truth`: (n, k) labels on the unit scale. `prediction`: (n, k) predictions of the first pass on the unit scale; NaN
    for a failed clip. Returns (n, k) >= 0; 1 if either call failed; that of the first pass if the original was not
    reached in the second.
    """
    tested = np.where(np.isnan(effects.original), prediction, effects.original)
    failed = np.isnan(prediction) | effects.original_failed[:, None]
    return np.where(failed, 1.0, np.abs(truth - tested))


def _column(values: object) -> Array:
    return np.asarray(values, dtype=np.float64)[:, None]


def cause_agreement(
    outcomes: Outcomes, claims: Array, target: NDArray[np.int64], vocabulary: tuple[str, ...]
) -> tuple[Array, Array]:
    """Compare explanations with the known causes of their clips, as `clip_known_causes`; all 0 without causes.

    `claims`: (n, k, v) claims. `target`: (n,) the target on which each clip is judged.
    """
    known: Causes | None = outcomes.known.causes
    if known is None:
        return np.zeros((len(target), 3)), np.zeros((len(target), 3))
    causes = [known.clips[clip_id] for clip_id in outcomes.clip_ids]
    grid = (known.rows, known.columns)
    return clip_known_causes(outcomes.explanations, claims, causes, grid, target, vocabulary)


def explains_nothing(table: AxisSums) -> AxisSums:
    """Return the table of the constant baseline on the same clips: its errors, and no explanations."""
    nothing = {name: np.zeros_like(getattr(table, name)) for name in table.__dataclass_fields__}
    kept = {name: getattr(table, name) for name in ("clips", "baseline_error", "reference_error")}
    return AxisSums(**nothing | kept | {"error": table.baseline_error})


def axis_values(sums: AxisSums, settings: Settings, *, causes: bool) -> dict[str, Array]:
    """Compute every column that is about explanations.

    `causes`: whether the phase has known causes; without them their axis is left out of the total's mean. Returns (b,)
    values by column: each axis in [0, 1], and the total ``explanation`` in [0, 100].
    """
    clips = sums.clips[:, 0]
    axes = {
        name: np.clip(faithfulness(*(getattr(sums, name) / clips[:, None]).T), 0, 1)
        for name in ("faithfulness_space", "faithfulness_time")
    }
    axes["cue_claims"] = np.clip(sums.cue_claims[:, 0] / clips, 0, 1)
    between = _mean(sums.between, sums.between_defined)[:, 0]
    within = np.where(sums.within_defined[:, 0] > 0, _mean(sums.within, sums.within_defined)[:, 0], 1.0)
    axes["text"] = sums.text[:, 0] / clips * specificity(between, within)
    axes["known_causes"] = _known_causes(sums)
    coverage = sums.covered[:, 0] / clips
    skill = credited_skill(sums.error, sums.baseline_error, sums.reference_error)
    mean = power_mean(axes, settings.explanation, frozenset() if causes else _NEEDS_CAUSES)
    plausible = _of_defined(sums.plausible, sums.plausible_defined, np.array([0.5, 0.5]))
    return axes | {
        "explanation": np.clip(explanation_total(coverage, skill, mean), 0, 100),
        "coverage": coverage,
        "plausibility": plausible,
    }


def _known_causes(sums: AxisSums) -> Array:
    """Agreement on well-predicted clips, times their share, so that the rule must be learnt first."""
    share = sums.predicted_well[:, 0] / sums.clips[:, 0]
    return share * _of_defined(sums.cause_value, sums.cause_defined, PART_WEIGHTS)


def _mean(values: Array, counts: Array) -> Array:
    return np.asarray(np.where(counts > 0, values / np.where(counts > 0, counts, 1.0), 0.0))


def _of_defined(values: Array, counts: Array, weights: Array) -> Array:
    """Weighted mean of the parts, each at least 0 (chance); parts that no clip has are left out."""
    parts = np.clip(_mean(values, counts), 0, 1)
    used = weights * (counts > 0)
    return _mean((used * parts).sum(axis=1), used.sum(axis=1))
