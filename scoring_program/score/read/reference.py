"""Labels, groups of people and ratings of a jury: tables of the reference data."""

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.errors import OrganiserError, wrong
from score.read.tables import FileReader, Rows, StrictJsonError, finite_number, is_sha256, parse_object
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
    cells: list[str], width: int, position: list[int], where: str, settings: Settings, file: FileReader
) -> tuple[str, str, list[float]] | None:
    """Parse (clip id, source, values) of a row; None if it has a mistake."""
    before = len(file.problems)
    if len(cells) != width:
        file.wrong(where, f"{len(cells)} cells", f"{width} cells", "labels_row")
        return None
    clip_id, source, *texts = (cells[at] for at in position)
    if not CLIP_ID.fullmatch(clip_id):
        file.wrong(where, "a clip id that is not allowed", CLIP_ID.pattern, "labels_clip_id")
    if not source:
        file.wrong(where, "no source_id", "the clip's source video or person", "labels_source")
    values = []
    for target, text in zip(settings.targets, texts, strict=True):
        value = _number(text)
        values.append(value)
        cell, expected = f"{where}, {target.name}", f"a number from {target.minimum:g} to {target.maximum:g}"
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


KEYS = ("clip_id", "source_id")
"""Possible first columns: one row for each clip, or for each person."""
MOST_ATTRIBUTES = 8
MOST_VALUES = 20
LONGEST_VALUE = 40
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_WRONG = "The groups have mistakes."


@dataclass(frozen=True)
class Attribute:
    """One way to divide people into groups."""

    name: str
    """Lower case, such as ``age``."""
    values: tuple[str, ...]
    """Names of the groups, sorted."""
    member: NDArray[np.int64]
    """(n,) index of each clip's group, in ascending order of clip ids."""


def read_groups(path: Path, settings: Settings, reference: Reference) -> tuple[Attribute, ...]:
    """Read and check ``groups.csv``.

    `path`: the table in UTF-8: ``clip_id`` or ``source_id``, then one column for each attribute.
    `settings`: attributes must not have the names of targets.
    `reference`: each of its clips needs a row, its own or its person's; other rows are errors.
    Returns attributes in the order of the table's columns, at least one.
    Raises OrganiserError with every problem of the file at once.
    """
    file = FileReader(path.name, "groups_broken")
    table = file.table(path)
    if len(table) < 2 and not file.problems:
        file.wrong("", "no rows", "a header and one row per clip or person")
    file.finish(_WRONG)
    header = table[0][1]
    _check_header(header, settings, file)
    file.finish(_WRONG)
    wanted = reference.clip_ids if header[0] == "clip_id" else reference.source_ids
    cells_of = _cells(table[1:], header, frozenset(wanted), file)
    missing = len(set(wanted) - cells_of.keys())
    if missing and not file.problems:
        file.wrong("", f"no row for {missing} of them", f"a row for every {header[0]}")
    file.finish(_WRONG)
    attributes = []
    for at, name in enumerate(header[1:]):
        values, member = np.unique([cells_of[key][at] for key in wanted], return_inverse=True)
        if len(values) > MOST_VALUES:
            file.wrong(name, f"{len(values)} groups", f"at most {MOST_VALUES} groups")
        attributes.append(Attribute(name, tuple(values.tolist()), member.astype(np.int64)))
    file.finish(_WRONG)
    return tuple(attributes)


def _check_header(header: list[str], settings: Settings, file: FileReader) -> None:
    if header[0] not in KEYS:
        file.wrong("line 1", "a wrong first column", " or ".join(KEYS))
    attributes = header[1:]
    if not 1 <= len(attributes) <= MOST_ATTRIBUTES:
        file.wrong("line 1", f"{len(attributes)} attributes", f"1 to {MOST_ATTRIBUTES} attributes")
    for number, name in enumerate(attributes, 2):
        if not _NAME.fullmatch(name) or name in KEYS:
            expected = "lower-case letters, digits and underscores, a letter first"
            file.wrong("line 1", f"a wrong name of column {number}", expected)
        elif name in settings.names:
            file.wrong("line 1", f"a target as column {number}", "an attribute of people")
        elif name in attributes[: number - 2]:
            file.wrong("line 1", f"a duplicate name of column {number}", "each attribute once")


def _cells(rows: Rows, header: list[str], wanted: frozenset[str], file: FileReader) -> dict[str, list[str]]:
    """Return the cells of each row, by clip or source."""
    cells_of: dict[str, list[str]] = {}
    for line, row in rows:
        where = f"line {line}"
        if file.full:
            break
        if len(row) != len(header):
            file.wrong(where, f"{len(row)} cells", f"{len(header)} cells")
            continue
        key, *cells = row
        if key not in wanted:
            file.wrong(where, f"a {header[0]} without labels", f"a {header[0]} of labels.csv")
        elif key in cells_of:
            file.wrong(where, f"a duplicate {header[0]}", "each once")
        for name, cell in zip(header[1:], cells, strict=True):
            if not 1 <= len(cell) <= LONGEST_VALUE or not cell.isprintable():
                expected = f"1 to {LONGEST_VALUE} printable characters; `unknown` where it is not known"
                file.wrong(f"{where}, {name}", "an unusable text" if cell else "nothing", expected)
        cells_of[key] = cells
    return cells_of


FORMAT_VERSION = 2
LOWEST, HIGHEST = 0.0, 5.0
"""Scale of the column, as in 2017; ratings on another scale are rescaled to it."""
_LARGEST_FILE = 16 * 2**20


@dataclass(frozen=True)
class JuryRating:
    """How one submission's explanations were rated, on the scale from 0 to 5."""

    value: float
    """Mean, corrected for each juror's level and spread."""
    interval: tuple[float, float]
    """Bootstrap interval, over clips and jurors."""
    criteria: tuple[tuple[str, float], ...]
    """Title and mean of each criterion."""


def read_jury(path: Path) -> dict[str, JuryRating]:
    """Read ``jury.json``, which ``bundle jury score --write`` writes.

    Returns ratings by `Results.rated_as`. Raises OrganiserError with the mistakes; no rating is quoted.
    """
    try:
        return _ratings(parse_object(path.read_bytes(), _LARGEST_FILE))
    except (OSError, StrictJsonError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        found = str(error) if isinstance(error, StrictJsonError) else f"an unreadable file ({type(error).__name__})"
        problem = wrong("jury_broken", path.name, found, "the file that bundle jury score writes")
        raise OrganiserError("The ratings of the jury cannot be read.", [problem]) from None


def _ratings(root: dict[str, Any]) -> dict[str, JuryRating]:
    if root["format_version"] != FORMAT_VERSION:
        raise StrictJsonError("a different format_version")
    low, high = (float(end) for end in root["scale"])
    titles = {criterion["name"]: str(criterion["title"]) for criterion in root["criteria"]}
    if not low < high:
        raise StrictJsonError("a scale without length")

    def number(value: object) -> float:
        rating = finite_number(value, low, high)
        if rating is None:
            raise StrictJsonError("a rating that is missing or outside the scale")
        return LOWEST + (rating - low) / (high - low) * (HIGHEST - LOWEST)

    ratings = {}
    for digest, entry in root["submissions"].items():
        if not is_sha256(digest):
            raise StrictJsonError("a submission without a SHA-256")
        ends = [number(end) for end in entry["interval"]]
        criteria = tuple((titles[name], number(value)) for name, value in entry["criteria"].items())
        ratings[digest] = JuryRating(number(entry["value"]), (ends[0], ends[1]), criteria)
    return ratings
