"""Tables that people open: no text in them becomes a formula, and what is read back is what was written."""

import csv
import io
import re
from pathlib import Path

import pytest

from bundle_tools.tables import table_text, write_table
from tests import ROOT

WRITERS = re.compile(r"csv\.(?:writer|DictWriter)|\bto_csv\b|\bDictWriter\(")
NOT_OURS = {
    "bundle_tools/tables.py",
    # The record, and a copy of the organiser's own data: the scoring program reads both, cell by cell.
    "ingestion_program/ingest/record_writer.py",
    "starting_kit/runs.py",
}


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://example.org")',
        "+ada",
        "-1+1|cmd",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "-1\r=2",
        "-6otZ7M-Mro.003.mp4",
    ],
)
def test_no_text_is_a_formula(text: str) -> None:
    [_, [cell]] = csv.reader(io.StringIO(table_text(("name",), [(text,)]), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("value", [-1, -0.25, 1e-9, "-0.25", "+1", "-1e-05", "plain", "a=b", "'tis", "'", "", None])
def test_numbers_and_other_texts_stay(value: object) -> None:
    [_, [cell, _]] = csv.reader(table_text(("name", "more"), [(value, 1)]).splitlines())
    assert cell == ("" if value is None else str(value))


def test_a_file_for_programs_keeps_every_text(tmp_path: Path) -> None:
    write_table(tmp_path / "aliases.csv", ("clip_id", "name"), [("c1", "-a.mp4")], for_programs=True)
    assert (tmp_path / "aliases.csv").read_bytes() == b"clip_id,name\nc1,-a.mp4\n"


def test_all_tables_have_one_writer() -> None:
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "tests"]
    files = [path for folder in folders for ending in ("py", "ipynb", "j2") for path in folder.rglob(f"*.{ending}")]
    assert len(files) > 200
    writers = {str(path.relative_to(ROOT)) for path in files if WRITERS.search(path.read_text("utf-8"))}
    assert writers == NOT_OURS
