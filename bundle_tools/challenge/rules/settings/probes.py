"""Rules about the second pass of ingestion: whether there is time for it, and whether enough can be learned from it."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.tables import LABELS, SETTINGS, PhaseData, read_by_clip, read_labels
from bundle_tools.codabench.rules.findings import Finding, Severity, shown

MOST_EDITS = 3
UNITS = 5
"""Most units of a clip that are altered: `MOST_CALLS` of ingestion, without the original and edits."""
FEWEST_PEOPLE = 4
"""Fewest people from which scoring can tell what is always so."""
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
    calls = clips * (FIRST_CALLS + altered_calls(edits))
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


def check_yardstick(inputs: PhaseData, reference: PhaseData, clips: Collection[str]) -> Iterator[Finding]:
    """Find phases with too few people, or one kind of part, to tell what is always so."""
    if "probes" not in inputs.settings or not clips:
        return
    effect = "Maps and timelines are not scored: both axes are 0 for everybody."
    sources = read_labels(reference.data).sources
    if 0 < (people := len({sources[clip] for clip in clips if clip in sources})) < FEWEST_PEOPLE:
        what = f"The clips show {people} people, by source_id; expected at least {FEWEST_PEOPLE}."
        yield Finding("yardstick-people", "warning", reference.at(LABELS), what, effect, "Use clips of more people.")
    exchanges = read_by_clip(inputs.data, "exchanges")
    kinds = {kind for clip in clips if clip in exchanges for kind in _kinds(exchanges[clip])}
    if len(kinds) == 1 and exchanges.keys() >= set(clips):
        what = f"All parts of all exchanges are of one kind: {shown(min(kinds))}."
        fix = "Exchange parts of several kinds, such as mouth, eyes and words."
        yield Finding("yardstick-kinds", "warning", inputs.at(str(inputs.settings["exchanges"])), what, effect, fix)


def _kinds(entry: object) -> Iterator[str]:
    """Yield the kinds of an exchange's parts: their names without a number; none after a mistake."""
    parts = entry.get("parts") if isinstance(entry, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("name"), str):
            yield re.sub(r"-\d+$", "", part["name"])


def altered_calls(edits: int) -> int:
    """Return the highest number of model calls for a clip and its altered copies after the first pass."""
    return 1 + UNITS + edits
