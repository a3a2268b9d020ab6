"""The folder that `bundle server fetch` makes: a table, and one folder per submission."""

import csv
import io
import re
from pathlib import Path

from bundle_tools.errors import BundleError

TABLE = "submissions.csv"
"""One line per submission: its folder, and whether it is on the leaderboard."""
OUTPUT = "prediction_output.zip"
"""The output of the submission's model, in its folder."""
LARGEST_TABLE = 64 * 2**20
_FORMS = {
    "phase": re.compile("[0-9]{1,18}"),
    "folder": re.compile(r"\w[\w.-]{0,99}"),
    "on_board": re.compile("[01]"),
}
"""Patterns of the columns that are used."""


def is_fetched(folder: Path) -> bool:
    """Return whether `bundle server fetch` made a folder."""
    return (folder / TABLE).is_file()


def phases_in(folder: Path) -> set[int]:
    """Return the server's numbers of the phases whose submissions are in a folder.

    Raises BundleError if the folder's table is another one.
    """
    return {int(line["phase"]) for line in _lines(folder)}


def runs_in(folder: Path) -> list[Path]:
    """Return the folders of the submissions on the board; if there are none, of all with an output.

    Raises BundleError if the folder's table is another one.
    """
    there = [line for line in _lines(folder) if (folder / line["folder"] / OUTPUT).is_file()]
    on_board = [line for line in there if line["on_board"] == "1"]
    return [folder / line["folder"] for line in on_board or there]


def _lines(folder: Path) -> list[dict[str, str]]:
    """Read the untrusted table: no path may lead out of the folder."""
    path, lines = folder / TABLE, []

    def refusal(number: int, found: str) -> BundleError:
        expected = "expected a line of `bundle server fetch`"
        return BundleError(f"{path}, line {number}: {expected}, found {found}. Fetch again, into another folder.")

    with path.open("rb") as file:
        data = file.read(LARGEST_TABLE + 1)
    if len(data) > LARGEST_TABLE:
        raise refusal(data.count(b"\n"), f"more than {LARGEST_TABLE} bytes before it ends")
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True)
    except UnicodeDecodeError as error:
        raise refusal(data.count(b"\n", 0, error.start) + 1, "bytes that are not UTF-8") from None
    try:
        for line in reader:
            for column, form in _FORMS.items():
                if not form.fullmatch(line.get(column) or ""):
                    raise refusal(reader.line_num, f"{line.get(column)!r:.40} in the column {column}")
            if (folder / line["folder"]).is_symlink():
                raise refusal(reader.line_num, "a folder that is a link")
            lines.append(line)
    except csv.Error as error:
        raise refusal(reader.reader.line_num, str(error)) from None
    return lines
