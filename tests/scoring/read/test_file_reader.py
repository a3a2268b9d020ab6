"""Files of the organiser: whatever editor wrote them they are read, and what is wrong with them has an end."""

from pathlib import Path

import pytest

from score.errors import MOST_FOUND, OrganiserError
from score.read import tables
from score.read.reference import read_reference
from score.read.tables import FileReader
from score.settings import read_settings
from tests.scoring.factory import make_case, make_input


def reader(path: Path) -> FileReader:
    return FileReader(path.name, "groups_broken")


def test_rows_keep_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'\xef\xbb\xbfa, b\r\n\r\n1,"2\r\n2"\r\n3, 4')
    file = reader(path)
    assert file.table(path) == [(1, ["a", "b"]), (4, ["1", "2\r\n2"]), (5, ["3", "4"])]
    file.finish("nothing is wrong")


@pytest.mark.parametrize(
    ("data", "found", "rows"),
    [
        (None, "FileNotFoundError", 0),
        (b"a\xff", "byte 1 is not UTF-8", 0),
        (b'a,b\n1,2\n"3', "broken quoting", 2),
        (b"a,b\n" * 30, "more than 0 MiB", 0),
    ],
)
def test_what_is_no_table_is_told_with_what_could_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes | None, found: str, rows: int
) -> None:
    monkeypatch.setattr(tables, "_LARGEST", 100)
    path = tmp_path / "table.csv"
    if data is not None:
        path.write_bytes(data)
    file = reader(path)
    assert len(file.table(path)) == rows
    with pytest.raises(OrganiserError) as raised:
        file.finish("It is wrong.")
    assert [problem.found for problem in raised.value.problems] == [found]


def test_labels_in_any_order_are_the_same_reference(tmp_path: Path) -> None:
    folder = make_input(tmp_path, make_case(clips=5)) / "ref"
    settings = read_settings(folder / "task.yaml")
    before = read_reference(folder / "labels.csv", settings)
    head, *rows = (folder / "labels.csv").read_text().split()
    (folder / "labels.csv").write_text("\n".join([head, *rows[::-1]]))
    after = read_reference(folder / "labels.csv", settings)
    assert list(before.clip_ids) == sorted(before.clip_ids)
    assert (before.clip_ids, before.source_ids, before.truth.tolist()) == (
        after.clip_ids,
        after.source_ids,
        after.truth.tolist(),
    )


def test_a_file_of_another_kind_is_not_read_to_its_end(tmp_path: Path) -> None:
    settings = read_settings(make_input(tmp_path, make_case(clips=2)) / "ref" / "task.yaml")
    path = tmp_path / "labels.csv"
    path.write_text(",".join(["clip_id", "source_id", *settings.names]) + "\n" + "rubbish\n" * 5000)
    with pytest.raises(OrganiserError) as raised:
        read_reference(path, settings)
    assert len(raised.value.problems) == MOST_FOUND
