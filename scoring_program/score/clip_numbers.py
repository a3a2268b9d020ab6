"""How the axes judge single clips, and what was measured on them; for phases whose clips are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.reading import Triple
from score.axes.table import AxisSums, ClipAxes
from score.explanation_settings import AxisWeights
from score.outcomes import Outcomes
from score.probe_record import ProbeCall
from score.settings import Settings

LABEL_FREE = ("faithfulness_space", "faithfulness_time", "cue_claims", "text")
"""Axes that judge a clip without its label."""


@dataclass(frozen=True)
class ClipNumbers:
    """One clip. Effects and claims are about the target on which its explanation was judged, on the unit scale."""

    target: int
    """Number of that target."""
    space: float
    """Faithfulness in space, in [-1, 1]."""
    time: float
    """Faithfulness in time, in [-1, 1]."""
    claims: float
    """Cue claims, in [-1.5, 1.5]."""
    text: float
    """Text without its specificity, in [0, 1]."""
    causes: float | None
    """Agreement with known causes, in [-1, 1]; None where the clip does not count there. It depends on the label."""
    held: float
    """Mean of the four that do not depend on labels, by their weights in the total, in [-1, 1]."""
    masked: Mapping[tuple[str, str], float | None]
    """By kind and part: size of the change that masking made, >= 0; None where the model gave no valid answer."""
    edited: Mapping[str, float | None]
    """By cue: how much lower the prediction is without it; None where the model gave no valid answer."""
    claimed: Mapping[str, float]
    """By cue: what counts as claimed, in [-1, 1], never 0."""
    told: frozenset[Triple]
    """What the text says, about any target: cue, target, and 1 raised or -1 lowered."""
    epsilon: float
    """Smallest change that counts as one, > 0."""


def clip_numbers(
    outcomes: Outcomes, counted: Outcomes, axes: ClipAxes, settings: Settings
) -> tuple[ClipNumbers | None, ...]:
    """Gather the numbers of every clip of the reference; None for a clip without a prediction.

    Parameters
    ----------
    outcomes
        Of all clips of the reference.
    counted
        Of those that count.
    axes
        Their axes.
    settings
        Targets, vocabulary and weights.
    """
    held = held_up(axes.table, settings.explanation.weights)
    judged = {
        clip_id: _numbers(row, counted.probes[row], axes, held, settings)
        for row, clip_id in enumerate(counted.clip_ids)
        if counted.statuses[row] == "ok"
    }
    return tuple(judged.get(clip_id) for clip_id in outcomes.clip_ids)


def held_up(table: AxisSums, weights: AxisWeights) -> NDArray[np.float64]:
    """Give each clip the mean of the axes that judge it without its label, by their weights in the total.

    Parameters
    ----------
    table
        n rows of addends, one a clip.
    weights
        What each axis is worth in the total.

    Returns
    -------
    NDArray
        (n,) in [-1, 1]; 0 where none of these axes is worth anything.
    """
    share = np.array([getattr(weights, name) for name in LABEL_FREE])
    values = np.column_stack([getattr(table, name)[:, 0] for name in LABEL_FREE])
    return np.asarray(np.maximum(values, -1.0) @ share / (share.sum() or 1.0))


def _numbers(
    row: int, calls: Sequence[ProbeCall], axes: ClipAxes, held: NDArray[np.float64], settings: Settings
) -> ClipNumbers:
    table, effects, target = axes.table, axes.effects, int(axes.target[row])
    vocabulary = settings.explanation.vocabulary
    parts = table.cause_defined[row]
    values = {name: float(getattr(table, name)[row, 0]) for name in LABEL_FREE}
    return ClipNumbers(
        target=target,
        space=values["faithfulness_space"],
        time=values["faithfulness_time"],
        claims=values["cue_claims"],
        text=values["text"],
        causes=float(table.cause_value[row].sum() / parts.sum()) if parts.any() else None,
        held=float(held[row]),
        masked={
            name: _known(changes[row])
            for name, changes in effects.masked.items()
            if effects.failed[name][row] or not np.isnan(changes[row])
        },
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
    )


def _known(change: float) -> float | None:
    return None if np.isnan(change) else float(change)
