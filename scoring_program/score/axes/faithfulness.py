"""Faithfulness in space and time: exchanging what an explanation marks most should change the predictions most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Account, Axis, ErrorKind, Share, share_of
from score.axes.effects import Effects, Unit
from score.order import Region, agreement, clip_skill, order_skill, order_sums, yardstick
from score.read.answers import Explanation

if TYPE_CHECKING:
    from score.axes.table import AxisSums

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
    marked = marks(explanation, kind, units)
    weights = np.zeros(len(units)) if marked is None else marked
    pairs = zip(units, weights.tolist(), strict=True)
    return [Region(unit.kind, unit.effect, weight, unit.still) for unit, weight in pairs if not np.isnan(unit.effect)]


def faithfulness(explanations: Sequence[Explanation], effects: Effects, kind: str) -> Array:
    """Return the addends of `order_skill` for the maps (``space``) or timelines (``time``) of n clips."""
    clips = [regions(explanation, effects, clip, kind) for clip, explanation in enumerate(explanations)]
    return order_sums(clips, np.full(len(clips), effects.joint_epsilon), effects.failed, due=True)


def _axis(kind: str, shown: str, what: str, places: str) -> Axis:
    """Make the axis of maps (``space``) or timelines (``time``).

    `what`: a map or timeline. `places`: what it marks.
    """
    key = f"faithfulness_{kind}"

    def terms(sums: "AxisSums") -> Array:
        rows: Array = getattr(sums, key)
        return rows

    def not_above(account: Account, *, one_order: bool) -> Share:
        """Share of the tested clips whose agreement is at most chance, or that of one order for all clips."""
        sums = terms(account.axes.table)
        least = yardstick(sums.sum(axis=0, keepdims=True))[0] if one_order else 0.0
        return share_of(agreement(sums) <= least, sums[:, 2] > 0)

    return Axis(
        key=key,
        title=f"Faithfulness in {kind}",
        meaning=f"Whether the {places} that the {what} marks most move the prediction most.",
        shown=shown,
        value=lambda sums: np.clip(order_skill(terms(sums)), 0, 1),
        of_clips=lambda sums: clip_skill(terms(sums)),
        error_analysis=(
            NO_MAP if kind == "space" else NO_TIMELINE,
            ErrorKind(
                f"{kind}_reversed",
                f"Point your {what} at the {places} that drive the prediction: alter clips at home, and measure.",
                f"of the {what}s are at or below chance: the {places} they mark moved the prediction no more than "
                "the rest.",
                lambda account: not_above(account, one_order=False),
            ),
            ErrorKind(
                f"{kind}_usual",
                f"Make each {what} specific to its clip: mark what is unusual here.",
                f"of the {what}s are no better than one order of the parts for all clips.",
                lambda account: not_above(account, one_order=True),
            ),
        ),
        otherwise=f"Sharpen the {what}: rank the few {places} that drive the prediction first.",
        needs_model=True,
        counts="exchanged",
    )


NO_MAP = ErrorKind(
    "no_space",
    "Return a saliency map for every clip.",
    "of the clips have no valid saliency map.",
    lambda account: share_of([explanation.space is None for explanation in account.explanations], account.predicted),
)
NO_TIMELINE = ErrorKind(
    "no_time",
    "Return a temporal attribution for every clip.",
    "of the clips have no valid temporal attribution.",
    lambda account: share_of([explanation.time is None for explanation in account.explanations], account.predicted),
)
SPACE = _axis("space", "Place", "saliency map", "places")
TIME = _axis("time", "Time", "temporal attribution", "seconds")
