"""Scores as the worker reads them and the leaderboard shows them."""

import json
import math
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.competition import Column
from bundle_tools.errors import BundleError

# The server keeps ten digits before the decimal point; one more ends in an error and half-stored scores.
TOO_LARGE = 1e10


def read_scores(output: Path) -> dict[str, Any]:
    """Read `scores.json`, else `scores.txt`, at the root of the scoring output.

    Raises
    ------
    BundleError
        Where the platform would find no usable scores.
    """
    path = output / "scores.json"
    if not path.exists():
        path = output / "scores.txt"
    if not path.exists():
        raise BundleError("scores.json: the scoring program wrote none, and no scores.txt.")
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise BundleError(f"{path.name}: expected readable scores, found: {error}.") from error
    if not isinstance(content, dict):
        raise BundleError(f"{path.name}: expected one object of key: number, found {type(content).__name__}.")
    return content


def problems(scores: dict[str, Any], columns: tuple[Column, ...]) -> list[str]:
    """Tell everything that keeps these scores from being one full row of the leaderboard."""
    wanted = {column.key for column in columns if not column.computed}
    found = [f"{key}: missing; the leaderboard would show n/a" for key in sorted(wanted - scores.keys())]
    found += [f"{key}: not a column of the leaderboard; it would be ignored" for key in sorted(scores.keys() - wanted)]
    for key in sorted(wanted & scores.keys()):
        value = scores[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            found.append(f"{key}: expected a number, found {value!r}")
        elif not math.isfinite(value):
            found.append(f"{key}: expected a finite number, found {value}; the run would end without any score")
        elif abs(value) >= TOO_LARGE:
            found.append(f"{key}: expected less than ten billion, found {value}")
    return found


def row(scores: dict[str, Any], columns: tuple[Column, ...]) -> list[str]:
    """Give the row's lines: titles and values, aligned, rounded as the platform rounds for display."""
    shown = [(column.title, _display(scores, column)) for column in columns]
    title_width = max(len(title) for title, _ in shown)
    value_width = max(len(value) for _, value in shown)
    return [f"  {title:<{title_width}}  {value:>{value_width}}" for title, value in shown]


def _display(scores: dict[str, Any], column: Column) -> str:
    value = scores.get(column.key)
    return "n/a" if value is None else str(round(float(value), column.precision))
