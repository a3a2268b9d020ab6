"""The folder that `bundle server fetch` makes: a table, and one folder a submission."""

import csv
from pathlib import Path

TABLE = "submissions.csv"
"""One line a submission; its folder, and whether it is on the board."""
OUTPUT = "prediction_output.zip"
"""What the submission's model gave, in its folder."""


def is_fetched(folder: Path) -> bool:
    """Tell whether `bundle server fetch` made a folder."""
    return (folder / TABLE).is_file()


def phases_in(folder: Path) -> set[int]:
    """Give the server's numbers of the phases whose submissions lie in a folder."""
    return {int(line["phase"]) for line in _lines(folder)}


def runs_in(folder: Path) -> list[Path]:
    """Give the folders of the submissions on the board; of all that have an output, where none is on it."""
    there = [line for line in _lines(folder) if (folder / line["folder"] / OUTPUT).is_file()]
    on_board = [line for line in there if line["on_board"] == "1"]
    return [folder / line["folder"] for line in on_board or there]


def _lines(folder: Path) -> list[dict[str, str]]:
    with (folder / TABLE).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
