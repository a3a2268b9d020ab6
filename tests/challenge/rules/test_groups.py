"""Groups of people in a bundle: enough of them to show something, and attributes that only scoring sees."""

from pathlib import Path

import pytest

from bundle_tools.challenge.build import entries
from bundle_tools.challenge.reading.tables import PhaseData, read_labels, read_settings
from bundle_tools.challenge.rules.reference import check_groups_misplaced, check_reference
from bundle_tools.codabench.rules.dataset import DataFiles
from score.read.known import read_known
from score.read.reference import read_reference
from score.settings import read_settings as read_settings_of_scoring
from tests.scoring.factory import make_case, make_input
from tests.tiny import draft_of

PEOPLE = 10
HEADER = "source_id,age"
ROWS = [f"person-{n},{'old' if n % 2 else 'young'}" for n in range(PEOPLE)]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """Reference data with two clips of each of ten people."""
    return make_input(tmp_path, make_case(clips=2 * PEOPLE, groups="groups.csv")) / "ref"


def codes(folder: Path) -> list[str]:
    side = PhaseData("reference/", DataFiles(folder), read_settings(DataFiles(folder)) or {})
    clips = read_labels(side.data).rows
    return [finding.code for finding in check_reference(side, side, clips)]


def test_groups_that_are_missing_or_of_which_nothing_can_be_shown_are_found(reference: Path) -> None:
    for old, expected in ((PEOPLE // 2, []), (PEOPLE // 2 - 1, ["groups-small"])):
        rows = [f"person-{n},{'old' if n < old else 'young'}" for n in range(PEOPLE)]
        (reference / "groups.csv").write_text("\n".join([HEADER, *rows]))
        assert codes(reference) == expected
    (reference / "groups.csv").unlink()
    assert codes(reference) == ["groups-missing"]


@pytest.fixture
def bundle(tiny: Path) -> Path:
    folder = tiny / "reference_data" / "practice"
    (folder / "task.yaml").write_text("task: practice\ngroups: groups.csv\n")
    (folder / "groups.csv").write_text("\n".join([HEADER, *ROWS]))
    return tiny


def misplaced(bundle: Path) -> list[str]:
    return [finding.what for finding in check_groups_misplaced(draft_of(bundle)) if finding.code == "groups-misplaced"]


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
    settings = read_settings_of_scoring(reference / "task.yaml")
    (reference / "groups.csv").unlink()
    assert read_known(reference, settings, read_reference(reference / "labels.csv", settings)).groups == ()
