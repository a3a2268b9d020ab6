"""Groups of people from ``groups.csv``, used only for the fairness section of the report.

No score depends on them. No message quotes a value, because group membership is confidential.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from score.read.file_reader import FileReader, Rows
from score.read.reference.labels import Reference
from score.settings import Settings

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
    found = _cells(table[1:], header, frozenset(wanted), file)
    missing = len(set(wanted) - found.keys())
    if missing and not file.problems:
        file.wrong("", f"no row for {missing} of them", f"a row for every {header[0]}")
    file.finish(_WRONG)
    attributes = []
    for at, name in enumerate(header[1:]):
        values, member = np.unique([found[key][at] for key in wanted], return_inverse=True)
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
    found: dict[str, list[str]] = {}
    for line, row in rows:
        place = f"line {line}"
        if file.full:
            break
        if len(row) != len(header):
            file.wrong(place, f"{len(row)} cells", f"{len(header)} cells")
            continue
        key, *cells = row
        if key not in wanted:
            file.wrong(place, f"a {header[0]} without labels", f"a {header[0]} of labels.csv")
        elif key in found:
            file.wrong(place, f"a duplicate {header[0]}", "each once")
        for name, cell in zip(header[1:], cells, strict=True):
            if not 1 <= len(cell) <= LONGEST_VALUE or not cell.isprintable():
                expected = f"1 to {LONGEST_VALUE} printable characters; `unknown` where it is not known"
                file.wrong(f"{place}, {name}", "an unusable text" if cell else "nothing", expected)
        found[key] = cells
    return found
