"""Rules about the second pass of ingestion: the settings of altered copies, and whether there is time to ask them."""

import math
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

from bundle_tools.check.clips.side import Side
from bundle_tools.check.findings import FAILS_LATER, Finding, shown

OPERATORS = ("imputation", "blur", "median", "moment")
MOST_EDITS = 3
# An original, four masks in space, four in time.
CALLS_BESIDE_EDITS = 9
# Of the clip itself: predict and explain.
FIRST_CALLS = 2
# Ingestion starts nothing when so much of the time is gone.
USED_SHARE = 0.85
# Decoding a clip and asking a small model take about this on the default queue; loading is on top.
SHORT_CALL_S = 1.0

Test = Callable[[Any], bool]


def _number(low: float, high: float) -> Test:
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and low <= value <= high
    )


def _integer(low: int, high: int) -> Test:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _each(test: Test) -> Test:
    return lambda value: isinstance(value, list) and bool(value) and all(map(test, value))


PROBES: dict[str, tuple[Test, str]] = {
    "shares": (_each(_number(0.001, 0.5)), "a list of shares above 0, at most 0.5"),
    "operators": (
        _each(lambda value: isinstance(value, str) and value in OPERATORS),
        f"a list out of {', '.join(OPERATORS)}",
    ),
    "edits": (_integer(0, MOST_EDITS), f"0 to {MOST_EDITS}"),
    "jitter": (lambda value: isinstance(value, dict), "gain, shift_px and frames"),
}
JITTER: dict[str, tuple[Test, str]] = {
    "gain": (_number(0, 0.1), "0 to 0.1"),
    "shift_px": (_integer(0, 16), "0 to 16"),
    "frames": (_integer(0, 5), "0 to 5"),
}


def check_probes(side: Side, clips: int) -> Iterator[Finding]:
    """Find settings of the second pass that ingestion refuses, and plans that cannot be carried out in time.

    Parameters
    ----------
    side
        The input data.
    clips
        How many clips there are.
    """
    where, settings = side.at("task.yaml"), side.settings
    faces = settings.get("faces")
    if faces is not None and str(faces) not in side.data.names():
        what = f"faces: {shown(faces)} is not among the input data."
        yield Finding("faces-missing", "error", where, what, FAILS_LATER, "Generate it, or leave the key out.")
    if "probes" not in settings:
        if settings.get("copies") is not None:
            what = "There are copies of clips and no probes."
            effect = "No altered copy is asked: every measured axis is 0."
            yield Finding("probes-missing", "warning", where, what, effect, "Add probes, or delete the copies.")
        return
    probes = settings["probes"]
    yield from _check_keys(where, "probes", probes, PROBES)
    if not isinstance(probes, dict):
        return
    if isinstance(probes.get("jitter"), dict):
        yield from _check_keys(where, "probes.jitter", probes["jitter"], JITTER)
    yield from _check_time(where, settings, probes, clips)


def _check_keys(where: str, name: str, section: object, known: dict[str, tuple[Test, str]]) -> Iterator[Finding]:
    if not isinstance(section, dict):
        what = f"{name}: expected {', '.join(known)}; found {shown(section)}."
        yield Finding("probes-value", "error", where, what, FAILS_LATER, "See docs/data_format.md.")
        return
    for key in section:
        if key not in known:
            near = get_close_matches(str(key), known, n=1, cutoff=0.6)
            hint = f"Did you mean {near[0]!r}?" if near else "Delete it."
            what = f"{name}: the key {shown(key)} is unknown."
            yield Finding("probes-key", "error", where, what, FAILS_LATER, hint)
    for key, (test, expected) in known.items():
        if key not in section:
            what = f"{name}: the key {key!r} is missing."
            yield Finding("probes-key", "error", where, what, FAILS_LATER, f"Add it: {expected}.")
        elif not test(section[key]):
            what = f"{name}.{key}: expected {expected}; found {shown(section[key])}."
            yield Finding("probes-value", "error", where, what, FAILS_LATER, "Correct the value.")


def _check_time(where: str, settings: dict[str, Any], probes: dict[str, Any], clips: int) -> Iterator[Finding]:
    limits = settings.get("limits")
    limit: Any = limits.get("time_limit_s") if isinstance(limits, dict) else None
    edits: Any = probes.get("edits")
    if not clips or not _number(1, 1e6)(limit) or not _integer(0, MOST_EDITS)(edits):
        return
    calls = clips * (FIRST_CALLS + CALLS_BESIDE_EDITS + edits)
    left = USED_SHARE * limit / calls
    if left < SHORT_CALL_S:
        what = f"{clips} clips mean up to {calls} calls of a model, which leaves {left:.2f} s for each."
        effect = "Slower models are not asked about all altered copies; what is not reached counts as nothing shown."
        yield Finding("probes-time", "note", where, what, effect, "Use fewer clips or more time, or say so on a page.")
