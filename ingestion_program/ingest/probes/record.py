"""The record of the second pass: one line of `probes.jsonl` a call, and the counts in `run.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.model.answers import Explanation
    from ingest.probes.plan import Call
    from ingest.record.receipt import Determinism

FILE = "probes.jsonl"


@dataclass
class ProbeCount:
    """How far the second pass came."""

    planned: int = 0
    """Calls of the plan."""
    asked: int = 0
    """Calls that were reached."""
    answered: int = 0
    """Calls with a valid answer."""
    duration_s: float = 0.0
    """Seconds of the whole pass."""
    again: Determinism | None = None
    """What came of asking some of them again in a fresh process; None where that was not done."""

    def record(self) -> dict[str, Any]:
        """Return the counts as they stand in `run.json`."""
        return {
            "planned": self.planned,
            "asked": self.asked,
            "answered": self.answered,
            "duration_s": round(self.duration_s, 3),
            "again": self.again and asdict(self.again),
        }


def line(
    call: Call, prediction: dict[str, float] | None, explanation: Explanation | None, *, again: bool = False
) -> dict[str, Any]:
    """Return one call and its answer as they stand in `probes.jsonl`.

    Parameters
    ----------
    prediction, explanation
        None is an answer that is not valid.
    again
        Whether the call was asked before, of another process.
    """
    told = None
    if explanation is not None:
        evidence = explanation.evidence and explanation.evidence.record()
        told = {"text": explanation.text, "image": None, "evidence": evidence}
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
