"""Axis values and measurements of single clips, for phases whose clips are open."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Unit
from score.axes.faithfulness import KINDS, marks
from score.axes.known_causes import PART_WEIGHTS, PARTS
from score.axes.table import AxisSums, ClipAxes
from score.measure.order import clip_skill
from score.read.outcomes import Outcomes
from score.read.output.explanation_record import Explanation
from score.settings import AxisWeights, Settings
from score.text.reading import Triple

LABEL_FREE = ("faithfulness_space", "faithfulness_time", "cue_claims", "text")
"""Axes that judge a clip without its label."""


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
    space: float
    """Faithfulness in space, in [-1, 1]."""
    time: float
    """Faithfulness in time, in [-1, 1]."""
    claims: float
    """Cue claims, in [-1, 1]."""
    text: float
    """Text without its specificity, in [0, 1]."""
    causes: float | None
    """Agreement with known causes, in [-1, 1]; None if the clip fails the gate. It depends on the label."""
    held: float
    """Mean of the four values above that do not depend on labels, weighted as in the total, in [-1, 1]."""
    units: Mapping[str, tuple[UnitNumbers, ...]]
    """By ``space`` and ``time``: units, highest weight first; a kind without any is left out."""
    edited: Mapping[str, float | None]
    """By cue: how much lower the prediction is without it; None without a valid answer."""
    claimed: Mapping[str, float]
    """By cue: the claim that counts, in [-1, 1], never 0."""
    told: frozenset[Triple]
    """Claims of the text about any target: cue, target, and 1 (raised) or -1 (lowered)."""
    epsilon: float
    """Smallest change of its target that counts, > 0."""
    joint_epsilon: float
    """Smallest joint effect that counts, > 0."""


def clip_numbers(
    outcomes: Outcomes, counted: Outcomes, axes: ClipAxes, settings: Settings
) -> tuple[ClipNumbers | None, ...]:
    """Gather the numbers of every clip of the reference; None for a clip without a prediction."""
    held, values = held_up(axes.table, settings.explanation_score.weights), label_free(axes.table)
    judged = {
        clip_id: _numbers(row, counted, axes, (values[row], float(held[row])), settings)
        for row, clip_id in enumerate(counted.clip_ids)
        if counted.statuses[row] == "ok"
    }
    return tuple(judged.get(clip_id) for clip_id in outcomes.clip_ids)


def held_up(table: AxisSums, weights: AxisWeights) -> NDArray[np.float64]:
    """Return each clip's mean of the axes that do not depend on its label, weighted as in the total.

    Returns (n,) in [-1, 1]; 0 if none of these axes has a weight.
    """
    share = np.array([getattr(weights, name) for name in LABEL_FREE])
    values = label_free(table)
    return np.asarray(np.clip(values, -1.0, 1.0) @ share / (share.sum() or 1.0))


def label_free(table: AxisSums) -> NDArray[np.float64]:
    """Return (n, 4) what each clip adds to the axes of LABEL_FREE."""
    maps = (clip_skill(sums) for sums in (table.faithfulness_space, table.faithfulness_time))
    value, weight = table.cue_claims.T
    return np.column_stack([*maps, np.where(weight > 0, value / np.where(weight > 0, weight, 1), 0), table.text[:, 0]])


def _numbers(
    row: int, counted: Outcomes, axes: ClipAxes, judged: tuple[NDArray[np.float64], float], settings: Settings
) -> ClipNumbers:
    calls, explanation = counted.probes[row], counted.explanations[row]
    table, effects, target = axes.table, axes.effects, int(axes.target[row])
    vocabulary = settings.explanation_score.vocabulary
    causes = [getattr(table, f"cause_{part}") for part in PARTS]
    shares = PART_WEIGHTS * [part[row, 1] > 0 for part in causes]
    values = dict(zip(LABEL_FREE, judged[0].tolist(), strict=True))
    return ClipNumbers(
        target=target,
        space=values["faithfulness_space"],
        time=values["faithfulness_time"],
        claims=values["cue_claims"],
        text=values["text"],
        causes=float(shares @ [clip_skill(part)[row] for part in causes] / shares.sum()) if shares.any() else None,
        held=judged[1],
        units={kind: found for kind in KINDS if (found := _units(row, explanation, axes, kind))},
        edited={
            call.cue: _known(effects.edited[row, vocabulary.index(call.cue)])
            for call in calls
            if call.kind == "cue" and call.cue in vocabulary
        },
        claimed={
            vocabulary[cue]: float(axes.readings.claims[row, target, cue])
            for cue in np.flatnonzero(axes.readings.claims[row, target])
        },
        told=axes.readings.said[row],
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
