"""Rules about the ratings of a jury: a file that scoring would refuse stops every run of the phase."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.codabench.rules.findings import Finding, shown

_SHA256 = re.compile(r"[0-9a-f]{64}")
FORMAT_VERSION = 2
"""Of the file, as `score.read.reference.jury` reads it."""
_FIX = "Run bundle jury score --write again."
_EFFECT = "Every scoring run fails."
_ABSENCE = Absence("jury-missing", _EFFECT, _FIX)


def check_jury(side: Side) -> Iterator[Finding]:
    """Find ratings that are missing or broken.

    Parameters
    ----------
    side
        The reference data.
    """
    name = yield from find_named(side, "jury", side.settings.get("jury"), _ABSENCE)
    if name is None:
        return
    try:
        wrong = _mistake(json.loads(side.data.text(name)))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        wrong = f"expected the file that bundle jury score writes; found something else ({type(error).__name__})"
    if wrong:
        yield Finding("jury-broken", "error", side.at(name), f"{wrong[0].upper()}{wrong[1:]}.", _EFFECT, _FIX)


def _mistake(root: Any) -> str | None:  # noqa: ANN401 - any JSON
    low, high = root["scale"]
    if root["format_version"] != FORMAT_VERSION or not low < high:
        return f"expected format_version {FORMAT_VERSION} and an ascending scale"
    titles = {criterion["name"] for criterion in root["criteria"]}
    for digest, entry in root["submissions"].items():
        values = [entry["value"], *entry["interval"], *entry["criteria"].values()]
        if not _SHA256.fullmatch(digest):
            return f"{shown(digest)} is no SHA-256 of a submission's explanations"
        if len(entry["interval"]) != 2 or not set(entry["criteria"]) <= titles:
            return f"the ratings of {digest[:12]} are not complete"
        if any(isinstance(value, bool) or not math.isfinite(value) or not low <= value <= high for value in values):
            return f"a rating of {digest[:12]} is outside the scale from {low} to {high}"
    return None
