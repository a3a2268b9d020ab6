"""CSV files: the one writer of all tables, whose texts no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from bundle_tools.atomic import write_text

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text starts that a spreadsheet would compute."""


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], *, for_programs: bool = False
) -> None:
    """Write a CSV file, see `table_text`; the old file is kept until it is complete."""
    write_text(path, table_text(header, rows, for_programs=for_programs))


def table_text(header: Sequence[str], rows: Iterable[Sequence[object]], *, for_programs: bool = False) -> str:
    """Return a table as CSV.

    A text that a spreadsheet would compute gets an apostrophe before it; numbers stay as they are. `for_programs`: the
    format of the file is fixed, so that every text stays, too.
    """
    return "".join(_line(row if for_programs else map(_shown, row)) for row in (header, *rows))


def _line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)  # with its own line end it puts a return in a text into quotes, too
    return text.getvalue().removesuffix("\r\n") + "\n"


def _shown(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(FORMULA):
        with suppress(ValueError):
            float(cell)
            return cell
        return f"'{cell}"
    return cell
