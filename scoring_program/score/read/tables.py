"""Reading tables and JSON strictly: sizes first, all problems of a file at once, and hashes of files."""

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from score.errors import MOST_FOUND, OrganiserError, Problem, wrong

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_TEXT = 200


class StrictJsonError(ValueError):
    """The text is not accepted as JSON; the message says why."""


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"the number {name}")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise StrictJsonError("a duplicate key in one object")
    return result


def parse_object(data: bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object.

    Numbers such as 1e999 become infinite: check that a number is finite before you use it.

    `data`: UTF-8, without a byte order mark. `limit`: largest accepted size in bytes, checked before parsing. Raises
    StrictJsonError with a short description of what was found.
    """
    if len(data) > limit:
        raise StrictJsonError(f"{len(data)} bytes, more than {limit}")
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except StrictJsonError:
        raise
    except (UnicodeDecodeError, ValueError):  # ValueError also covers huge integers
        raise StrictJsonError("a file that is not JSON in UTF-8") from None
    except RecursionError:
        raise StrictJsonError("nesting that is too deep") from None
    if not isinstance(value, dict):
        raise StrictJsonError("JSON that is not an object")
    return value


def finite_number(value: object, low: float = -math.inf, high: float = math.inf) -> float | None:
    """Return a parsed value as a float if it is a finite number in a range, else None; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        return None
    return float(value) if low <= value <= high else None


def whole_number(value: object, low: int, high: int) -> int | None:
    """Return a parsed value if it is an integer in a range, else None; booleans are not numbers."""
    return value if type(value) is int and low <= value <= high else None


def is_sha256(value: object) -> bool:
    """Whether a parsed value is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and bool(_SHA256.fullmatch(value))


def short_text(value: object, longest: int = _LONGEST_TEXT) -> str:
    """Return the beginning of a parsed text; an empty text for anything else."""
    return value[:longest] if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """Return a parsed object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


_LARGEST = 128 * 2**20
_LONGEST_LINE = 16 * 2**20
Rows = list[tuple[int, list[str]]]
"""Line number and stripped cells of every line that is not empty."""


class FileReader:
    """Collects what is wrong with a file.

    `problems`: list to add to, if several files are reported together.
    """

    def __init__(self, name: str, code: str, problems: list[Problem] | None = None) -> None:
        self.name, self.code = name, code
        self.problems: list[Problem] = [] if problems is None else problems

    def wrong(self, part: str, found: str, expected: str, code: str = "", *, warning: bool = False) -> None:
        """Add one problem; the place is relative to the file, and empty for the whole file."""
        where = f"{self.name}, {part}" if part else self.name
        self.problems.append(wrong(code or self.code, where, found, expected, warning=warning))

    @property
    def full(self) -> bool:
        """Whether there are enough problems to stop reading."""
        return len(self.problems) >= MOST_FOUND

    def finish(self, headline: str) -> None:
        """Raise the problems, if there are any.

        Raises OrganiserError with every problem at once.
        """
        if self.problems:
            raise OrganiserError(headline, self.problems)

    def table(self, path: Path, encoding_code: str = "", csv_code: str = "") -> Rows:
        """Read a table: CSV in UTF-8, with or without a byte order mark; after a problem, return what could be read."""
        rows: Rows = []
        data = self._data(path)
        if data is None:
            return rows
        if len(data) > _LARGEST:
            self.wrong("", f"more than {_LARGEST >> 20} MiB", "one row per clip or person")
            return rows
        try:
            lines = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        except UnicodeDecodeError as error:
            self.wrong("", f"byte {error.start} is not UTF-8", "UTF-8", encoding_code)
            return rows
        try:
            rows += ((lines.line_num, [cell.strip() for cell in cells]) for cells in lines if cells)
        except csv.Error:
            self.wrong(f"line {lines.line_num}", "broken quoting", "CSV", csv_code)
        return rows

    def json(self, path: Path, version: int) -> dict[str, Any]:
        """Read a JSON object of this ``format_version``; if there is none, add a problem and return an empty one."""
        data = self._data(path)
        if data is None:
            return {}
        try:
            root = parse_object(data, _LARGEST)
        except StrictJsonError as error:
            self.wrong("", str(error), "one JSON object")
            return {}
        if whole_number(root.get("format_version"), version, version) is None:
            self.wrong("format_version", "a different version", str(version))
        return root

    def objects(self, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read JSON lines: the place of each line, and its object; broken lines are problems."""
        lines = data.split(b"\n")
        for number, line in enumerate(lines[: len(lines) - (not lines[-1])], 1):
            if self.full:
                return
            where = f"line {number}"
            try:
                yield where, parse_object(line, _LONGEST_LINE)
            except StrictJsonError as error:
                cut_off = number == len(lines)  # only a line without a line break can have been cut off by a kill
                found = f"{error}, which was ignored" if cut_off else str(error)
                self.wrong(where, found, "one JSON object", warning=cut_off)

    def complete_lines(self, text: str) -> list[str]:
        """Split into lines; a last line without a line break was cut off by a kill: it is left out, with a warning."""
        lines = text.replace("\r\n", "\n").split("\n")
        if lines.pop():
            where, found = f"line {len(lines) + 1}", "an incomplete last line, which was ignored"
            self.wrong(where, found, "complete lines", warning=True)
        return lines

    def _data(self, path: Path) -> bytes | None:
        """Read no more than is needed to see that a file is too large."""
        try:
            # Reading with the size limit would allocate that much memory even for the smallest file.
            with path.open("rb") as stream:
                return stream.read(min(path.stat().st_size, _LARGEST) + 1)
        except OSError as error:
            self.wrong("", type(error).__name__, "a readable file beside task.yaml")
            return None


_SETTINGS = "task.yaml"


@dataclass(frozen=True)
class Hashes:
    """SHA-256 in hexadecimal; empty if unknown or not to be shown."""

    settings: str = ""
    labels: str = ""
    """Hash of labels and all other files beside the settings, by name. It could confirm a guess at the labels."""


def read_hashes(folder: Path) -> Hashes:
    """Hash the files of ``reference_data/<phase>/``, names included and subfolders left out."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name != _SETTINGS):
        whole.update(f"{_of_file(path)}  {path.name}\n".encode())
    return Hashes(_of_file(folder / _SETTINGS), whole.hexdigest())


def _of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
