"""The table of groups: read whatever the order, and every mistake is named without quoting a value."""

from pathlib import Path

import numpy as np
import pytest

from score.errors import OrganiserError
from score.read.reference import Attribute, Reference, read_groups, read_reference
from score.settings import Settings, read_settings
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case, make_input

HEADER = "source_id,voice,age"
GOOD = [HEADER, "person-0,low,young", "person-1,high,old", "person-2,low,old"]


@pytest.fixture
def phase(tmp_path: Path) -> tuple[Settings, Reference]:
    folder = make_input(tmp_path, make_case(clips=6)) / "ref"
    settings = read_settings(folder / "task.yaml")
    return settings, read_reference(folder / "labels.csv", settings)


def read(lines: list[str], phase: tuple[Settings, Reference], folder: Path) -> tuple[Attribute, ...]:
    path = folder / "groups.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_groups(path, *phase)


def test_rows_of_people_and_rows_of_clips_say_the_same_in_any_order(
    phase: tuple[Settings, Reference], tmp_path: Path
) -> None:
    _, reference = phase
    by_person = read([HEADER, *GOOD[:0:-1]], phase, tmp_path)
    cells = {line.split(",")[0]: line.split(",", 1)[1] for line in GOOD[1:]}
    clips = zip(reference.clip_ids, reference.source_ids, strict=True)
    by_clip = read(["clip_id,voice,age", *(f"{clip},{cells[source]}" for clip, source in clips)], phase, tmp_path)
    for one, other in zip(by_person, by_clip, strict=True):
        assert (one.name, one.values) == (other.name, other.values)
        assert np.array_equal(one.member, other.member)
    voice = by_person[0]
    expected = [cells[source].split(",")[0] for source in reference.source_ids]
    assert [voice.values[number] for number in voice.member] == expected


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], "no rows"),
        ([HEADER], "no rows"),
        (["person,voice", *GOOD[1:]], "a wrong first column"),
        (["source_id", "person-0"], "0 attributes"),
        (["source_id,interview,age", *GOOD[1:]], "a target as column 2"),
        (["source_id,voice,voice", *GOOD[1:]], "a duplicate name of column 3"),
        (["source_id,Voice!,age", *GOOD[1:]], "a wrong name of column 2"),
        (["source_id,voice,clip_id", *GOOD[1:]], "a wrong name of column 3"),
        (GOOD[:-1], "no row for 1 of them"),
        ([*GOOD, "person-9,low,old"], "a source_id without labels"),
        ([*GOOD, GOOD[1]], "a duplicate source_id"),
        ([*GOOD[:-1], "person-2,low"], "2 cells"),
        ([*GOOD[:-1], "person-2,,old"], "nothing"),
        ([*GOOD[:-1], f"person-2,{'x' * 41},old"], "an unusable text"),
    ],
)
def test_every_mistake_is_named_and_no_value_quoted(
    lines: list[str], found: str, phase: tuple[Settings, Reference], tmp_path: Path
) -> None:
    with pytest.raises(OrganiserError) as raised:
        read(lines, phase, tmp_path)
    assert found in [problem.found for problem in raised.value.problems]
    text = " ".join(problem.line() for problem in raised.value.problems)
    assert not any(value in text for value in ("young", "person-"))


def test_more_groups_than_can_be_compared_are_refused(tmp_path: Path) -> None:
    folder = make_input(tmp_path, make_case(clips=42)) / "ref"
    settings = read_settings(folder / "task.yaml")
    reference = read_reference(folder / "labels.csv", settings)
    lines = ["source_id,name", *(f"person-{n},g{n}" for n in range(21))]
    with pytest.raises(OrganiserError) as raised:
        read(lines, (settings, reference), tmp_path)
    assert [problem.found for problem in raised.value.problems] == ["21 groups"]


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"source_id,a\n" + b"x" * (16 * 2**20)])
def test_what_is_no_table_is_a_problem_of_the_organiser(
    content: bytes | None, phase: tuple[Settings, Reference], tmp_path: Path
) -> None:
    path = tmp_path / "groups.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OrganiserError):
        read_groups(path, *phase)


def test_a_broken_table_ends_the_run_before_anything_is_compared(score: Score) -> None:
    case = make_case(groups="groups.csv")
    case.groups = "source_id,voice\nperson-0,low\n"
    outcome = score(case)
    assert outcome.code == 2
    assert "groups_broken" in outcome.log
    assert not (outcome.out / "scores.json").exists()
