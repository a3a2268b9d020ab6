"""Effects of hiding and editing on the predictions: the records of the second pass as arrays."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.measure.noise import noise_floor, resolution
from score.read.output.explanation_record import Explanation
from score.read.output.probe_record import HIDDEN, ProbeCall

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hidden:
    """The parts hidden in one clip, one at a time, and the change that each caused."""

    places: tuple[tuple[int, ...], ...]
    """u tuples of cells or seconds, ascending."""
    parts: tuple[tuple[str, ...], ...]
    """u tuples of names of the exchanged parts; empty without an exchange."""
    changes: Array
    """(u,) absolute change on the unit scale; NaN without a valid answer."""
    failed: bool
    """Whether one of these calls, or that for the original, was made without a valid answer."""


@dataclass(frozen=True)
class Effects:
    """Measured effects on each clip's evaluated target, on the unit scale; NaN without a pair of valid answers."""

    hidden: dict[str, tuple[Hidden, ...]]
    """By kind, one for each of n clips."""
    edited: Array
    """(n, v) how much lower the prediction is without each cue of the vocabulary; signed."""
    edit_failed: NDArray[np.bool_]
    """(n,) whether a call for an edit, or for the original, was made without a valid answer."""
    original: Array
    """(n, k) predictions for the jittered originals, on the unit scale; NaN without one."""
    original_failed: NDArray[np.bool_]
    """(n,) whether a call for the jittered original, or its repeat, was made without a valid answer."""
    floor: Array
    """(k,) noise floor of each target."""
    repeated: Array | None
    """(k,) largest difference between two processes' answers to one altered copy; None without such answers."""
    epsilon: Array
    """(n,) smallest effect on the clip's evaluated target that counts."""
    twins: tuple[Explanation | None, ...]
    """n explanations of the jittered original, or None."""
    twin_asked: NDArray[np.bool_]
    """(n,) whether a twin was asked for."""
    asked: int
    """Calls with a line in the records."""
    answered: int


def evaluated_targets(clip_ids: Sequence[str], targets: int, main: int, seed: int) -> NDArray[np.int64]:
    """Draw each clip's evaluated target: the main target for half of the clips, another target for each of the rest.

    The draw depends on the seed and the clip's id only, so it is the same for every submission.

    Returns (n,) numbers of targets.
    """
    others = [number for number in range(targets) if number != main]
    chosen = []
    for clip_id in clip_ids:
        digest = hmac.digest(str(seed).encode(), clip_id.encode(), hashlib.sha256)
        place = int.from_bytes(digest[1:9], "big")
        chosen.append(others[place % len(others)] if others and digest[0] % 2 else main)
    return np.array(chosen, dtype=np.int64)


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


def measure_effects(
    calls: Sequence[Sequence[ProbeCall]],
    prediction: Array,
    scale: tuple[Array, Array],
    target: NDArray[np.int64],
    vocabulary: Sequence[str],
) -> Effects:
    """Compare every altered copy with its original.

    `prediction`: (n, k) predictions of the first pass on the unit scale; NaN without one.
    `scale`: (k,) minimum and (k,) width of each target's range.
    `target`: (n,) each clip's evaluated target.
    `vocabulary`: the v cues; edits of other cues are left out.
    """
    count, low, span = len(calls), *scale
    hidden: dict[str, list[Hidden]] = {kind: [] for kind in HIDDEN}
    edited, edit_failed = np.full((count, len(vocabulary)), np.nan), np.zeros(count, dtype=bool)
    original, original_failed = np.full_like(prediction, np.nan), np.zeros(count, dtype=bool)
    twin_asked = np.zeros(count, dtype=bool)
    twins: list[Explanation | None] = [None] * count
    place = {cue: number for number, cue in enumerate(vocabulary)}
    asked = answered = 0
    for clip, recorded in enumerate(calls):
        unconfirmed = {call.name for call in recorded if call.again and call.prediction is None}
        clip_calls = [call for call in recorded if not call.again]
        base: tuple[float, ...] | None = None
        for call in clip_calls:
            asked += 1
            answered += call.prediction is not None or call.twin is not None
            if call.kind == "original":
                original_failed[clip] = call.prediction is None or call.name in unconfirmed
                base = call.prediction
        if base is not None:
            original[clip] = (np.array(base) - low) / span
        here = target[clip]
        found: dict[str, list[tuple[ProbeCall, float]]] = {kind: [] for kind in HIDDEN}
        broke = dict.fromkeys(HIDDEN, False)
        for call in clip_calls:
            change = np.nan
            if base is not None and call.prediction is not None:
                change = (base[here] - call.prediction[here]) / span[here]
            # Failing must not pay: a model could crash on the copies that would contradict its explanation, or when it
            # is asked again and no longer knows its first answer.
            broken = bool(original_failed[clip])
            fails = broken or call.prediction is None or call.name in unconfirmed
            if call.kind in HIDDEN and (broken or base is not None):  # without an original, no effect can be measured
                found[call.kind].append((call, abs(change)))
                broke[call.kind] |= fails
            elif call.kind == "cue" and call.cue in place:
                edited[clip, place[call.cue]] = change
                edit_failed[clip] |= fails
            elif call.kind == "twin":
                twins[clip], twin_asked[clip] = call.twin, True
        for kind, asked_there in found.items():
            hidden[kind].append(
                Hidden(
                    places=tuple(call.places for call, _ in asked_there),
                    parts=tuple(call.exchanged for call, _ in asked_there),
                    changes=np.array([change for _, change in asked_there]),
                    failed=broke[kind],
                )
            )
    repeated = repeated_difference(calls, span)
    return Effects(
        hidden={kind: tuple(clips) for kind, clips in hidden.items()},
        edited=edited,
        edit_failed=edit_failed,
        original=original,
        original_failed=original_failed,
        floor=noise_floor(prediction, original),
        repeated=repeated,
        epsilon=resolution(repeated, prediction)[target],
        twins=tuple(twins),
        twin_asked=twin_asked,
        asked=asked,
        answered=answered,
    )
