"""Faithfulness in space and time: hiding what an explanation marks most should change the prediction most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.read.output.explanation_record import Explanation

Array = NDArray[np.float64]
_NEARLY_ALL = 0.99
"""Limit for the average of other clips' maps: close to 1, nothing can be better, and the division fails."""
_DIGITS = 6
"""Weights that differ by less than this share of the largest are ties: rounding must not decide an order."""


@dataclass(frozen=True)
class Agreement:
    """How well the maps of n clips agree with the measured effects, on one axis."""

    own: Array
    """(n,) Gini correlation of a clip's effects and its own map, in [-1, 1]; 0 without a map or effects.

    If the model failed on a call, this is -1 and ``others`` is 1, so that failing never pays.
    """
    others: Array
    """(n,) the same with the average of the other clips' maps; 0 without any."""

    @property
    def columns(self) -> Array:
        """(n, 2) ``own`` and ``others``."""
        return np.stack([self.own, self.others], axis=1)


def faithfulness(own: Array, others: Array) -> Array:
    """Combine mean Gini correlations: ``1/2 own + 1/2 (own - others) / (1 - others)``.

    The second half is corrected for chance like Cohen's kappa, with the average map of other clips as chance: a map
    that is the same for all clips gets 0, an exact one gets 1. The average is used because noise must not help: it
    makes two maps differ, but hardly the average of many.

    `own` and `others`: (b,) means over the clips of `Agreement`'s numbers. Returns (b,) at most 1; 0 is chance.
    """
    return np.asarray((own + (own - others) / _room(others)) / 2)


def clip_faithfulness(columns: Array) -> Array:
    """Return each clip's faithfulness, whose mean is that of the run: (n,) from (n, 2) `Agreement.columns`."""
    own, others = columns.T
    return np.asarray((own + (own - others) / _room(others.mean())) / 2)


def _room(others: Array) -> Array:
    """Return how far a map could exceed the average map, > 0."""
    return np.asarray(1 - np.clip(others, 0, _NEARLY_ALL))


def gini_correlation(effects: Array, weights: Array, epsilon: float) -> Array:
    """Compare effects with the order in which a map puts them: ``cov(e, rank of w) / cov(e, rank of e)``.

    1 for the order of the effects, 0 for an unrelated order, -1 for the reverse. The size of misplaced effects counts,
    not their number. (Schechtman and Yitzhaki, "A measure of association based on
    Gini's mean difference", Communications in Statistics 16, 1987.)

    `effects`: (u,) >= 0.
    `weights`: (m, u) one map a row; equal weights share their ranks.
    `epsilon`: smallest effect that counts, > 0. A single effect of this size counts half.
    Returns (m,) in (-1, 1).
    """
    count = effects.size
    middle = (count + 1) / 2
    most = effects @ (_ranks(effects[None])[0] - middle) + epsilon * (count - 1) / 2
    return np.asarray((_ranks(weights) - middle) @ effects / most)


def _ranks(values: Array) -> Array:
    """Rank each row, 1 for the lowest; ties share the mean of their ranks."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    scaled = np.round(values / np.where(largest > 0, largest, 1.0), _DIGITS)
    above = (scaled[:, :, None] > scaled[:, None, :]).sum(axis=2)
    equal = (scaled[:, :, None] == scaled[:, None, :]).sum(axis=2)
    return np.asarray(above + (equal + 1) / 2)


def weights_of(maps: Array, places: Sequence[tuple[int, ...]]) -> Array:
    """Return the mean weight of each map over each set of places, shape (m, u), for maps of shape (m, p)."""
    shares = np.zeros((maps.shape[1], len(places)))
    for number, each in enumerate(places):
        shares[list(each), number] = 1 / len(each)
    return np.asarray(maps @ shares)


def map_of(explanation: Explanation, kind: str) -> Array | None:
    """Return an explanation's map or timeline; None without one."""
    return explanation.space if kind == "space" else explanation.time


def marked(explanation: Explanation, kind: str, places: Sequence[tuple[int, ...]]) -> Array | None:
    """Return (u,) how much an explanation marks each set of places; None without a map."""
    weights = map_of(explanation, kind)
    return None if weights is None else weights_of(weights.reshape(1, -1), places)[0]


def agreement(explanations: Sequence[Explanation], effects: Effects, kind: str) -> Agreement:
    """Compare each clip's effects with its own map, and with the average of the other clips' maps.

    `kind`: ``space`` or ``time``.
    """
    given = ((clip, map_of(explanation, kind)) for clip, explanation in enumerate(explanations))
    maps = {clip: weights.ravel() / weights.sum() for clip, weights in given if weights is not None}
    sums = {size: sum(_stretched(each, size) for each in maps.values()) for size in {one.size for one in maps.values()}}
    own, others = np.zeros(len(explanations)), np.zeros(len(explanations))
    for clip, weights in maps.items():
        hidden = effects.hidden[kind][clip]
        if hidden.failed:
            own[clip], others[clip] = -1.0, 1.0
        elif len(hidden.places) > 1:
            both = weights_of(np.stack([weights, sums[weights.size] - weights]), hidden.places)
            own[clip], others[clip] = gini_correlation(hidden.changes, both, float(effects.epsilon[clip]))
    return Agreement(own, others)


def _stretched(weights: Array, size: int) -> Array:
    """Resample the timeline of one clip to the length of another."""
    if weights.size == size:
        return weights
    at = (np.arange(size) + 0.5) / size * weights.size - 0.5
    return np.interp(at, np.arange(weights.size), weights)
