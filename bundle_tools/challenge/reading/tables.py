"""The small files of a task in this project's format (docs/data_format.md), read tolerantly.

The programs report their mistakes: see `rules.settings.refused`.
"""

import copy
import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.keys import TaskKeys
from bundle_tools.codabench.rules.dataset import DataFiles, find
from bundle_tools.codabench.rules.document import ParsedBundle

SETTINGS, LABELS = "task.yaml", "labels.csv"
# Larger values are not labels; their sums would overflow.
LARGEST_LABEL = 1e9


@dataclass(frozen=True)
class Labels:
    """A table of labels; malformed rows are left out."""

    targets: tuple[str, ...]
    """Names of the targets in the order of the columns."""
    rows: dict[str, tuple[float, ...]]
    """Clip id -> labels in the order of the targets, in the order of the table; NaN if not a number."""
    sources: dict[str, str]


@dataclass(frozen=True)
class PhaseData:
    """The input data, or the reference data, of a task."""

    folder: str
    """Name in competition.yaml."""
    data: DataFiles
    settings: dict[str, Any]

    def at(self, name: str) -> str:
        """Return the path of one of its files inside the bundle."""
        return str(PurePosixPath(self.folder) / name)

    def section(self, key: str) -> dict[str, Any]:
        """Return a section of the settings; empty if missing or not a mapping."""
        value = self.settings.get(key)
        return value if isinstance(value, dict) else {}


def side_of(bundle: ParsedBundle, task: TaskKeys, key: str) -> PhaseData | None:
    """Open one side of a task; None without settings of this project."""
    folder = getattr(task, key)
    data = find(bundle, folder)
    settings = read_settings(data) if data is not None else None
    return None if data is None or settings is None else PhaseData(folder, data, settings)


def read_settings(data: DataFiles) -> dict[str, Any] | None:
    """Read `task.yaml`; None if missing or not a mapping."""
    if SETTINGS not in data.names():
        return None
    return copy.deepcopy(_mapping(data.text(SETTINGS)))


# Every rule reads the same few settings, and YAML is slow.
@lru_cache(maxsize=16)
def _mapping(text: str) -> dict[str, Any] | None:
    try:
        content = load_bounded(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def vocabulary_of(settings: dict[str, Any]) -> list[str]:
    """Return the vocabulary of cues in `task.yaml` of input data; empty without one."""
    section: object = settings
    for key in ("explanation", "evidence", "cues"):
        section = section.get(key) if isinstance(section, dict) else None
    return [str(cue) for cue in section] if isinstance(section, list) else []


def read_list(data: DataFiles, key: str, width: int) -> list[list[str]]:
    """Read a list that the settings name, below its header; rows of another width are left out."""
    name = (read_settings(data) or {}).get(key)
    if not isinstance(name, str) or name not in data.names():
        return []
    return [row for row in read_table(data.text(name))[1:] if len(row) == width]


def read_clips(data: DataFiles) -> list[tuple[str, str, str]]:
    """Read the list of clips: clip id, file, SHA-256."""
    return [(clip, file, digest.lower()) for clip, file, digest in read_list(data, "clips", 3)]


def read_copies(data: DataFiles) -> list[tuple[str, str, str]]:
    """Read the list of copies: copy id, file, SHA-256."""
    return [(name, file, digest.lower()) for name, _, _, file, digest in read_list(data, "copies", 5)]


def read_json(data: DataFiles, name: object) -> Any:  # noqa: ANN401 - whatever it holds
    """Read a JSON file; None if missing or broken."""
    if not isinstance(name, str) or name not in data.names():
        return None
    try:
        return json.loads(data.text(name))
    except (ValueError, RecursionError):
        return None


def read_by_clip(data: DataFiles, key: str) -> dict[str, Any]:
    """Read a JSON file of the settings by clip; empty if it is missing or broken."""
    content = read_json(data, (read_settings(data) or {}).get(key))
    clips = content.get("clips") if isinstance(content, dict) else None
    return clips if isinstance(clips, dict) else {}


def read_contributions(data: DataFiles) -> dict[str, tuple[float, ...]]:
    """Read the causes that the settings name: clip id -> contributions of all cues to all targets, one after the other.

    Only clips with as many numbers as the first are given; nothing if the file is missing or broken.
    """
    rows = {clip: _flat(known) for clip, known in read_by_clip(data, "causes").items()}
    width = len(next(iter(rows.values()), ()))
    return {clip: row for clip, row in rows.items() if len(row) == width > 0}


def _flat(known: object) -> tuple[float, ...]:
    tables = known.get("contributions") if isinstance(known, dict) else None
    values = (
        [table.values() for table in tables.values() if isinstance(table, dict)] if isinstance(tables, dict) else []
    )
    return numbers(str(value) for table in values for value in table)


def read_labels(data: DataFiles) -> Labels:
    """Read `labels.csv`; no labels if it is missing."""
    table = read_table(data.text(LABELS)) if LABELS in data.names() else []
    if not table or len(table[0]) < 3:
        return Labels((), {}, {})
    rows = [row for row in table[1:] if len(row) == len(table[0]) and row[0]]
    return Labels(tuple(table[0][2:]), {row[0]: numbers(row[2:]) for row in rows}, {row[0]: row[1] for row in rows})


def read_table(text: str) -> list[list[str]]:
    """Read a CSV table without its empty lines; no rows if it is not a table."""
    try:
        return [row for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error:
        return []


def numbers(cells: Iterable[str]) -> tuple[float, ...]:
    """Read numbers; NaN for anything else."""
    return tuple(_number(cell) for cell in cells)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return math.nan
    return value if abs(value) < LARGEST_LABEL else math.nan


# What the fingerprint covers: titles, report, bootstrap and limits do not change any value; the second pass does.
INPUT_KEYS = ("seed", "targets", "explanation")
INPUT_FILES = ("clips", "transcripts", "copies", "faces")
"""Files of the input data on which scores depend; `exchanges` only where there are any, as in drawn clips."""
REFERENCE_KEYS = ("targets", "main_target", "group", "explanation", "skill_reference")
SCORE_KEYS = ("weights", "power", "gate", "vocabulary", "aliases")
REFERENCE_FILES = ("causes", "observations")


def fingerprint(input_data: DataFiles, reference_data: DataFiles) -> str:
    """Hash all of a phase that landmarks depend on: its data, and the settings on which scores depend.

    For clips, the hashes in their list are used, which `bundle check` compares with the files.

    Returns 64 hexadecimal digits.
    """
    inputs, reference = read_settings(input_data) or {}, read_settings(reference_data) or {}
    score = reference.get("explanation_score")
    content = {
        "input": {**{key: inputs.get(key) for key in INPUT_KEYS}, "probes": _used(inputs.get("probes"))},
        "reference": {
            key: _untitled(reference.get(key)) for key in (*REFERENCE_KEYS, *(reference.keys() & {"label_noise"}))
        },
        "score": {key: score.get(key) for key in SCORE_KEYS} if isinstance(score, dict) else None,
        "files": {
            **{key: _digest(input_data, inputs.get(key)) for key in (*INPUT_FILES, *(inputs.keys() & {"exchanges"}))},
            **{key: _digest(reference_data, reference.get(key)) for key in REFERENCE_FILES},
            "labels": _digest(reference_data, LABELS),
        },
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _used(probes: Any) -> Any:  # noqa: ANN401 - whatever the settings hold
    return {key: probes[key] for key in probes if key != "operators"} if isinstance(probes, dict) else probes


def _untitled(value: Any) -> Any:  # noqa: ANN401 - whatever the settings hold
    """Remove titles, which change no score."""
    if isinstance(value, dict):
        return {str(key): _untitled(below) for key, below in value.items() if key != "title"}
    return [_untitled(below) for below in value] if isinstance(value, list) else value


def _digest(data: DataFiles, name: object) -> str | None:
    """Hash a table, independent of its line endings."""
    if not isinstance(name, str) or name not in data.names():
        return None
    return hashlib.sha256(b"\n".join(data.read(name).splitlines())).hexdigest()
