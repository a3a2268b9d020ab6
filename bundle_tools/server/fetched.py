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


def runs_in(folder: Path) -> list[Path]:
    """Give the folders of the submissions on the board; of all that have an output, where none is on it."""
    with (folder / TABLE).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    there = [line for line in lines if (folder / line["folder"] / OUTPUT).is_file()]
    on_board = [line for line in there if line["on_board"] == "1"]
    return [folder / line["folder"] for line in on_board or there]
