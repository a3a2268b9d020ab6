"""Groups that people belong to: ``groups.csv``, read for the fairness part of the report and for nothing else.

No score depends on it. No message quotes a value: who belongs to which group is nobody's business but the organiser's.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from score.errors import MOST_FOUND, OrganiserError, Problem
from score.read.reference.labels import Reference
from score.settings import Settings

KEYS = ("clip_id", "source_id")
"""What the first column may be: one row a clip, or one row a person."""
MOST_ATTRIBUTES = 8
MOST_VALUES = 20
LONGEST_VALUE = 40
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_LARGEST_FILE = 16 * 2**20
_FIX = "correct groups.csv as docs/data_format.md shows"


@dataclass(frozen=True)
class Attribute:
    """One way to divide people into groups."""

    name: str
    """Lower case, such as ``age``."""
    values: tuple[str, ...]
    """Names of the groups, sorted."""
    member: NDArray[np.int64]
    """(n,) number of the group of each clip of the reference, in ascending order of the clip ids."""


@dataclass(frozen=True)
class Groups:
    """All attributes of a phase."""

    attributes: tuple[Attribute, ...]
    """In the order of the table's columns, at least one."""


def read_groups(path: Path, settings: Settings, reference: Reference) -> Groups:
    """Read and check ``groups.csv``.

    Parameters
    ----------
    path
        The table: ``clip_id`` or ``source_id``, then one column an attribute. UTF-8.
    settings
        An attribute must not be called like a target.
    reference
        Every clip of it needs a row, its own or its person's; rows about others are refused.

    Raises
    ------
    OrganiserError
        With every problem of the file at once.
    """
    problems: list[Problem] = []
    table = _table(path, problems)
    if not problems:
        _check_header(table[0], path.name, settings, problems)
    if problems:
        raise OrganiserError("The groups have mistakes.", problems)
    header, *rows = table
    wanted = reference.clip_ids if header[0] == "clip_id" else reference.source_ids
    found = dict(_rows(rows, header, path.name, frozenset(wanted), problems))
    missing = len(set(wanted) - found.keys())
    if missing and not problems:
        problems.append(_broken(path.name, f"no row for {missing} of them", f"a row for every {header[0]}"))
    attributes = [] if problems else [
        _attribute(name, [found[key][at] for key in wanted]) for at, name in enumerate(header[1:])
    ]  # fmt: skip
    for attribute in attributes:
        if len(attribute.values) > MOST_VALUES:
            count = f"{len(attribute.values)} groups"
            problems.append(_broken(f"{path.name}, {attribute.name}", count, f"at most {MOST_VALUES} groups"))
    if problems:
        raise OrganiserError("The groups have mistakes.", problems)
    return Groups(tuple(attributes))


def _attribute(name: str, cells: list[str]) -> Attribute:
    values, member = np.unique(cells, return_inverse=True)
    return Attribute(name, tuple(values.tolist()), member.astype(np.int64))


def _broken(where: str, found: str, expected: str) -> Problem:
    return Problem("groups_broken", "data", where, found, expected, _FIX)


def _table(path: Path, problems: list[Problem]) -> list[list[str]]:
    """Read header and rows; nothing but a problem where there is no table."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            problems.append(_broken(path.name, "more than 16 MiB", "one row a clip or person"))
            return []
        table = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))) if row]
    except OSError as error:
        problems.append(_broken(path.name, type(error).__name__, "a readable file beside task.yaml"))
    except UnicodeDecodeError as error:
        problems.append(_broken(path.name, f"byte {error.start} is not UTF-8", "UTF-8"))
    except csv.Error:
        problems.append(_broken(path.name, "text that is no table", "cells between commas"))
    else:
        if len(table) >= 2:
            return table
        problems.append(_broken(path.name, "no rows", "a header and one row a clip or person"))
    return []


def _check_header(header: list[str], file: str, settings: Settings, problems: list[Problem]) -> None:
    where = f"{file}, line 1"
    if header[0] not in KEYS:
        problems.append(_broken(where, "another first column", " or ".join(KEYS)))
    attributes = header[1:]
    if not 1 <= len(attributes) <= MOST_ATTRIBUTES:
        problems.append(_broken(where, f"{len(attributes)} attributes", f"1 to {MOST_ATTRIBUTES} attributes"))
    for number, name in enumerate(attributes, 2):
        if not _NAME.fullmatch(name) or name in KEYS:
            expected = "lower-case letters, digits and underscores, a letter first"
            problems.append(_broken(where, f"column {number} has another name", expected))
        elif name in settings.names:
            problems.append(_broken(where, f"column {number} is called like a target", "an attribute of people"))
        elif name in attributes[: number - 2]:
            problems.append(_broken(where, f"column {number} has the name of another", "each attribute once"))


def _rows(
    rows: list[list[str]], header: list[str], file: str, wanted: frozenset[str], problems: list[Problem]
) -> Iterator[tuple[str, list[str]]]:
    """Yield (clip or source, cells) of the rows without a mistake."""
    seen: set[str] = set()
    for line, row in enumerate(rows, 2):
        where = f"{file}, line {line}"
        if len(problems) >= MOST_FOUND:
            return
        if len(row) != len(header):
            problems.append(_broken(where, f"{len(row)} cells", f"{len(header)} cells"))
            continue
        key, *cells = row
        if key not in wanted:
            problems.append(_broken(where, f"a {header[0]} without labels", f"a {header[0]} of labels.csv"))
        elif key in seen:
            problems.append(_broken(where, f"a {header[0]} that has a row already", "each once"))
        seen.add(key)
        for name, cell in zip(header[1:], cells, strict=True):
            if not 1 <= len(cell) <= LONGEST_VALUE or not cell.isprintable():
                found = "nothing" if not cell else "an unusable text"
                expected = f"1 to {LONGEST_VALUE} printable characters; `unknown` where it is not known"
                problems.append(_broken(f"{where}, {name}", found, expected))
        yield key, cells
