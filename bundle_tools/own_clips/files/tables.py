"""Read organisers' tables: any usual separator, decimal points or commas, with or without a byte order mark."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bundle_tools.own_clips.problems import Problems

SEPARATORS = (",", ";", "\t", "|")
SHOWN = 8


@dataclass(frozen=True)
class Table:
    """A table with a header."""

    columns: tuple[str, ...]
    """Distinct names of the columns."""
    rows: tuple[tuple[int, dict[str, str]], ...]
    """Line number of each row, and its cells by column."""
    separator: str

    def number(self, text: str) -> float:
        """Parse a number, also with a decimal comma unless commas separate cells; NaN if it is not a number."""
        if self.separator != "," and text.count(",") == 1 and "." not in text:
            text = text.replace(",", ".")
        try:
            value = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            return math.nan
        return value if math.isfinite(value) else math.nan


def read_table(content: bytes, name: str, problems: Problems, *, wanted: Sequence[str] = ()) -> Table | None:
    """Read a table; its separator is the one that gives the header the most columns.

    Returns None if the table as a whole is unusable; rows with too few or too many cells are left out.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.add("tables that are not UTF-8", f"{name} (byte {error.start})", fix="Save them as CSV in UTF-8.")
        return None
    separator = max(SEPARATORS, key=text.partition("\n")[0].count)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(lines.line_num, [cell.strip() for cell in row]) for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        problems.add("tables with broken quotes", f"{name} ({error})", fix="Correct them.")
        return None
    if not rows:
        problems.add("empty tables", name, fix="Fill them.")
        return None
    columns = tuple(rows[0][1])
    missing = [column for column in wanted if column not in columns]
    if missing or len(set(columns)) < len(columns):
        found = ", ".join(columns[:SHOWN])
        what = f"columns {', '.join(missing)} missing" if missing else "a column twice"
        problems.add("tables with other columns", f"{name} ({what}; found {found})", fix="Correct the header.")
        return None
    uneven = [f"{name}:{line}" for line, row in rows[1:] if len(row) != len(columns)]
    fix = f"Give every row {len(columns)} cells, with quotes around text that holds the separator."
    problems.add("rows with more or fewer cells than the header", *uneven, fix=fix)
    good = [(line, dict(zip(columns, row, strict=True))) for line, row in rows[1:] if len(row) == len(columns)]
    return Table(columns, tuple(good), separator)
