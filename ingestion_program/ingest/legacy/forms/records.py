"""Records as this challenge writes them, handed in as results: predictions.csv, explanations.jsonl and images/."""

import csv
import json
import math
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.legacy.forms.answers import Answers, Unreadable
from ingest.legacy.forms.pictures import read_picture

LARGEST_TABLE = 64 << 20
LONGEST_LINE = 4 << 20
PREDICTIONS = "clip_id,<target>,… and a row of numbers for each clip"
EXPLANATIONS = 'a line {"clip_id": …, "text": …, "image": …, "evidence": …} for each clip'
IMAGE = re.compile(r"images/[A-Za-z0-9][A-Za-z0-9_.-]{0,80}\.jpg")


def read_records(predictions: Path, explanations: Path | None) -> Answers:
    """Open the records; those of explanations stay in the file until they are asked for.

    Raises
    ------
    Unreadable
        When a file is not what docs/output_format.md says.
    """
    lines = None if explanations is None else _Lines(explanations)
    folder = predictions.parent
    return Answers(_read_table(predictions), lines, lambda record: _explain(record, folder))


def _read_table(path: Path) -> dict[str, dict[str, Any]]:
    """Return for each target the values of the clips."""
    if not _is_regular(path) or path.stat().st_size > LARGEST_TABLE:
        raise Unreadable(path.name, "a file that is too large, or none", PREDICTIONS)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(path.name, f"{type(error).__name__}: {error}"[:200], PREDICTIONS) from None
    targets = header[1:]
    if header[:1] != ["clip_id"] or len(set(header)) < len(header):
        raise Unreadable(path.name, f"the header {','.join(header)[:100]}", PREDICTIONS)
    table: dict[str, dict[str, Any]] = {target: {} for target in targets}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header) or any(row[0] in values for values in table.values()):
            raise Unreadable(
                f"{path.name} row {number}", "another number of cells, or a clip a second time", PREDICTIONS
            )
        for target, cell in zip(targets, row[1:], strict=True):
            table[target][row[0]] = _number(cell)
    return table


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


class _Lines(Mapping[str, Any]):
    """Records by clip, read again from the file when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        if not _is_regular(path):
            raise Unreadable(path.name, "no regular file", EXPLANATIONS)
        with path.open("rb") as file:
            place = 0
            while line := file.readline(LONGEST_LINE + 1):
                clip_id = self._parse(line, len(self._places) + 1).get("clip_id")
                if not isinstance(clip_id, str) or clip_id in self._places:
                    where = f"{path.name} line {len(self._places) + 1}"
                    raise Unreadable(where, "no clip_id, or one a second time", EXPLANATIONS)
                self._places[clip_id] = place
                place += len(line)

    def __getitem__(self, clip_id: str) -> Any:  # noqa: ANN401 - JSON holds anything
        with self._path.open("rb") as file:
            file.seek(self._places[clip_id])
            return self._parse(file.readline(LONGEST_LINE + 1), 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line, parse_constant=lambda _: math.nan) if len(line) <= LONGEST_LINE else None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise Unreadable(f"{self._path.name} line {number}", "no JSON object, or too long a line", EXPLANATIONS)
        return record


def _explain(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record as a model would have returned it."""
    image, evidence = record.get("image"), record.get("evidence")
    explanation = {key: value for key, value in record.items() if key != "clip_id"}
    if isinstance(image, str):
        explanation["image"] = _image(folder, image)
    if isinstance(evidence, dict):
        explanation["evidence"] = {key: _weights(part) for key, part in evidence.items()}
    return explanation


def _weights(part: object) -> object:
    return part["weights"] if isinstance(part, dict) and "weights" in part else part


def _image(folder: Path, name: str) -> object:
    path = folder / name
    if IMAGE.fullmatch(name) and not (folder / "images").is_symlink() and _is_regular(path):
        return read_picture(path)
    return name


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
