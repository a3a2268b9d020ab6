"""Read ``labels.csv``; mistakes are reported with line numbers, never with values."""

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from score.read.file_reader import FileReader
from score.settings import Settings

CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Reference:
    """Labels of one phase, sorted by clip id so that the order of the file changes no result."""

    clip_ids: tuple[str, ...]
    """n clip ids, ascending."""
    sources: NDArray[np.int64]
    """(n,) index of each clip's source video, 0 .. g-1; sources are the unit of the bootstrap."""
    source_ids: tuple[str, ...]
    """n names of the clips' source videos, one for each index in ``sources``."""
    truth: NDArray[np.float64]
    """(n, k) labels, in the order and ranges of the settings' targets."""


def read_reference(path: Path, settings: Settings) -> Reference:
    """Read and check ``labels.csv``.

    `path`: the file: UTF-8 with or without a byte order mark, any line ending. Raises OrganiserError with every problem
    of the file at once. No value, source or path is quoted.
    """
    file = FileReader(path.name, "labels_unreadable")
    table = file.table(path, "labels_encoding", "labels_csv") or [(1, [])]
    header = table[0][1]
    position = _positions(header, settings, file) if header or not file.problems else []
    rows: list[tuple[str, str, list[float]]] = []
    lines: dict[str, int] = {}
    for line, cells in table[1:] if position else ():
        if file.full:
            break
        if row := _row(cells, len(header), position, f"line {line}", settings, file):
            rows.append(row)
            if (clip_id := row[0]) in lines:
                found = f"a clip that is already in line {lines[clip_id]}"
                file.wrong(f"line {line}", found, "each clip once", "label_duplicate")
            lines.setdefault(clip_id, line)
    if not rows and not file.problems:
        file.wrong("", "no clip", "one row per clip", "labels_empty")
    file.finish("The labels have mistakes.")
    rows.sort(key=lambda row: row[0])
    clip_ids, source_ids, truth = zip(*rows, strict=True)
    _, sources = np.unique(source_ids, return_inverse=True)
    return Reference(clip_ids, sources.astype(np.int64), source_ids, np.array(truth, dtype=np.float64))


def _positions(names: list[str], settings: Settings, file: FileReader) -> list[int]:
    """Find the columns: positions in the order clip_id, source_id, targets; empty if a column is wrong."""
    wanted = ["clip_id", "source_id", *settings.names]
    before = len(file.problems)

    def column(found: str, expected: str) -> None:
        file.wrong("line 1", found, expected, "labels_column")

    # The first row may hold labels, if the header or the line break after it is missing. So if labels are
    # closed, no column is quoted, and otherwise only one that is nearly right.
    quotable = settings.report.truth and "clip_id" in names
    for number, name in enumerate(names, 1):
        if name not in wanted:
            shown = f" ({name!r})" if quotable and name.isalpha() and get_close_matches(name, wanted) else ""
            column(f"column {number}{shown} is unknown", ",".join(wanted))
        elif name in names[: number - 1]:
            column(f"{name} twice", "each column once")
    missing = [name for name in wanted if name not in names]
    if missing:
        column("no column " + ", ".join(missing), ",".join(wanted))
    return [names.index(name) for name in wanted] if len(file.problems) == before else []


def _row(
    cells: list[str], width: int, position: list[int], place: str, settings: Settings, file: FileReader
) -> tuple[str, str, list[float]] | None:
    """Parse (clip id, source, values) of a row; None if it has a mistake."""
    before = len(file.problems)
    if len(cells) != width:
        file.wrong(place, f"{len(cells)} cells", f"{width} cells", "labels_row")
        return None
    clip_id, source, *texts = (cells[at] for at in position)
    if not CLIP_ID.fullmatch(clip_id):
        file.wrong(place, "a clip id that is not allowed", CLIP_ID.pattern, "labels_clip_id")
    if not source:
        file.wrong(place, "no source_id", "the clip's source video or person", "labels_source")
    values = []
    for target, text in zip(settings.targets, texts, strict=True):
        value = _number(text)
        values.append(value)
        cell, expected = f"{place}, {target.name}", f"a number from {target.minimum:g} to {target.maximum:g}"
        if not text:
            file.wrong(cell, "nothing", expected, "label_missing")
        elif not math.isfinite(value):
            file.wrong(cell, "a value that is not a finite number", expected, "label_not_a_number")
        elif not target.minimum <= value <= target.maximum:
            file.wrong(cell, "a number outside the range", expected, "label_out_of_range")
    return None if len(file.problems) > before else (clip_id, source, values)


def _number(text: str) -> float:
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
