"""Area under the curve, fair to ties, and Pearson's correlation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from score.read.answers import ProbeCall

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_NO_SPREAD = 1e-12
"""Share of the largest value below which differences are rounding errors."""


def average_ranks(values: Array) -> Array:
    """Ranks 1 .. n; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse])


def auc(scores: Array, positive: Mask) -> float:
    """Area under the ROC curve of scores for a mask with both kinds of places; 0.5 for equal scores."""
    hits = int(positive.sum())
    misses = len(positive) - hits
    above = average_ranks(scores)[positive].sum() - hits * (hits + 1) / 2
    return float(above / (hits * misses))


def above_chance_auc(scores: Array, positive: Mask) -> float:
    """AUC rescaled so that chance is 0: ``2 AUC - 1``, in [-1, 1]."""
    return 2 * auc(scores, positive) - 1


def correlation(first: Array, second: Array) -> float:
    """Pearson's correlation; 0 if one side has no spread, whatever the scale of the other."""
    a, b = _centred(first), _centred(second)
    below = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / below if below > 0 else 0.0


def _centred(values: Array) -> Array:
    """Subtract the mean and rescale, so that no square overflows or underflows; all 0 without spread."""
    scaled = values / (np.abs(values).max() or 1.0)
    rest = scaled - scaled.mean()
    return np.asarray(np.where(np.abs(rest).max() > _NO_SPREAD, rest, 0.0))


SKILL_SHARE = 0.1
"""Share of the skill in the result; the rest is the agreement itself.

More of it takes more from the best single order, but as much from the certainty of every score, since it stretches the
scale near 1. With 0.1, standard errors grow by a tenth, and the best single order is an eighth further behind."""
HIGHEST_YARDSTICK = 0.9
"""Limit of the yardstick: close to 1, nothing could be better, and the division fails."""
STILL_WEIGHT = 0.25
"""Weight of a pair with a region in which nothing happens: that it matters less is known without seeing the clip."""
_DIGITS = 6
"""Weights that differ by less than this share of the largest are ties: rounding must not decide an order."""
_SUMS = 4


@dataclass(frozen=True)
class Region:
    """A place, a time or a cue of one clip, with its effect."""

    kind: str
    """What it shows, such as ``mouth``."""
    effect: float
    """Effect of exchanging it, or contribution to the label, on the unit scale; signed if the weight is."""
    weight: float
    """How much the explanation marks it; 0 without an explanation."""
    still: bool = False
    """Whether nothing happens in it."""


def order_sums(
    clips: Sequence[Sequence[Region]],
    smallest: Array,
    failed: NDArray[np.bool_] | None = None,
    *,
    due: bool = False,
) -> Array:
    """Return each clip's addends: what `order_skill` computes its result from.

    A pair of regions weighs as much as their effects differ, so clips weigh by the size of their effects.

    `clips`: the regions of each of n clips; fewer than two have no order. `smallest`: (n,) smallest difference of two
    effects that noise could not have caused, >= 0; smaller ones are not ordered. `failed`: (n,) clips on which the
    model failed: they count as the worst order of the largest effects, and as the best single order, so that failing
    cannot lower the yardstick. `due`: whether every clip should have been measured: one without effects counts as an
    average clip without an order. Returns (n, 4 + p): agreement, its largest possible value, the parts of this that
    were measured and that failed, and for each of p pairs of kinds the sum of differences of their effects.
    """
    kinds = sorted({region.kind for regions in clips for region in regions})
    column_of = {pair: number for number, pair in enumerate(combinations(kinds, 2))}
    sums = np.zeros((len(clips), _SUMS + len(column_of)))
    for row, regions, least in zip(sums, clips, smallest, strict=True):
        weights = np.array([region.weight for region in regions], dtype=np.float64)
        largest = np.abs(weights).max(initial=0.0)
        weights = np.round(weights / largest, _DIGITS) if largest > 0 else weights
        for (first, first_mark), (second, second_mark) in combinations(zip(regions, weights, strict=True), 2):
            difference = first.effect - second.effect
            worth = STILL_WEIGHT if first.still or second.still else 1.0
            row[1] += worth * abs(difference)
            if abs(difference) <= least:  # due, but noise hides it: being noisy must not pay
                continue
            row[0] += worth * difference * np.sign(first_mark - second_mark)
            row[2] += worth * abs(difference)
            if first.kind < second.kind:
                row[_SUMS + column_of[first.kind, second.kind]] += worth * difference
            elif first.kind > second.kind:
                row[_SUMS + column_of[second.kind, first.kind]] -= worth * difference
    measured = sums[sums[:, 2] > 0, 1]
    if due and measured.size:
        without = sums[:, 2] == 0
        sums[without, 1] = np.maximum(sums[without, 1], measured.mean())
    if failed is not None:
        sums[failed] = 0.0
        sums[failed, :_SUMS] = np.array([-1.0, 1.0, 0.0, 1.0]) * (measured.max() if measured.size else 1.0)
    return sums


def agreement(sums: Array) -> Array:
    """Gini correlation of effects and weights: ``sum d sign(w - w') / sum |d|`` over pairs with difference d.

    1 for the order of the effects, 0 for an unrelated order or none, -1 for the reverse. (Schechtman and Yitzhaki, "A
    measure of association based on Gini's mean difference", Communications in Statistics 16, 1987.) Takes (b, 4 + p)
    sums, returns (b,).
    """
    return ratio(sums[:, 0], sums[:, 1])


def yardstick(sums: Array) -> Array:
    """Return the highest agreement of one order of the kinds for all clips, cut to 0.9: (b,) from (b, 4 + p) sums.

    It is ``sum over pairs of kinds |sum d| / sum |d|``, which the order of the kinds' mean effects gets if every clip
    has every kind; otherwise no order gets more.
    """
    usual = np.abs(sums[:, _SUMS:]).sum(axis=1) + sums[:, 3]
    return np.minimum(ratio(usual, sums[:, 2] + sums[:, 3]), HIGHEST_YARDSTICK)


def order_skill(sums: Array) -> Array:
    """Combine agreement g and yardstick R: ``0.9 g + 0.1 skill``, at most 1; the order of all clips alike gets 0.9 R.

    The skill is ``(g - R) / (1 - R)`` above the yardstick and ``(g - R) / R`` below it, at least -1, so that it is 1
    for an exact order, 0 for the best single one, and -1 for no order.

    Takes (b, 4 + p) sums, returns (b,).

    >>> sums = order_sums([[Region("eyes", 0.3, 2.0), Region("mouth", 0.1, 1.0)]], np.zeros(1))
    >>> float(order_skill(sums).round(2)[0])
    1.0
    """
    value, rule = agreement(sums), yardstick(sums)
    skill = np.where(value >= rule, _skill(value, rule, above=True), _skill(value, rule, above=False))
    return np.asarray((1 - SKILL_SHARE) * value + SKILL_SHARE * np.maximum(skill, -1.0))


def clip_skill(sums: Array) -> Array:
    """Return each clip's value of `order_skill` with the yardstick of the run: (n,) in [-1, 1] from (n, 4 + p)."""
    everything = sums.sum(axis=0, keepdims=True)
    rule = yardstick(everything)[0]
    own = agreement(sums)
    above = bool(agreement(everything)[0] >= rule)
    return np.asarray(np.clip(own * (1 - SKILL_SHARE) + SKILL_SHARE * _skill(own, rule, above=above), -1, 1))


def _skill(value: Array, rule: Array | float, *, above: bool) -> Array:
    reach = 1 - np.asarray(rule) if above else np.maximum(rule, 1e-9)
    return np.asarray((value - rule) / reach)


def ratio(part: Array, whole: Array) -> Array:
    """Divide; 0 where there is nothing to divide by."""
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0))


SMALLEST_EFFECT = 5e-4
"""Share of the range below which no effect counts, whatever the submission's own noise."""


def pass_difference(first: Array, again: Array) -> Array:
    """Mean difference between the answers of two passes to the same clip, which differ by a slight jitter.

    `first` and `again`: (n, k) predictions; NaN without one. Returns (k,) >= 0; 0 if no clip was asked twice.
    """
    difference = np.abs(first - again)
    asked = ~np.isnan(difference)
    return np.asarray(np.where(asked, difference, 0).sum(axis=0) / np.maximum(1, asked.sum(axis=0)))


def resolution(repeated: Array | None, targets: int) -> Array:
    """Smallest effect that counts: ``max(5e-4, 2 repeated)``: small is only what noise could have caused.

    All altered copies of a clip share their jitter, so noise from different jitter is not part of any effect.

    `repeated`: (k,) largest difference between two answers to the same copy; None if none was asked again.
    `targets`: k. Returns (k,) on the unit scale.
    """
    smallest = np.full(targets, SMALLEST_EFFECT)
    return smallest if repeated is None else np.maximum(smallest, 2 * repeated)


def repeated_difference(calls: Iterable[Sequence[ProbeCall]], span: Array) -> Array | None:
    """Largest difference between the answers of two processes to one altered copy.

    The copy is identical, so any difference comes from chance or from what the model saw before.

    `span`: (k,) width of each target's range. Returns (k,) >= 0; None if no copy has two valid answers.
    """
    differences = []
    for recorded in calls:
        first = {call.name: call.prediction for call in recorded if not call.again}
        for call in recorded:
            before = first.get(call.name)
            if call.again and before is not None and call.prediction is not None:
                differences.append(np.abs(np.subtract(before, call.prediction)) / span)
    return np.max(differences, axis=0) if differences else None
