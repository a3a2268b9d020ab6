"""A rule about the second pass of ingestion: whether there is time for the altered copies."""

from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.tables import SETTINGS, PhaseData
from bundle_tools.codabench.rules.findings import Finding, Severity

MOST_EDITS = 3
UNITS = 6
"""Most parts of a clip's picture or time that are hidden."""
FIRST_CALLS = 2
"""Calls for the clip itself: predict and explain."""
USED_SHARE = 0.85
"""Share of the time after which ingestion starts no further call."""
SHORT_CALL_S = 1.0
"""Many models take longer than this per call, so a smaller budget is reported."""
EXAMPLE_CALL_S = 0.08
"""Seconds per call of the example solution, with decoding: 22 s for 24 clips of 5 s, 640 x 360, on two cores."""


def check_probes(side: PhaseData, clips: int) -> Iterator[Finding]:
    """Find second passes that cannot finish in time."""
    where, settings = side.at(SETTINGS), side.settings
    if "probes" not in settings:
        if settings.get("copies") is not None:
            what = "The input data have copies of clips but no probes."
            effect = "The model never sees an altered copy, so every measured axis is 0."
            yield Finding("probes-missing", "warning", where, what, effect, "Add probes, or delete the copies.")
        return
    if isinstance(settings["probes"], dict):
        yield from _check_time(where, settings, settings["probes"], clips)


def _check_time(where: str, settings: dict[str, Any], probes: dict[str, Any], clips: int) -> Iterator[Finding]:
    limits = settings.get("limits")
    limit: Any = limits.get("time_limit_s") if isinstance(limits, dict) else None
    edits: Any = probes.get("edits")
    # Ingestion is asked, and refuses other values.
    if not clips or type(limit) not in (int, float) or not 1 <= limit <= 1e6 or edits not in range(MOST_EDITS + 1):
        return
    exchanges = settings.get("exchanges") is not None
    calls = clips * (FIRST_CALLS + altered_calls(edits, exchanges=exchanges))
    budget = USED_SHARE * limit
    left = budget / calls
    if left < SHORT_CALL_S:
        what = (
            f"{clips} clips mean up to {calls} calls of a model in {budget:.0f} s, {left:.2f} s for each. "
            f"The example ({EXAMPLE_CALL_S} s a call) takes {calls * EXAMPLE_CALL_S:.0f} s."
        )
        effect = "Slower models do not reach all altered copies; each one they miss counts as showing nothing."
        fix = "Use fewer clips or edits, raise the limit on a queue of your own, or say so on a page."
        severity: Severity = "note" if left >= EXAMPLE_CALL_S else "warning"
        yield Finding("probes-time", severity, where, what, effect, fix)


def altered_calls(edits: int, *, exchanges: bool) -> int:
    """Return the highest number of model calls for a clip and its altered copies after the first pass.

    If parts are exchanged, the event of a second is one of the parts, and is asked about once.
    """
    return 1 + UNITS * (1 if exchanges else 2) + edits
