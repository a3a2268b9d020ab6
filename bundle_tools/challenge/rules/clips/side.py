"""One side of a task, as the rules about its data look at it, and the files that its settings name."""

import csv
import io
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, Severity, shown


@dataclass(frozen=True)
class Side:
    """The input data, or the reference data, of a task."""

    kind: Literal["input data", "reference data"]
    """Which of the two."""
    folder: str
    """As competition.yaml names it."""
    data: Dataset
    """Its files."""
    settings: dict[str, Any]
    """Its `task.yaml`."""

    def at(self, name: str) -> str:
        """Give the path of one of its files inside the bundle."""
        return str(PurePosixPath(self.folder) / name)


@dataclass(frozen=True)
class Absence:
    """What it means that a file which the settings name is not there."""

    code: str
    """Of the finding."""
    effect: str
    """What would happen."""
    fix: str
    """What to do."""
    severity: Severity = "error"
    """Of the finding."""


@dataclass(frozen=True)
class ListForm:
    """What a list of the input data must look like."""

    title: str
    """What it is a list of, e.g. "clips"."""
    header: list[str]
    """Its first line."""
    absent: str
    """Code of the finding where there is none."""
    misread: str
    """Code of the finding where its header is another."""
    fix: str = "Generate it."
    """What to do where there is none."""


def find_named(side: Side, key: str, value: object, absence: Absence) -> Generator[Finding, None, str | None]:
    """Find out whether an optional file is there.

    Parameters
    ----------
    side
        Whose settings name it.
    key, value
        The key and its value; None names no file.
    absence
        What to say where it is not there.

    Returns
    -------
    str or None
        Its name; None where there is nothing to look at.
    """
    if value is None:
        return None
    name = str(value)
    if name in side.data.names():
        return name
    what = f"{key}: {shown(value)} is not among the {side.kind}."
    yield Finding(absence.code, absence.severity, side.at(name), what, absence.effect, absence.fix)
    return None


def read_list(side: Side, name: str, form: ListForm) -> Generator[Finding, None, list[list[str]] | None]:
    """Read a list that the settings name.

    Returns
    -------
    list of list of str, or None
        Its lines below the header, empty ones too, so that each has its number; None where it cannot be used.
    """
    where = side.at(name)
    if name not in side.data.names():
        yield Finding(form.absent, "error", where, f"The list of {form.title} is missing.", FAILS_LATER, form.fix)
        return None
    rows = list(csv.reader(io.StringIO(side.data.text(name))))
    if not rows or rows[0] != form.header:
        what = f"Expected the header {','.join(form.header)}; found {shown(','.join(rows[0]) if rows else '')}."
        yield Finding(form.misread, "error", where, what, FAILS_LATER, "Correct the header.")
        return None
    return rows[1:]
