"""Tables as people have them: CSV with any separator, or an Excel workbook; the first row holds the header."""

import codecs
import csv
import io
import math
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from bundle_tools.own_clips.files import Problems, plain

SEPARATORS = (",", ";", "\t", "|")
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
WORKBOOK, OLD_WORKBOOK = b"PK\3\4", b"\xd0\xcf\x11\xe0"
"""How an Excel file begins: of today, or of before 2007 or encrypted."""
SHOWN, SAMPLE = 8, 50
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]', re.IGNORECASE)
"""A first line with which Excel is told the separator."""
_NAMELESS = re.compile(r"(Unnamed: \d+)?")
"""Headers of columns without a name; pandas writes one."""
FEW = 3
"""So many numbers may rise from 0 or 1 by chance."""

Rows = list[tuple[int, list[str]]]
"""Line number, from 1, and cells of every row with content."""


@dataclass(frozen=True)
class Table:
    """A table with a header."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    """Line number of each row, and its cells by column; all texts are in Unicode's composed form (NFC)."""
    separator: str
    """Empty for a workbook."""

    def number(self, text: str) -> float:
        """Parse a number, also with a decimal comma unless commas separate cells; NaN if it is not a number."""
        if self.separator != "," and text.count(",") == 1 and "." not in text:
            text = text.replace(",", ".")
        try:
            value = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            return math.nan
        return value if math.isfinite(value) else math.nan

    def counts_rows(self, column: str) -> bool:
        """Return whether a column only numbers the rows, from 0 or 1."""
        return len(self.rows) > FEW and _counts([cells[column] for _, cells in self.rows])


def read_table(content: bytes, name: str, problems: Problems, *, wanted: Sequence[str] = ()) -> Table | None:
    """Read a table; its separator is the one that gives the header the most columns.

    Columns without a name are left out if they are empty or number the rows. Returns None if the table as a whole is
    unusable; rows with too few or too many cells are left out.
    """
    rows, separator = (_workbook if content.startswith((WORKBOOK, OLD_WORKBOOK)) else _csv)(content, name, problems)
    if not rows:
        return None
    header, body = rows[0][1], rows[1:]
    for _, row in body:
        while len(row) > len(header) and not row[-1]:
            del row[-1]
        row.extend([""] * (0 if separator else len(header) - len(row)))  # a workbook holds no empty cells
    uneven = [f"{name}:{line}" for line, row in body if len(row) != len(header)]
    fix = f"Give every row {len(header)} cells, with quotes around text that holds the separator."
    problems.add("rows with more or fewer cells than the header", *uneven, fix=fix)
    good = [(line, row) for line, row in body if len(row) == len(header)]
    named = [at for at, column in enumerate(header) if not _NAMELESS.fullmatch(column)]
    for at in set(range(len(header))).difference(named):
        cells = [row[at] for _, row in good]
        if any(cells) and not _counts(cells):
            where = f"{name}: column {at + 1} ({next(filter(None, cells))})"
            problems.add("columns without a name", where, fix="Write their names into the first row, or delete them.")
    columns = tuple(header[at] for at in named)
    missing = [column for column in wanted if column not in columns]
    if missing or len(set(columns)) < len(columns):
        listed = ", ".join(columns[:SHOWN])
        what = f"columns {', '.join(missing)} missing" if missing else "a column twice"
        problems.add("tables with other columns", f"{name} ({what}; found {listed})", fix="Correct the header.")
        return None
    cells_of = [(line, dict(zip(columns, (row[at] for at in named), strict=True))) for line, row in good]
    return Table(columns, tuple(cells_of), separator)


def _csv(content: bytes, name: str, problems: Problems) -> tuple[Rows, str]:
    """Return the rows and the separator; after a problem, no rows."""
    encoding = next((code for mark, code in BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
        if "\0" in text:
            raise UnicodeDecodeError(encoding, content, text.index("\0"), 0, "no text")
    except UnicodeDecodeError as error:
        fix = "Save them as CSV UTF-8, or as an Excel workbook (.xlsx)."
        problems.add("tables that are not UTF-8", f"{name} (byte {error.start})", fix=fix)
        return [], ""
    declared = _SEPARATOR_LINE.match(text)
    try:
        separator = declared[1] if declared else max(SEPARATORS, key=partial(_fitness, text))
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(lines.line_num, [plain(cell) for cell in row]) for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        problems.add("tables with broken quotes", f"{name} ({error})", fix="Correct them.")
        return [], ""
    if not rows[bool(declared) :]:
        problems.add("empty tables", name, fix="Fill them.")
    return rows[bool(declared) :], separator


def _fitness(text: str, separator: str) -> tuple[float, int]:
    """Return the share of the first rows that have as many cells as the header, if it has several, and their number."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    counts = [len(row) for row in islice(rows, SAMPLE) if row] or [0]
    return counts.count(counts[0]) / len(counts) if counts[0] > 1 else 0.0, counts[0]


def _workbook(content: bytes, name: str, problems: Problems) -> tuple[Rows, str]:
    """Return the rows of the one sheet that is filled, and no separator; after a problem, no rows."""
    from openpyxl import load_workbook  # noqa: PLC0415 - rarely needed, and slow to load

    try:
        book = load_workbook(io.BytesIO(content), data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, SyntaxError) as error:
        fix = "Save them as .xlsx without a password, or as CSV UTF-8."
        problems.add("workbooks that cannot be read", f"{name} ({type(error).__name__})", fix=fix)
        return [], ""
    sheets = {sheet.title: _sheet_rows(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    filled = [title for title, rows in sheets.items() if rows]
    if len(filled) > 1:
        where = f"{name} ({', '.join(filled)})"
        problems.add("workbooks with several filled sheets", where, fix="Keep one, or save the right one as CSV UTF-8.")
    elif not filled:
        problems.add("empty tables", name, fix="Fill them.")
    return (sheets[filled[0]], "") if len(filled) == 1 else ([], "")


def _sheet_rows(rows: Iterable[Sequence[object]]) -> Rows:
    cells = [(line, ["" if cell is None else plain(str(cell)) for cell in row]) for line, row in enumerate(rows, 1)]
    return [(line, row[: max(at for at, cell in enumerate(row, 1) if cell)]) for line, row in cells if any(row)]


def _counts(cells: Sequence[str]) -> bool:
    return any(list(cells) == [str(start + at) for at in range(len(cells))] for start in (0, 1))
