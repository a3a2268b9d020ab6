"""Faithfulness in space and time: hiding what an explanation marks most should change the prediction most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.read.output.explanation_record import Explanation

Array = NDArray[np.float64]
_NEARLY_ALL = 0.99
"""Where the average of other clips' maps is as good as that, nobody can be better, and the second half is no number."""
_DIGITS = 6
"""Weights that differ by less than this share of the largest are ties: rounding must not decide an order."""


@dataclass(frozen=True)
class Agreement:
    """How well the maps of n clips agree with the measured effects, on one axis."""

    own: Array
    """(n,) Gini correlation of a clip's effects and its own map, in [-1, 1]; 0 without a map or effects.

    Where the model failed on a call -1, and ``others`` 1, so that failing never pays.
    """
    others: Array
    """(n,) that of a clip's effects and the average of the other clips' maps; 0 where there are none."""

    @property
    def columns(self) -> Array:
        """(n, 2) both."""
        return np.stack([self.own, self.others], axis=1)


def faithfulness(own: Array, others: Array) -> Array:
    """Combine mean Gini correlations: ``1/2 own + 1/2 (own - others) / (1 - others)``.

    The second half is corrected for chance like Cohen's kappa, with the average map of other clips as chance: a map
    that is the same for all clips gets 0, an exact one gets 1. It is an average because noise must not help: it makes
    two maps differ, but not the average of many.

    Parameters
    ----------
    own, others
        (b,) means over the clips of `Agreement`'s numbers.

    Returns
    -------
    NDArray
        (b,) at most 1; 0 is chance.
    """
    return np.asarray((own + (own - others) / _room(others)) / 2)


def clip_faithfulness(columns: Array) -> Array:
    """Return each clip's part of a run's faithfulness, which is their mean: (n,) from (n, 2) `Agreement.columns`."""
    own, others = columns.T
    return np.asarray((own + (own - others) / _room(others.mean())) / 2)


def _room(others: Array) -> Array:
    """Return how much better than the average map a map could be, > 0."""
    return np.asarray(1 - np.clip(others, 0, _NEARLY_ALL))


def gini_correlation(effects: Array, weights: Array, epsilon: float) -> Array:
    """Compare effects with the order in which a map puts them: ``cov(e, rank of w) / cov(e, rank of e)``.

    1 for the order of the effects, 0 for an unrelated order, -1 for the reverse. The size of misplaced effects counts,
    not their number. (Schechtman and Yitzhaki, "A measure of association based on
    Gini's mean difference", Communications in Statistics 16, 1987.)

    Parameters
    ----------
    effects
        (u,) >= 0.
    weights
        (m, u) one map a row; equal weights share their ranks.
    epsilon
        What is too small to be an effect, > 0. A single effect of this size counts half.

    Returns
    -------
    NDArray
        (m,) in (-1, 1).
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
    """Return an explanation's map or timeline; None where it marks nothing."""
    return explanation.space if kind == "space" else explanation.time


def marked(explanation: Explanation, kind: str, places: Sequence[tuple[int, ...]]) -> Array | None:
    """Return (u,) how much an explanation marks each set of places; None where it marks nothing."""
    weights = map_of(explanation, kind)
    return None if weights is None else weights_of(weights.reshape(1, -1), places)[0]


def agreement(explanations: Sequence[Explanation], effects: Effects, kind: str) -> Agreement:
    """Compare each clip's effects with its own map, and with the average of the other clips' maps.

    Parameters
    ----------
    explanations
        n explanations.
    effects
        Measured effects on the same clips.
    kind
        ``space`` or ``time``.
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
    """Return the map of a longer or shorter clip in the length of another."""
    if weights.size == size:
        return weights
    at = (np.arange(size) + 0.5) / size * weights.size - 0.5
    return np.interp(at, np.arange(weights.size), weights)
