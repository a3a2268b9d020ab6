"""The total: coverage times skill factor times a power mean of the axes."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from score.settings import AXES, ExplanationScore

Array = NDArray[np.float64]


def power_mean(axes: Mapping[str, Array], score: ExplanationScore, left_out: frozenset[str]) -> Array:
    """Mean of the axes, ``(sum w S^p)^(1/p)``, with the weights of the axes that apply scaled to a sum of 1.

    With p below 1, a single high axis gains little, and an axis of 0 does not make the total 0.

    `axes`: each axis by name, in [0, 1]. `left_out`: axes that do not apply to the phase. Returns a value in [0, 1], in
    the shape of an axis.
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
    """
    room = baseline - reference
    usable = room > 1e-12
    share = np.clip((baseline - error) / np.where(usable, room, 1.0), 0, 1)
    return np.asarray(np.where(usable, share, error <= reference).mean(axis=1))


def explanation_total(coverage: Array, skill: Array, mean: Array) -> Array:
    """Combine: ``100 * coverage * skill * mean of the axes``.

    Skill is a factor because explaining a worthless prediction is worth nothing.
    """
    return np.asarray(100 * coverage * skill * mean)
