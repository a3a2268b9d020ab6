"""Scores as the worker reads and sends them, as the server stores them, and as the leaderboard shows them."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.keys import BoardColumn
from bundle_tools.codabench.worker import RunFailed

LARGEST_BYTES = 10_000_000
"""A row of numbers takes a few hundred bytes."""
TOO_LARGE = 10**10
"""The server stores ten digits before the point and ten after it; an eleventh before it is an error."""
DECIMALS_KEPT = 10
COMPUTATIONS: dict[str, Callable[[list[float]], float]] = {
    "avg": lambda values: math.fsum(values) / len(values),
    "sum": math.fsum,
    "min": min,
    "max": max,
}
"""Newer servers have more; ranks need the other submissions, so their cells stay empty here."""


class NotSent(Exception):
    """The worker's HTTP client rejects the scores; the status is still Finished."""


def read_scores(output: Path) -> tuple[object, list[str]]:
    """Read `scores.json`, else `scores.txt`, at the root of the scoring output, and send it.

    Returns the content as JSON data, and remarks about the file. Raises RunFailed if there is no file, or the worker
    cannot read it; NotSent if the worker can read but not send it.
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
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else load_bounded(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RunFailed(f"{path.name}: expected readable scores, found: {error}.") from error
    if not _can_be_sent(content):
        pairs = content.items() if isinstance(content, dict) else [("scores", content)]
        what = ", ".join(f"{key}: {value}" for key, value in pairs if not _can_be_sent(value))
        raise NotSent(f"{path.name}: {what}. The worker cannot send NaN, infinity or dates.")
    old = ["scores.txt: read by a YAML loader that may run code. Write scores.json."] if path.suffix == ".txt" else []
    return json.loads(json.dumps(content)), old


def _can_be_sent(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def store(
    content: object, columns: Sequence[BoardColumn], *, computed: bool = True
) -> tuple[dict[str, float], str | None]:
    """Store scores as the server does: key by key in their order, until one cannot be stored.

    `computed`: whether the row gets computed columns; rows of phases with several tasks do not.
    Returns key of a column -> number, also if the server fails on the way; and why it does, which the worker does not
    notice.
    """
    if not isinstance(content, dict):
        return {}, f"scores: expected one object of key: number, found {type(content).__name__}"
    by_key = {column.key: column for column in columns}
    values: dict[str, float] = {}
    refused = None
    for key, value in content.items():
        if key not in by_key:
            continue
        if by_key[key].computation:
            refused = f"{key}: the platform computes this column; the scores must not hold it"
            break
        number = number_kept(value)
        if number is None:
            refused = f"{key}: expected a number below ten billion, found {value!r}"
            break
        values[key] = number
    return {**values, **(_computed(values, columns) if computed else {})}, refused


def number_kept(value: object) -> float | None:
    """Return the number that the server stores for a value: texts and booleans count; None if it cannot."""
    if not isinstance(value, bool | int | float | str):
        return None
    try:
        exact = Decimal(str(int(value)) if isinstance(value, bool) else str(value))
    except InvalidOperation:
        return None
    if not exact.is_finite() or abs(exact) >= TOO_LARGE:
        return None
    return float(round(exact, DECIMALS_KEPT))


def _computed(values: Mapping[str, float], columns: Sequence[BoardColumn]) -> dict[str, float]:
    """Compute columns from the available sources."""
    by_index = {column.index: values[column.key] for column in columns if column.key in values}
    computed = {}
    for column in columns:
        sources = [by_index[index] for index in column.sources if index in by_index]
        if sources and column.computation in COMPUTATIONS:
            value = round(COMPUTATIONS[column.computation](sources), DECIMALS_KEPT)
            computed[column.key] = by_index[column.index] = value
    return computed


def silently_accepted(content: object, columns: Sequence[BoardColumn], primary_index: int) -> list[str]:
    """Note surprising scores that the server accepts without a word, such as a missing one, which ranks first."""
    if not isinstance(content, dict):
        return []
    notes = []
    for column in columns:
        if column.key not in content and not column.computation:
            first = column.index == primary_index and not column.ascending
            more = " The row ranks first without it, and under Force_Best replaces a good one." if first else ""
            notes.append(f"{column.key}: missing; the leaderboard shows n/a.{more}")
    keys = {column.key for column in columns}
    for key, value in content.items():
        if key not in keys:
            notes.append(f"{key}: not a column of the leaderboard; it is ignored.")
        elif isinstance(value, bool | str) and (number := number_kept(value)) is not None:
            notes.append(f"{key}: {value!r} is stored as the number {number:g}.")
    return notes


def row_lines(values: Mapping[str, float], columns: Sequence[BoardColumn]) -> list[str]:
    """Return the row's lines: titles and values, aligned, rounded as the platform does it; without hidden columns."""
    shown = [
        (column.title, str(round(values[column.key], column.precision)) if column.key in values else "n/a")
        for column in [column for column in columns if not column.hidden] or columns
    ]
    title_width, value_width = (max(map(len, texts)) for texts in zip(*shown, strict=True))
    return [f"  {title:<{title_width}}  {value:>{value_width}}" for title, value in shown]
