"""The ground truth: ``labels.csv``, read cell by cell, with every mistake named by its line and never by its value."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from score.errors import MOST_FOUND, OrganiserError, Problem
from score.settings import Settings

CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FIX = "correct labels.csv as docs/data_format.md shows"


@dataclass(frozen=True)
class Reference:
    """Labels of one phase, sorted by clip id so that the order of the file changes no result."""

    clip_ids: tuple[str, ...]
    """n clip ids, ascending."""
    sources: NDArray[np.int64]
    """(n,) number of each clip's source video, 0 .. g-1: the unit of the bootstrap."""
    source_ids: tuple[str, ...]
    """n names of the clips' source videos; one name for each number of ``sources``."""
    truth: NDArray[np.float64]
    """(n, k) labels, in the order and ranges of the settings' targets."""


def read_reference(path: Path, settings: Settings) -> Reference:
    """Read and check ``labels.csv``.

    Parameters
    ----------
    path
        The file: UTF-8 with or without a byte order mark, any line ending.
    settings
        Names and ranges of the targets.

    Raises
    ------
    OrganiserError
        With every problem of the file at once. No value, source or path is quoted.
    """
    problems: list[Problem] = []
    rows = list(_rows(path, settings, problems))
    if not rows and not problems:
        problems.append(_problem("labels_empty", path.name, "no clip", "one row a clip"))
    seen: dict[str, int] = {}
    for line, clip_id, _, _ in rows:
        if clip_id in seen:
            problems.append(
                _problem(
                    "label_duplicate",
                    f"{path.name}, line {line}",
                    f"a clip that is in line {seen[clip_id]} already",
                    "each clip once",
                )
            )
        seen.setdefault(clip_id, line)
    if problems:
        raise OrganiserError("The labels have mistakes.", problems)
    rows.sort(key=lambda row: row[1])
    _, sources = np.unique([source for _, _, source, _ in rows], return_inverse=True)
    return Reference(
        clip_ids=tuple(clip_id for _, clip_id, _, _ in rows),
        sources=sources.astype(np.int64),
        source_ids=tuple(source for _, _, source, _ in rows),
        truth=np.array([values for _, _, _, values in rows], dtype=np.float64),
    )


def _problem(code: str, where: str, found: str, expected: str) -> Problem:
    return Problem(code, "data", where, found, expected, _FIX)


def _rows(path: Path, settings: Settings, problems: list[Problem]) -> Iterator[tuple[int, str, str, list[float]]]:
    """Yield (line, clip id, source, values) of the rows without a mistake."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        problems.append(_problem("labels_unreadable", path.name, type(error).__name__, "a readable file"))
        return
    except UnicodeDecodeError as error:
        problems.append(_problem("labels_encoding", path.name, f"byte {error.start} is not UTF-8", "UTF-8"))
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        position = _header(header, path.name, settings, problems)
        if position is None:
            return
        for cells in reader:
            if len(problems) >= MOST_FOUND:
                return
            if cells:
                row = _row(cells, len(header), position, f"{path.name}, line {reader.line_num}", settings, problems)
                if row:
                    yield (reader.line_num, *row)
    except csv.Error:
        problems.append(_problem("labels_csv", f"{path.name}, line {reader.line_num}", "broken quoting", "CSV"))


def _header(header: list[str], file: str, settings: Settings, problems: list[Problem]) -> list[int] | None:
    """Find the columns; returns their positions in the order clip_id, source_id, targets."""
    wanted = ["clip_id", "source_id", *settings.names]
    names = [name.strip() for name in header]
    where = f"{file}, line 1"
    before = len(problems)
    # The first row may hold labels: a file without a header, or without the line break after it. So where labels are
    # closed no column is quoted, and elsewhere only one that is nearly right.
    quotable = settings.report.truth and "clip_id" in names
    for number, name in enumerate(names, 1):
        if name not in wanted:
            shown = f" ({name!r})" if quotable and name.isalpha() and get_close_matches(name, wanted) else ""
            problems.append(_problem("labels_column", where, f"column {number}{shown} is not known", ",".join(wanted)))
        elif name in names[: number - 1]:
            problems.append(_problem("labels_column", where, f"{name} twice", "each column once"))
    missing = [name for name in wanted if name not in names]
    if missing:
        problems.append(_problem("labels_column", where, "no column " + ", ".join(missing), ",".join(wanted)))
    return [names.index(name) for name in wanted] if len(problems) == before else None


def _row(
    cells: list[str], width: int, position: list[int], where: str, settings: Settings, problems: list[Problem]
) -> tuple[str, str, list[float]] | None:
    before = len(problems)
    if len(cells) != width:
        problems.append(_problem("labels_row", where, f"{len(cells)} cells", f"{width} cells"))
        return None
    clip_id, source, *texts = (cells[place].strip() for place in position)
    if not CLIP_ID.fullmatch(clip_id):
        problems.append(_problem("labels_clip_id", where, "a clip id that is not allowed", CLIP_ID.pattern))
    if not source:
        problems.append(_problem("labels_source", where, "no source_id", "the clip's source video or person"))
    values = []
    for target, text in zip(settings.targets, texts, strict=True):
        value = _number(text)
        values.append(value)
        expected = f"a number from {target.minimum:g} to {target.maximum:g}"
        if not text:
            problems.append(_problem("label_missing", f"{where}, {target.name}", "nothing", expected))
        elif not math.isfinite(value):
            problems.append(_problem("label_not_a_number", f"{where}, {target.name}", "no finite number", expected))
        elif not target.minimum <= value <= target.maximum:
            problems.append(_problem("label_out_of_range", f"{where}, {target.name}", "a value outside", expected))
    return None if len(problems) > before else (clip_id, source, values)


def _number(text: str) -> float:
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
