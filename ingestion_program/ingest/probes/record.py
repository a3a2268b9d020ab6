"""The record of the second pass: one line of `probes.jsonl` for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.model.asking import Told
    from ingest.probes.plan import Call


def line(
    call: Call, prediction: dict[str, float] | None, explanation: Told | None, *, again: bool = False
) -> dict[str, Any]:
    """Return one call and its answer as a line of `probes.jsonl`.

    `prediction` and `explanation`: None is an invalid answer. `again`: whether another process was asked the same
    before.
    """
    told = None
    if explanation is not None:
        told = {"text": explanation.text, "image": None, "evidence": explanation.evidence}
    return {
        "clip_id": call.clip_id,
        "kind": call.kind,
        "operator": call.operator,
        "places": None if call.places is None else list(call.places),
        "exchanged": None if call.exchanged is None else list(call.exchanged),
        "cue": call.cue,
        "prediction": prediction,
        "explanation": told,
        "again": again,
    }
