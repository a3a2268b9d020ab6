"""Read one file written by others, and report all its problems at once."""

import csv
import io
from pathlib import Path
from typing import Any

from score.errors import MOST_FOUND, OrganiserError, Problem, wrong
from score.read.strict_json import StrictJsonError, parse_object, whole_number

_LARGEST = 128 * 2**20
Rows = list[tuple[int, list[str]]]
"""Line number and stripped cells of every line that is not empty."""


class FileReader:
    """Collects what is wrong with a file.

    `problems`: list to add to, if several files are reported together.
    """

    def __init__(self, name: str, code: str, problems: list[Problem] | None = None) -> None:
        self.name, self.code = name, code
        self.problems: list[Problem] = [] if problems is None else problems

    def wrong(self, place: str, found: str, expected: str, code: str = "", *, warning: bool = False) -> None:
        """Add one problem; the place is relative to the file, and empty for the whole file."""
        where = f"{self.name}, {place}" if place else self.name
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

    def _data(self, path: Path) -> bytes | None:
        """Read no more than is needed to see that a file is too large."""
        try:
            # Reading with the size limit would allocate that much memory even for the smallest file.
            with path.open("rb") as stream:
                return stream.read(min(path.stat().st_size, _LARGEST) + 1)
        except OSError as error:
            self.wrong("", type(error).__name__, "a readable file beside task.yaml")
            return None
