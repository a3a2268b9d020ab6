"""Groups of people in a bundle: a table that scoring takes, and attributes that only scoring sees."""

from pathlib import Path

import pytest

from bundle_tools.challenge.build.contents import entries
from bundle_tools.challenge.rules.clips.groups import check_groups, check_groups_misplaced
from bundle_tools.challenge.rules.clips.side import Side
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.document import read
from score.errors import OrganiserError
from score.read.reference.groups import read_groups
from score.read.reference.known import read_known
from score.read.reference.labels import read_reference
from score.settings import read_settings
from tests.scoring.factory import make_case, make_input

PEOPLE = 10
HEADER = "source_id,age"
ROWS = [f"person-{n},{'old' if n % 2 else 'young'}" for n in range(PEOPLE)]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """Reference data with two clips of each of ten people."""
    return make_input(tmp_path, make_case(clips=2 * PEOPLE, groups="groups.csv")) / "ref"


def codes(folder: Path, lines: list[str] | None, name: str = "groups.csv") -> set[str]:
    (folder / "groups.csv").unlink()
    if lines is not None:
        (folder / "groups.csv").write_text("\n".join(lines) + "\n")
    side = Side("reference data", "reference/", Dataset(folder), {"groups": name})
    return {finding.code for finding in check_groups(side)}


def refused(folder: Path) -> bool:
    settings = read_settings(folder / "task.yaml")
    try:
        read_groups(folder / "groups.csv", settings, read_reference(folder / "labels.csv", settings))
    except OrganiserError:
        return True
    return False


def test_a_sound_table_is_silent(reference: Path) -> None:
    assert codes(reference, [HEADER, *ROWS]) == set()
    assert not refused(reference)
    assert not list(check_groups(Side("reference data", "reference/", Dataset(reference), {})))


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("groups-header", []),
        ("groups-header", ["person,age", *ROWS]),
        ("groups-header", ["source_id", "person-1"]),
        ("groups-header", ["source_id,Age", *ROWS]),
        ("groups-header", ["source_id,age,age", *(f"{row},x" for row in ROWS)]),
        ("groups-target", ["source_id,interview", *ROWS]),
        ("groups-clips", [HEADER, *ROWS[:-1]]),
        ("groups-clips", [HEADER, *ROWS, "person-99,old"]),
        ("groups-clips", [HEADER, *ROWS, ROWS[0]]),
        ("groups-row", [HEADER, *ROWS[:-1], "person-9"]),
        ("groups-row", [HEADER, *ROWS[:-1], "person-9,"]),
        ("groups-row", [HEADER, *ROWS[:-1], f"person-9,{'x' * 41}"]),
    ],
)
def test_what_scoring_refuses_is_found(reference: Path, code: str, lines: list[str]) -> None:
    assert code in codes(reference, lines)
    assert refused(reference)


def test_a_table_that_is_missing_is_found(reference: Path) -> None:
    assert codes(reference, None) == {"groups-missing"}


def test_too_many_groups_are_found(tmp_path: Path) -> None:
    folder = make_input(tmp_path, make_case(clips=42, groups="groups.csv")) / "ref"
    assert "groups-values" in codes(folder, [HEADER, *(f"person-{n},g{n}" for n in range(21))])
    assert refused(folder)


def test_groups_of_which_nothing_can_be_shown_are_noted(reference: Path) -> None:
    assert codes(reference, [HEADER, *(f"person-{n},{'old' if n < 6 else 'young'}" for n in range(10))]) == {
        "groups-small"
    }


@pytest.fixture
def bundle(tiny: Path) -> Path:
    folder = tiny / "reference_data" / "practice"
    (folder / "task.yaml").write_text("task: practice\ngroups: groups.csv\n")
    (folder / "groups.csv").write_text("\n".join([HEADER, *ROWS]))
    return tiny


def misplaced(bundle: Path) -> list[str]:
    draft, _ = read(bundle, folder=True)
    assert draft is not None
    return [finding.what for finding in check_groups_misplaced(draft) if finding.code == "groups-misplaced"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("input_data/practice/groups.csv", "x"),
        ("input_data/practice/clips.csv", "clip_id,file,age\na,b,old\n"),
        ("solutions/half/people.json", '{"person-1": {"age": "old"}}'),
        ("solutions/half/people.json", '[{"id": 1, "age": "old"}]'),
    ],
)
def test_an_attribute_where_models_look_is_found(bundle: Path, file: str, content: str) -> None:
    (bundle / "input_data" / "practice" / "notes.csv").write_text("clip_id,wage\na,1\n")
    (bundle / "input_data" / "practice" / "notes.json").write_text('{"a": "age", "b": [')
    assert misplaced(bundle) == []
    (bundle / file).write_text(content)
    assert len(misplaced(bundle)) == 1


def test_without_groups_nothing_is_misplaced(tiny: Path) -> None:
    (tiny / "input_data" / "practice" / "clips.csv").write_text("clip_id,age\n")
    assert misplaced(tiny) == []


def test_the_starting_kit_has_no_groups(bundle: Path) -> None:
    names = [name for name, _ in entries(bundle, (bundle / "competition.yaml").read_text(), None)]
    assert "starting_kit/reference_data/practice/task.yaml" in names
    assert "reference_data/practice/groups.csv" in names
    assert "starting_kit/reference_data/practice/groups.csv" not in names


def test_scoring_does_without_a_table_that_the_kit_does_not_have(reference: Path) -> None:

    settings = read_settings(reference / "task.yaml")
    (reference / "groups.csv").unlink()
    assert read_known(reference, settings, read_reference(reference / "labels.csv", settings)).groups is None
