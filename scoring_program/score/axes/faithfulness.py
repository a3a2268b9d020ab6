"""Faithfulness in space and time: exchanging what an explanation marks most should change the predictions most."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects, Unit
from score.order import Region, order_sums
from score.read.answers import Explanation

Array = NDArray[np.float64]
KINDS = ("space", "time")
"""The map and the timeline."""


def marks(explanation: Explanation, kind: str, units: Sequence[Unit]) -> Array | None:
    """Return (u,) the mean weight that a map or timeline gives to the cells or seconds of each unit.

    None without a map or timeline, or if a unit lies outside.
    """
    weights = explanation.space if kind == "space" else explanation.time
    places = [list(unit.cells if kind == "space" else unit.seconds) for unit in units]
    if weights is None or any(there[-1] >= weights.size for there in places):
        return None
    flat = weights.ravel()
    return np.array([flat[there].mean() for there in places])


def regions(explanation: Explanation, effects: Effects, clip: int, kind: str) -> list[Region]:
    """Return the measured units of a clip with their marks, which are 0 without a map or timeline."""
    units = effects.of(clip, kind)
    found = marks(explanation, kind, units)
    weights = np.zeros(len(units)) if found is None else found
    pairs = zip(units, weights.tolist(), strict=True)
    return [Region(unit.kind, unit.effect, weight, unit.still) for unit, weight in pairs if not np.isnan(unit.effect)]


def faithfulness(explanations: Sequence[Explanation], effects: Effects, kind: str) -> Array:
    """Return the addends of `order_skill` for the maps (``space``) or timelines (``time``) of n clips."""
    clips = [regions(explanation, effects, clip, kind) for clip, explanation in enumerate(explanations)]
    return order_sums(clips, np.full(len(clips), effects.joint_epsilon), effects.failed, due=True)
