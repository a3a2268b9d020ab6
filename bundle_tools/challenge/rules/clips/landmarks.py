"""Rules about landmarks: scores of baselines belong to the data and settings that they were computed from."""

import json
from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.fingerprint import fingerprint
from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.challenge.rules.clips.tables import read_settings
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

FIX = "Compute them: `bundle data baselines`, or build with --baselines."
ABSENCE = Absence("landmarks-missing", "Reports compare scores with the constant alone.", FIX, "warning")


def check_landmarks(draft: Draft) -> Iterator[Finding]:
    """Find landmarks that are missing, or of other data."""
    for _, task in draft.entries("tasks"):
        given, wanted = find(draft, task.get("input_data")), find(draft, task.get("reference_data"))
        if given is None or wanted is None:
            continue
        settings = read_settings(wanted) or {}
        side = Side("reference data", str(task["reference_data"]), wanted, settings)
        name = yield from find_named(side, "landmarks", settings.get("landmarks"), ABSENCE)
        if name is None:
            continue
        where = side.at(name)
        record = _read(wanted, name)
        if record is None:
            what = "Expected the landmarks that `bundle data baselines` writes; found something else."
            yield Finding("landmarks-broken", "error", where, what, "Every scoring run fails.", FIX)
            continue
        if record.get("data_sha256") != fingerprint(given, wanted):
            what = "The landmarks were computed from other clips, labels or settings."
            effect = "Reports and pages compare scores with those of other data."
            yield Finding("landmarks-stale", "warning", where, what, effect, FIX)


def _read(wanted: Dataset, name: str) -> dict[str, Any] | None:
    try:
        record = json.loads(wanted.text(name))
        good = all({"kind", "title", "meaning", "columns"} <= item.keys() for item in record["landmarks"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return record if good else None
