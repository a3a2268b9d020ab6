"""What a task keeps secret: its reference files, the labels of its clips, and their ids."""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import yaml

from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft

# A row or column of labels is recognised by this many values one after the other, to three decimals: in a file of
# 10,000 other numbers, 100 labels turn up by chance less often than once in 10^9.
WINDOW = 6
SHORTEST_WINDOW = 4
FEWEST_ROWS = 4
LARGEST_TABLE = 20_000_000
LARGEST_LABEL = 1e9


@dataclass(frozen=True)
class Answers:
    """The secrets of one task whose labels are hidden."""

    place: str
    """The reference data as competition.yaml names it."""
    inputs: str
    """The input data as competition.yaml names it; empty where there is none."""
    ours: bool
    """Whether the task is in this project's format: then nothing outside its input data may name its clips."""
    rows: dict[str, tuple[float, ...]]
    """Clip id -> its labels in the order of the table; NaN where a label is no number."""
    sources: dict[str, str]
    """Clip id -> source_id; empty in other formats."""
    clips: dict[str, str] = field(default_factory=dict)
    """SHA-256 of a clip's file -> clip id, as the list of clips says; empty in other formats."""

    @cached_property
    def windows(self) -> frozenset[tuple[int, ...]]:
        """Runs of labels in thousandths: along every column in the table's order, and along every row."""
        table = list(self.rows.values())
        if len(table) < FEWEST_ROWS:
            return frozenset()
        size = min(WINDOW, len(table))
        runs: list[tuple[float, ...]] = []
        for column in zip(*table, strict=True):
            runs += [column[start : start + size] for start in range(len(column) - size + 1)]
        if len(table[0]) >= SHORTEST_WINDOW:
            runs += [row[:WINDOW] for row in table]
        thousandths = {tuple(round(1000 * value) for value in run) for run in runs if all(map(math.isfinite, run))}
        # Equal, round or few different values, such as classes, prove nothing.
        return frozenset(
            run for run in thousandths if len(set(run)) >= SHORTEST_WINDOW and any(value % 10 for value in run)
        )

    @cached_property
    def telling_ids(self) -> frozenset[str]:
        """The ids that are no everyday word or number."""
        return frozenset(name for name in self.rows if len(name) >= 6 and any(map(str.isdigit, name)))


def hidden_answers(draft: Draft) -> list[Answers]:
    """Read the labels of all tasks that keep them secret; tables that cannot be read are left out."""
    found: dict[tuple[str, str], Answers] = {}
    for _, task in draft.entries("tasks"):
        reference = find(draft, task.get("reference_data"))
        if reference is None or is_public(reference):
            continue
        place, inputs = str(task["reference_data"]), str(task.get("input_data") or "")
        if "task.yaml" in reference.names():
            if "labels.csv" in reference.names() and (place, "labels.csv") not in found:
                rows, sources = labels(reference)
                answers = Answers(place, inputs, True, rows, sources, _clips(find(draft, inputs)))
                found[place, "labels.csv"] = answers
            continue
        for name in reference.names():
            if name.lower().endswith(".csv") and reference.size(name) <= LARGEST_TABLE and (place, name) not in found:
                rows = _foreign(reference.text(name))
                if rows:
                    found[place, name] = Answers(place, inputs, False, rows, {})
    return list(found.values())


def is_public(reference: Dataset) -> bool:
    """Tell whether the task's own report shows the true values, so that nothing in it is secret."""
    if "task.yaml" not in reference.names():
        return False
    try:
        settings = yaml.safe_load(reference.text("task.yaml"))
        return settings["report"]["truth"] is True
    except (yaml.YAMLError, ValueError, RecursionError, KeyError, TypeError):
        return False


def labels(reference: Dataset) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """Read `labels.csv`.

    Returns
    -------
    rows
        Clip id -> labels in the order of the columns, NaN where one is no number.
    sources
        Clip id -> source id.
    """
    table = _table(reference.text("labels.csv"))
    width = len(table[0]) if table else 0
    rows = [row for row in table[1:] if len(row) == width > 2 and row[0]]
    return {row[0]: _numbers(row[2:]) for row in rows}, {row[0]: row[1] for row in rows}


def clip_list(data: Dataset) -> list[list[str]]:
    """Read the list of clips of an input folder: rows of clip_id, file, sha256; malformed rows are left out."""
    if "task.yaml" not in data.names():
        return []
    try:
        settings: Any = yaml.safe_load(data.text("task.yaml"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    name = settings.get("clips") if isinstance(settings, dict) else None
    if name not in data.names():
        return []
    return [row for row in _table(data.text(str(name)))[1:] if len(row) == 3]


def _clips(data: Dataset | None) -> dict[str, str]:
    return {digest.lower(): clip for clip, _, digest in clip_list(data)} if data else {}


def _foreign(text: str) -> dict[str, tuple[float, ...]]:
    """Read a table of another format where its first column looks like ids and something else like measured values."""
    table = [row for row in _table(text) if row]
    rows = [row for row in table[1:] if len(row) == len(table[0]) > 1]
    names = [_stem(row[0]) for row in rows]
    if (
        len(rows) < FEWEST_ROWS
        or len(set(names)) < len(names)
        or not all(any(map(str.isalpha, name)) for name in names)
    ):
        return {}
    return {name: _numbers(row[1:]) for name, row in zip(names, rows, strict=True)}


def _stem(name: str) -> str:
    """Give `clip_7` for `clip_7.mp4`, as other files may call it."""
    path = PurePosixPath(name)
    return path.stem if path.suffix[1:2].isalpha() or path.suffix == ".mp4" else path.name


def _table(text: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error:
        return []


def _numbers(cells: Iterable[str]) -> tuple[float, ...]:
    return tuple(_number(cell) for cell in cells)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return math.nan
    return value if abs(value) < LARGEST_LABEL else math.nan
