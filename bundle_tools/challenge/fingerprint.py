"""One hash of all that landmarks depend on: if clips, labels or scoring change, they must be computed again."""

import hashlib
import json
from typing import Any

from bundle_tools.challenge.reading.tables import LABELS, read_settings
from bundle_tools.codabench.rules.dataset import Dataset

# Titles, report, bootstrap and limits do not change any value; the second pass and the weights do.
INPUT_KEYS = ("seed", "targets", "explanation", "probes")
INPUT_FILES = ("clips", "transcripts", "copies", "faces")
REFERENCE_KEYS = ("targets", "main_target", "group", "explanation", "skill_reference")
SCORE_KEYS = ("weights", "power", "gate", "vocabulary", "aliases")
REFERENCE_FILES = ("causes", "observations")


def fingerprint(given: Dataset, wanted: Dataset) -> str:
    """Hash the data of a phase and the settings on which scores depend.

    For clips, the hashes in their list are used, which `bundle check` compares with the files.

    Returns 64 hexadecimal digits.
    """
    inputs, reference = read_settings(given) or {}, read_settings(wanted) or {}
    score = reference.get("explanation_score")
    content = {
        "input": {key: inputs.get(key) for key in INPUT_KEYS},
        "reference": {key: _untitled(reference.get(key)) for key in REFERENCE_KEYS},
        "score": {key: score.get(key) for key in SCORE_KEYS} if isinstance(score, dict) else None,
        "files": {
            **{key: _digest(given, inputs.get(key)) for key in INPUT_FILES},
            **{key: _digest(wanted, reference.get(key)) for key in REFERENCE_FILES},
            "labels": _digest(wanted, LABELS),
        },
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _untitled(value: Any) -> Any:  # noqa: ANN401 - whatever the settings hold
    """Remove titles, which change no score."""
    if isinstance(value, dict):
        return {str(key): _untitled(one) for key, one in value.items() if key != "title"}
    return [_untitled(one) for one in value] if isinstance(value, list) else value


def _digest(data: Dataset, name: object) -> str | None:
    """Hash a table, independent of its line endings."""
    if not isinstance(name, str) or name not in data.names():
        return None
    return hashlib.sha256(b"\n".join(data.read(name).splitlines())).hexdigest()
