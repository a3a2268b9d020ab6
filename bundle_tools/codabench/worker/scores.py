"""Scores as the worker reads and sends them, as the server stores them, and as the leaderboard shows them."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.keys import Column
from bundle_tools.codabench.worker import RunFailed

# A row of numbers takes a few hundred bytes.
LARGEST_BYTES = 10_000_000
# The server stores ten digits before the point and ten after it; an eleventh before it is an error.
TOO_LARGE = 10**10
DECIMALS_KEPT = 10
# Newer servers have more; ranks need the other submissions, so their cells stay empty here.
COMPUTATIONS = frozenset({"avg", "sum", "min", "max"})


class NotSent(Exception):
    """The worker's HTTP client rejects the scores; the status is still Finished."""


def read_scores(output: Path) -> tuple[object, list[str]]:
    """Read `scores.json`, else `scores.txt`, at the root of the scoring output.

    Returns
    -------
    tuple
        The content as JSON data, and remarks about the file.

    Raises
    ------
    RunFailed
        If there is no file, or the worker cannot read it.
    NotSent
        If the worker can read but not send it.
    """
    path = output / "scores.json"
    if not path.exists():
        path = output / "scores.txt"
    if not path.exists():
        raise RunFailed("could not find scores file: the scoring program wrote neither scores.json nor scores.txt.")
    if not path.is_file() or not path.resolve().is_relative_to(output.resolve()):
        raise RunFailed(
            f"{path.name}: expected a file of the scoring output, found a folder, a pipe, or a link to elsewhere. "
            "The worker would read its own disk there, or wait for ever."
        )
    if path.stat().st_size > LARGEST_BYTES:
        raise RunFailed(f"{path.name}: expected scores, found {path.stat().st_size / 1e6:.0f} MB.")
    twice: list[str] = []

    def keep_last(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        twice.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return dict(pairs)

    try:
        text = path.read_text(encoding="utf-8")
        is_json = path.suffix == ".json"
        content = json.loads(text, object_pairs_hook=keep_last) if is_json else load_bounded(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RunFailed(f"{path.name}: expected readable scores, found: {error}.") from error
    try:
        sent = json.loads(json.dumps(content, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        pairs = content.items() if isinstance(content, dict) else []
        what = ", ".join(f"{key}: {value}" for key, value in pairs if not _can_be_sent(value)) or str(error)
        raise NotSent(f"{path.name}: {what}. The worker cannot send NaN, infinity or dates.") from error
    notes = [f"{path.name}: {key} appears twice; the last one counts." for key in twice]
    if not is_json:
        notes.append("scores.txt: read by a YAML loader that may run code. Write scores.json.")
    return sent, notes


def _can_be_sent(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True)
class Stored:
    """A row as the server stores it, also if it failed while storing scores."""

    values: dict[str, float]
    """Key of a column -> number, computed columns included."""
    refused: str | None = None
    """Why the server returned an error; the worker does not notice it."""


def store(content: object, columns: tuple[Column, ...], *, computed: bool = True) -> Stored:
    """Store scores as the server does: key by key in their order, until one cannot be stored.

    Parameters
    ----------
    content
        Content sent by the worker.
    computed
        Whether the row gets computed columns; rows of phases with several tasks do not.
    """
    if not isinstance(content, dict):
        return Stored({}, f"scores: expected one object of key: number, found {type(content).__name__}")
    empty = [column.key for column in columns if column.computation and not column.sources]
    by_key = {column.key: column for column in columns}
    values: dict[str, float] = {}

    def so_far(refused: str | None = None) -> Stored:
        return Stored({**values, **(_computed(values, columns) if computed else {})}, refused)

    for key, value in content.items():
        column = by_key.get(key)
        if column is None:
            continue
        if empty:
            return Stored({}, f"{empty[0]}: computation_indexes is not a list of columns, so no score can be stored")
        number = _number(value)
        if number is None:
            return so_far(f"{key}: expected a number below ten billion, found {value!r}")
        if column.computation and values:
            return so_far(f"{key}: the platform computes this column; the scores must not hold it")
        if not column.computation:
            values[key] = number
    return so_far()


def accepted(content: object, columns: tuple[Column, ...], primary_index: int) -> list[str]:
    """Note surprising values that the server silently accepts."""
    if not isinstance(content, dict):
        return []
    notes = []
    by_key = {column.key: column for column in columns}
    for column in columns:
        if column.key not in content and not column.computation:
            first = " Without the primary score the row ranks first." if _ranks_first(column, primary_index) else ""
            notes.append(f"{column.key}: missing; the leaderboard shows n/a.{first}")
    for key, value in content.items():
        if key not in by_key:
            notes.append(f"{key}: not a column of the leaderboard; it is ignored.")
        elif by_key[key].computation:
            notes.append(f"{key}: the platform computes this column; a score for it is lost, or an error.")
        elif isinstance(value, bool):
            notes.append(f"{key}: {value} is stored as {int(value)}.")
        elif isinstance(value, str) and _number(value) is not None:
            notes.append(f"{key}: the text {value!r} is stored as a number.")
    return notes


def row(values: Mapping[str, float], columns: tuple[Column, ...]) -> list[str]:
    """Return the row's lines: titles and values, aligned, rounded as the platform does it; without hidden columns."""
    seen = [column for column in columns if not column.hidden] or columns
    shown = [(column.title, _display(values.get(column.key), column.precision)) for column in seen]
    title_width = max(len(title) for title, _ in shown)
    value_width = max(len(value) for _, value in shown)
    return [f"  {title:<{title_width}}  {value:>{value_width}}" for title, value in shown]


def my_submissions(values: Mapping[str, float], columns: tuple[Column, ...]) -> str | None:
    """Return the score in "My submissions": of the lowest column that has one, hidden or not, with two decimals."""
    return next((f"{values[column.key]:.2f}" for column in columns if column.key in values), None)


def _computed(values: dict[str, float], columns: tuple[Column, ...]) -> dict[str, float]:
    """Compute columns from the available sources."""
    by_index = {column.index: values[column.key] for column in columns if column.key in values}
    found = {}
    for column in columns:
        sources = [by_index[index] for index in column.sources if index in by_index]
        if column.computation in COMPUTATIONS and sources:
            found[column.key] = by_index[column.index] = round(_compute(column.computation, sources), DECIMALS_KEPT)
    return found


def _compute(computation: str, values: list[float]) -> float:
    match computation:
        case "sum":
            return math.fsum(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
    return math.fsum(values) / len(values)


def _number(value: object) -> float | None:
    """Return the number that the server stores; None if it cannot."""
    if not isinstance(value, (bool, int, float, str)):
        return None
    try:
        exact = Decimal(str(int(value)) if isinstance(value, bool) else str(value))
    except InvalidOperation:
        return None
    if not exact.is_finite() or abs(exact) >= TOO_LARGE:
        return None
    return float(round(exact, DECIMALS_KEPT))


def _ranks_first(column: Column, primary_index: int) -> bool:
    return column.index == primary_index and not column.ascending


def _display(value: float | None, precision: int) -> str:
    return "n/a" if value is None else str(round(value, precision))
