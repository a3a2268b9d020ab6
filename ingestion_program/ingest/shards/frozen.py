"""What a plan freezes: a shard that finds anything else on its machine does not start."""

from __future__ import annotations

import hashlib
import platform
from typing import TYPE_CHECKING, Any

from ingest import VERSION
from ingest.errors import IngestionError, Problem
from ingest.record.run import data_sha256, installed
from ingest.submission.checks import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = "task.yaml"
FORMAT_VERSION = 1
_FIXES = {
    "submission_sha256": "plan this submission in a folder of its own",
    "settings_sha256": "plan this phase in a folder of its own",
    "data_sha256": "plan this phase in a folder of its own",
}
_FIX = "use the programs and the image of the plan"


def freeze(input_data: Path, submission: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of this machine; `given` holds those that only the caller knows, such as the image."""
    return {
        "format_version": FORMAT_VERSION,
        "submission_sha256": fingerprint(submission).sha256,
        "settings_sha256": hashlib.sha256((input_data / SETTINGS).read_bytes()).hexdigest(),
        "data_sha256": data_sha256(input_data / SETTINGS),
        "program_version": VERSION,
        "python": platform.python_version(),
        "packages": installed(),
        **given,
    }


def compare(plan: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Check that a plan was made of what is here.

    Raises
    ------
    IngestionError
        With a problem for each difference.
    """
    problems = [
        Problem(
            "plan_differs",
            "run",
            key,
            brief(found.get(key)),
            brief(plan.get(key)),
            _FIXES.get(key, _FIX),
            fault="organiser",
        )
        for key in sorted({*plan, *found})
        if plan.get(key) != found.get(key)
    ]
    if problems:
        raise IngestionError(problems)


def brief(value: object) -> str:
    """Return a value in a few words."""
    return str(value)[:80]
