"""The total: coverage times skill factor times a power mean of the axes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import mean_of_parts
from score.axes.cue_claims import claim_sums
from score.axes.effects import Effects, evaluated_targets, importance, measure_effects
from score.axes.faithfulness import KINDS, faithfulness
from score.axes.known_causes import PARTS, cause_sums
from score.axes.plausibility import clip_plausibility
from score.axes.registry import OF_CAUSES, REGISTRY
from score.axes.repeats import Repeatability, counted, repeatability
from score.axes.text import TextNumbers, clip_text
from score.metrics import Sums
from score.order import ratio
from score.read.known import Causes
from score.read.outcomes import Outcomes
from score.settings import AXES, ExplanationScore, Settings
from score.text.reading import ParsedClaims, read_claims

Array = NDArray[np.float64]


def power_mean(axes: Mapping[str, Array], score: ExplanationScore, left_out: frozenset[str]) -> Array:
    """Mean of the axes, ``(sum w S^p)^(1/p)``, with the weights of the axes that apply scaled to a sum of 1.

    With p below 1, a single high axis gains little, and an axis of 0 does not make the total 0.

    `axes`: each axis by name, in [0, 1]. `left_out`: axes that do not apply to the phase. Returns a value in [0, 1], in
    the shape of an axis.

    >>> axes = dict.fromkeys(AXES, np.array(0.49)) | {"cue_claims": np.array(0.0)}
    >>> power_mean(axes, ExplanationScore(), frozenset()).round(3)
    np.float64(0.194)
    """
    applied = [name for name in AXES if name not in left_out]
    whole = sum(getattr(score.weights, name) for name in applied)
    mean = sum((getattr(score.weights, name) * axes[name] ** score.power for name in applied), np.float64(0))
    return np.asarray((mean / whole) ** (1 / score.power) if whole else 0.0 * axes[AXES[0]])


def credited_skill(error: Array, baseline: Array, reference: Array) -> Array:
    """Skill as a factor: ``clip((baseline - error) / (baseline - reference), 0, 1)``, the mean over targets.

    `error`: (b, k) absolute errors, summed.
    `baseline`: (b, k) errors of the constant baseline.
    `reference`: (b, k) errors that earn a skill factor of 1.
    Returns (b,) in [0, 1]. If the baseline is as good as the reference, a target counts 1 or 0: reference reached or
    not.

    >>> credited_skill(np.array([[0.1]]), np.array([[0.2]]), np.array([[0.05]])).round(2)
    array([0.67])
    """
    reach = baseline - reference
    usable = reach > 1e-12
    share = np.clip((baseline - error) / np.where(usable, reach, 1.0), 0, 1)
    return np.asarray(np.where(usable, share, error <= reference).mean(axis=1))


@dataclass(frozen=True)
class AxisSums(Sums):
    """Sums, or the addends of sums: (rows, width) arrays, where rows are clips, sources or resamples."""

    clips: Array
    """(rows, 1) clips."""
    covered: Array
    """(rows, 1) clips with a valid text."""
    exchanged: Array
    """(rows, 1) clips with an exchange."""
    edited: Array
    """(rows, 1) clips with cue edits."""
    faithfulness_space: Array
    """(rows, 4 + p) agreement of maps and measured effects, see ``order.order_sums``."""
    faithfulness_time: Array
    """(rows, 4 + p) the same in time."""
    cue_claims: Array
    """(rows, 2) value times weight, in [-1, 1] times the weight, and weight."""
    predicted_well: Array
    """(rows, 1) clips whose prediction passes the gate of known causes."""
    cause_cue: Array
    """(rows, 4 + p) agreement of claims and known causes, see ``order.order_sums``; 0 where the gate fails."""
    cause_space: Array
    """(rows, 4 + p) the same for maps."""
    cause_time: Array
    """(rows, 4 + p) the same for timelines."""
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
    readings: ParsedClaims
    effects: Effects
    text: TextNumbers
    repeats: Repeatability
    target: NDArray[np.int64]
    """(n,) number of each clip's evaluated target."""
    importance: Array
    """(k,) weight of each target in a joint effect."""


def clip_axes(outcomes: Outcomes, settings: Settings, truth: Array, prediction: Array, constant: Array) -> ClipAxes:
    """Compute the axes' addends of the clips that count.

    `truth`: (n, k) labels on the unit scale.
    `prediction`: (n, k) predictions on the unit scale; NaN for a failed clip.
    `constant`: (k,) the constant baseline's predictions on the unit scale.
    """
    low = np.array([target.minimum for target in settings.targets])
    span = np.array([target.maximum for target in settings.targets]) - low
    vocabulary = settings.explanation_score.vocabulary
    main = settings.names.index(settings.main_target)
    target = evaluated_targets(outcomes.clip_ids, len(settings.targets), main, settings.bootstrap.seed)
    effects = measure_effects(outcomes.probes, (low, span), target, main, vocabulary)
    parsed = read_claims(outcomes.explanations, settings)
    repeats = repeatability(outcomes, effects, settings)
    maps = {kind: faithfulness(outcomes.explanations, effects, kind) for kind in KINDS}
    if outcomes.no_yardstick:
        maps = dict.fromkeys(maps, np.zeros((len(target), 4)))
    exchanged, edited = _column(outcomes.exchanged), _column(outcomes.edited)
    error = np.where(np.isnan(prediction), 1.0, np.abs(truth - prediction))
    well = error[np.arange(len(error)), target] < settings.explanation_score.gate
    causes = cause_agreement(outcomes, parsed.claims, target, settings)
    texts = clip_text(outcomes.explanations, parsed, prediction, (effects.twins, effects.twin_asked), settings)
    plausible, pointed = np.zeros((len(error), 2)), np.zeros((len(error), 2))
    if outcomes.known.observations is not None:
        plausible, pointed = clip_plausibility(outcomes.clip_ids, outcomes.explanations, outcomes.known.observations)
    reference = np.array([settings.skill_reference.get(name, 0.0) for name in settings.names]) / span
    share = {"cue": repeats.claims, "space": repeats.space, "time": repeats.time}
    table = AxisSums(
        clips=np.ones((len(error), 1)),
        covered=_column([explanation.text_ok for explanation in outcomes.explanations]),
        exchanged=exchanged,
        edited=edited,
        faithfulness_space=counted(maps["space"], repeats.space) * exchanged,
        faithfulness_time=counted(maps["time"], repeats.time) * exchanged,
        cue_claims=counted(claim_sums(parsed.claims, effects, target), repeats.claims) * edited,
        predicted_well=_column(well),
        **{f"cause_{part}": counted(causes[part], share[part]) * well[:, None] for part in PARTS},
        text=_column(texts.good) * repeats.text,
        between=_column(np.nan_to_num(texts.between)),
        between_defined=_column(~np.isnan(texts.between)),
        within=_column(np.nan_to_num(texts.within)),
        within_defined=_column(~np.isnan(texts.within)),
        plausible=plausible,
        plausible_defined=pointed,
        error=error,
        baseline_error=np.abs(truth - constant),
        reference_error=np.broadcast_to(reference, truth.shape),
    )
    return ClipAxes(table, parsed, effects, texts, repeats, target, importance(len(settings.targets), main))


def _column(values: object) -> Array:
    return np.asarray(values, dtype=np.float64)[:, None]


def cause_agreement(
    outcomes: Outcomes, claims: Array, target: NDArray[np.int64], settings: Settings
) -> dict[str, Array]:
    """Compare explanations with the known causes of their clips, as `cause_sums`; all 0 without causes.

    `claims`: (n, k, v) claims. `target`: (n,) the target on which each clip is judged.
    """
    known: Causes | None = outcomes.known.causes
    if known is None:
        return {part: np.zeros((len(target), 4)) for part in PARTS}
    causes = [known.clips[clip_id] for clip_id in outcomes.clip_ids]
    shares = importance(len(settings.targets), settings.names.index(settings.main_target))
    grid, vocabulary = (known.rows, known.columns), settings.explanation_score.vocabulary
    return cause_sums(outcomes.explanations, claims, causes, grid, target, shares, vocabulary)


def explains_nothing(table: AxisSums) -> AxisSums:
    """Return the table of the constant baseline on the same clips: its errors, and no explanations."""
    nothing = {name: np.zeros_like(getattr(table, name)) for name in table.__dataclass_fields__}
    kept = {
        name: getattr(table, name) for name in ("clips", "exchanged", "edited", "baseline_error", "reference_error")
    }
    return AxisSums(**nothing | kept | {"error": table.baseline_error})


def not_applicable(table: AxisSums, *, causes: bool) -> frozenset[str]:
    """Return the axes that the total leaves out, because no clip of the phase can measure them.

    `causes`: whether the phase has known causes.
    """
    unmeasured = {key for key, axis in REGISTRY.items() if axis.counts and not getattr(table, axis.counts).any()}
    return frozenset(unmeasured) if causes else OF_CAUSES | unmeasured


def axis_values(sums: AxisSums, settings: Settings, left_out: frozenset[str]) -> dict[str, Array]:
    """Compute every column that is about explanations.

    `left_out`: axes without a part in the total's mean. Returns (b,) values by column: each axis in [0, 1], and the
    total ``explanation`` in [0, 100].
    """
    axes = {key: axis.value(sums) for key, axis in REGISTRY.items()}
    coverage = sums.covered[:, 0] / sums.clips[:, 0]
    skill = credited_skill(sums.error, sums.baseline_error, sums.reference_error)
    mean = power_mean(axes, settings.explanation_score, left_out)
    pointed = sums.plausible_defined
    plausible = mean_of_parts(ratio(sums.plausible, pointed), pointed > 0, np.array([0.5, 0.5]))
    return axes | {
        # Skill is a factor because explaining a worthless prediction is worth nothing.
        "explanation": np.clip(100 * coverage * skill * mean, 0, 100),
        "coverage": coverage,
        "plausibility": plausible,
    }
