"""The table of landmarks on the competition's pages."""

from collections.abc import Sequence
from typing import Any

from bundle_tools.codabench.keys import Column

MOST_DECIMALS = 3
NONE = "–"
CLOSED_KINDS = ("constant", "solution")


def table(record: dict[str, Any], columns: Sequence[Column], *, open_: bool) -> str:
    """Write landmarks as a Markdown table, with a sentence about each.

    `record`: content of ``landmarks.json``. `open_`: whether the labels of the phase are open. If not, only the
    constant and solutions are given, with two decimals fewer than on the leaderboard: exact values would be equations
    about the labels.
    """
    items = _shown(record, open_=open_)
    rows = cells(record, columns, open_=open_)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    lines.append("")
    lines += [f"- **{item['title']}**: {item['meaning']}" for item in items]
    return "\n".join(lines)


def cells(record: dict[str, Any], columns: Sequence[Column], *, open_: bool) -> list[list[str]]:
    """Return the cells of that table, row by row: first the titles of landmarks, then each score that one has."""
    items = _shown(record, open_=open_)
    rows = [["score", *(item["title"] for item in items)]]
    for column in columns:
        places = min(column.precision, MOST_DECIMALS) if open_ else max(0, column.precision - 2)
        values = [item["columns"].get(column.key) for item in items]
        if any(value is not None for value in values):
            told = (NONE if value is None else f"{round(value, places) + 0.0:.{places}f}" for value in values)
            rows.append([column.title, *told])
    return rows


def _shown(record: dict[str, Any], *, open_: bool) -> list[dict[str, Any]]:
    return [item for item in record["landmarks"] if open_ or item["kind"] in CLOSED_KINDS]
