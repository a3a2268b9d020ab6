"""Files that the settings of a task name: what is said where one is not there, and of lists with another header."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bundle_tools.challenge.rules.clips.causes import check_causes
from bundle_tools.challenge.rules.clips.groups import check_groups
from bundle_tools.challenge.rules.clips.jury import check_jury
from bundle_tools.challenge.rules.clips.key_frames import check_key_frames
from bundle_tools.challenge.rules.clips.side import Absence, ListForm, Side, find_named, read_list
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import Finding

Answer = TypeVar("Answer")
FORM = ListForm("things", ["id", "file"], "things-missing", "things-header")


def reference(folder: Path, settings: dict[str, Any]) -> Side:
    return Side("reference data", "reference_data/x/", Dataset(folder), settings)


def drain(rule: Generator[Finding, None, Answer]) -> tuple[list[Finding], Answer]:
    found = []
    while True:
        try:
            found.append(next(rule))
        except StopIteration as end:
            return found, end.value


def test_what_no_file_names_is_silent_and_what_is_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    side = reference(tmp_path, {})
    absence = Absence("x-missing", "Effect.", "Fix.")
    assert drain(find_named(side, "x", None, absence)) == ([], None)
    assert drain(find_named(side, "x", "a.json", absence)) == ([], "a.json")


@pytest.mark.parametrize("value", ["b.json", 7, ["a.json"], {"a.json": 1}, True, ""])
def test_a_name_that_leads_nowhere_is_told_once(tmp_path: Path, value: object) -> None:
    (tmp_path / "a.json").write_text("{}")
    (finding,), name = drain(
        find_named(reference(tmp_path, {}), "x", value, Absence("x-missing", "Effect.", "Fix.", "warning"))
    )
    assert name is None
    assert (finding.code, finding.severity, finding.effect, finding.fix) == ("x-missing", "warning", "Effect.", "Fix.")
    assert finding.what.startswith("x: ") and finding.what.endswith(" is not among the reference data.")


def test_every_optional_file_of_the_reference_data_is_missed_in_the_same_words(tmp_path: Path) -> None:
    names = dict.fromkeys(("causes", "observations", "groups", "jury"), "gone.json")
    side = reference(tmp_path, {**names, "report": {"truth": True, "key_frames": "gone.json"}})
    found = [*check_causes(side, {}), *check_groups(side), *check_jury(side), *check_key_frames(side)]
    keys = ("causes", "observations", "groups", "jury", "key_frames")
    assert [finding.what for finding in found] == [
        f"{key}: 'gone.json' is not among the reference data." for key in keys
    ]
    assert {(finding.severity, finding.where) for finding in found} == {("error", "reference_data/x/gone.json")}


@pytest.mark.parametrize(
    ("content", "code", "rows"),
    [
        (None, "things-missing", None),
        ("", "things-header", None),
        ("file,id\n1,2\n", "things-header", None),
        ("id,file\n", None, []),
        ("id,file\n1,a\n\n2\n", None, [["1", "a"], [], ["2"]]),
    ],
)
def test_a_list_has_its_header_and_keeps_its_lines(
    tmp_path: Path, content: str | None, code: str | None, rows: list[list[str]] | None
) -> None:
    if content is not None:
        (tmp_path / "things.csv").write_text(content)
    side = Side("input data", "input/", Dataset(tmp_path), {})
    found, read = drain(read_list(side, "things.csv", FORM))
    assert [(finding.code, finding.where) for finding in found] == ([(code, "input/things.csv")] if code else [])
    assert read == rows
