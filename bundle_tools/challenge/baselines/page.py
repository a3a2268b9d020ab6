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
    items = [item for item in record["landmarks"] if open_ or item["kind"] in CLOSED_KINDS]
    lines = [
        "| score | " + " | ".join(item["title"] for item in items) + " |",
        "|---" * (len(items) + 1) + "|",
    ]
    for column in columns:
        places = min(column.precision, MOST_DECIMALS) if open_ else max(0, column.precision - 2)
        values = [item["columns"].get(column.key) for item in items]
        if any(value is not None for value in values):
            cells = [NONE if value is None else f"{round(value, places) + 0.0:.{places}f}" for value in values]
            lines.append(f"| {column.title} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"- **{item['title']}**: {item['meaning']}" for item in items]
    return "\n".join(lines)
