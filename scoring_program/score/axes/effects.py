"""Effects of exchanges and edits on the predictions: the records of the second pass as numbers."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.order import repeated_difference, resolution
from score.read.answers import Explanation, ProbeCall, original_failed, original_of

Array = NDArray[np.float64]
STILL = frozenset({"things", "quiet"})
"""Kinds of units in which nothing happens."""


@dataclass(frozen=True)
class Unit:
    """A region of space and time that was exchanged in one clip."""

    kind: str
    """What it shows, such as ``mouth``."""
    parts: tuple[str, ...]
    """Names of the exchanged parts."""
    cells: tuple[int, ...]
    """Its cells, ascending; empty if it has no place."""
    seconds: tuple[int, ...]
    """Its seconds, ascending; empty if it has no time."""
    effect: float
    """Joint effect on all targets, on the unit scale, >= 0; NaN without a valid answer."""

    @property
    def still(self) -> bool:
        """Whether nothing happens in it."""
        return self.kind in STILL


@dataclass(frozen=True)
class Effects:
    """Measured effects, on the unit scale; NaN without a pair of valid answers."""

    units: tuple[tuple[Unit, ...], ...]
    """Of each of n clips, in the order asked."""
    failed: NDArray[np.bool_]
    """(n,) whether a call for a unit, or for the original, was made without a valid answer."""
    edits: Array
    """(n, k, v) how much lower each target is without each cue of the vocabulary; signed."""
    edited: Array
    """(n, v) the same of each clip's evaluated target."""
    edit_failed: NDArray[np.bool_]
    """(n,) whether a call for an edit, or for the original, was made without a valid answer."""
    repeated: Array | None
    """(k,) largest difference between two processes' answers to one altered copy; None without such answers."""
    epsilon: Array
    """(n,) smallest effect on the clip's evaluated target that counts."""
    joint_epsilon: float
    """Smallest joint effect that counts."""
    twins: tuple[Explanation | None, ...]
    """n explanations of the jittered original, or None."""
    twin_asked: NDArray[np.bool_]
    """(n,) whether a twin was asked for."""
    asked: int
    """Calls with a line in the records."""
    answered: int

    def of(self, clip: int, kind: str) -> tuple[Unit, ...]:
        """Return the units of a clip that have a place (``space``) or a time (``time``)."""
        return tuple(unit for unit in self.units[clip] if (unit.cells if kind == "space" else unit.seconds))


def importance(targets: int, main: int) -> Array:
    """Return (k,) the weight of each target in a joint effect: the main one counts as much as all others together."""
    shares = np.full(targets, 0.5 / max(1, targets - 1))
    shares[main] = 0.5
    return np.asarray(shares / shares.sum())


def evaluated_targets(clip_ids: Sequence[str], targets: int, main: int, seed: int) -> NDArray[np.int64]:
    """Draw each clip's evaluated target: the main target for half of the clips, another target for each of the rest.

    The draw depends on the seed and the clip's id only, so it is the same for every submission.

    Returns (n,) numbers of targets.
    """
    others = [number for number in range(targets) if number != main]
    chosen = []
    for clip_id in clip_ids:
        digest = hmac.digest(str(seed).encode(), clip_id.encode(), hashlib.sha256)
        drawn = int.from_bytes(digest[1:9], "big")
        chosen.append(others[drawn % len(others)] if others and digest[0] % 2 else main)
    return np.array(chosen, dtype=np.int64)


def measure_effects(
    calls: Sequence[Sequence[ProbeCall]],
    scale: tuple[Array, Array],
    target: NDArray[np.int64],
    main: int,
    vocabulary: Sequence[str],
) -> Effects:
    """Compare every altered copy with its original.

    `scale`: (k,) minimum and (k,) width of each target's range.
    `target`: (n,) each clip's evaluated target.
    `main`: number of the main target.
    `vocabulary`: the v cues; edits of other cues are left out.
    """
    count, (low, span) = len(calls), scale
    shares = importance(len(low), main)
    units: list[tuple[Unit, ...]] = []
    failed, edit_failed, twin_asked = np.zeros((3, count), dtype=bool)
    edits = np.full((count, len(low), len(vocabulary)), np.nan)
    twins: list[Explanation | None] = [None] * count
    column_of = {cue: number for number, cue in enumerate(vocabulary)}
    asked = answered = 0
    for clip, recorded in enumerate(calls):
        unconfirmed = {call.name for call in recorded if call.again and call.prediction is None}
        clip_calls = [call for call in recorded if not call.again]
        asked += len(clip_calls)
        answered += sum(call.prediction is not None or call.twin is not None for call in clip_calls)
        base = original_of(recorded)
        # Failing must not pay: a model could crash on the copies that would contradict its explanation, or when it is
        # asked again and no longer knows its first answer.
        failed[clip] = edit_failed[clip] = original_failed(recorded)
        clip_units: list[Unit] = []
        for call in clip_calls:
            change = np.full(len(low), np.nan)
            if base is not None and call.prediction is not None:
                change = (np.array(base) - call.prediction) / span
            fails = call.prediction is None or call.name in unconfirmed
            if call.kind == "unit":
                clip_units.append(Unit(call.unit, call.parts, call.cells, call.seconds, float(shares @ np.abs(change))))
                failed[clip] |= fails
            elif call.kind == "cue" and call.cue in column_of:
                edits[clip, :, column_of[call.cue]] = change
                edit_failed[clip] |= fails
            elif call.kind == "twin":
                twins[clip], twin_asked[clip] = call.twin, True
        units.append(tuple(clip_units))
    repeated = repeated_difference(calls, span)
    smallest = resolution(repeated, len(low))
    return Effects(
        units=tuple(units),
        failed=failed,
        edits=edits,
        edited=edits[np.arange(count), target],
        edit_failed=edit_failed,
        repeated=repeated,
        epsilon=smallest[target],
        joint_epsilon=float(shares @ smallest),
        twins=tuple(twins),
        twin_asked=twin_asked,
        asked=asked,
        answered=answered,
    )
