"""The table of groups: read whatever the order, and every mistake is named without quoting a value."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.errors import OrganiserError
from score.landmarks import KeyFrames, Landmarks, read_key_frames, read_landmarks
from score.read.reference import Attribute, Reference, read_groups, read_reference
from score.settings import Settings, read_settings
from tests.scoring.conftest import Score
from tests.scoring.factory import jpeg, make_case, make_input, write_frames
from tests.scoring.pages import CLIPS_ONLY, HIDDEN

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


LANDMARKS: dict[str, Any] = {
    "format_version": 1,
    "data_sha256": "0f" * 32,
    "landmarks": [
        {
            "key": "constant",
            "kind": "constant",
            "title": "The constant",
            "meaning": "Always the training mean.",
            "columns": {"interview_accuracy": 0.81, "explanation": 0.0},
            "targets": {"interview": {"accuracy": 0.81, "ccc": 0.0}},
        },
        {
            "key": "reader",
            "kind": "solution",
            "title": "Reference solution",
            "meaning": "An example.",
            "columns": {"interview_accuracy": 0.95, "explanation": 70.0},
            "targets": {},
        },
    ],
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings(make_input(tmp_path / "in", make_case(clips=2, landmarks="landmarks.json")) / "ref/task.yaml")


def write(folder: Path, content: Any) -> Path:  # noqa: ANN401 - rubbish, too
    (folder / "landmarks.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_what_was_written_is_read(settings: Settings, tmp_path: Path) -> None:
    landmarks = read_landmarks(write(tmp_path, LANDMARKS), settings)
    assert landmarks.data_sha256 == "0f" * 32
    assert [item.key for item in landmarks.items] == ["constant", "reader"]
    assert [item.key for item in landmarks.of_kind("solution", "ceiling")] == ["reader"]
    assert landmarks.items[0].targets == {"interview": {"accuracy": 0.81, "ccc": 0.0}}


def test_a_missing_file_and_a_missing_setting_are_no_landmarks(settings: Settings, tmp_path: Path) -> None:
    assert read_landmarks(tmp_path, settings) == Landmarks()


def test_a_closed_phase_keeps_the_constant_and_solutions_roughly(settings: Settings, tmp_path: Path) -> None:
    content = copy.deepcopy(LANDMARKS)
    content["landmarks"][1]["columns"] = {"interview_accuracy": 0.95678, "explanation": 70.4321}
    content["landmarks"].append(content["landmarks"][0] | {"key": "size", "kind": "shortcut"})
    coarse = read_landmarks(write(tmp_path, content), settings).coarse(settings)
    assert [item.key for item in coarse.items] == ["constant", "reader"]
    assert coarse.items[1].columns == {"interview_accuracy": 0.96, "explanation": 70.0}
    assert all(item.targets == {} for item in coarse.items)


def spoil(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    spoilt = copy.deepcopy(LANDMARKS)
    change(spoilt)
    return spoilt


def first(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    return spoil(lambda root: root["landmarks"][0].update(changes))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", ""),
        ("[]", ""),
        (spoil(lambda root: root.update(format_version=2)), "format_version"),
        (spoil(lambda root: root.update(data_sha256="zz")), "data_sha256"),
        (spoil(lambda root: root.update(data_sha256=7)), "data_sha256"),
        (spoil(lambda root: root.update(landmarks={})), "landmarks"),
        (spoil(lambda root: root["landmarks"].extend([{}] * 20)), "landmarks"),
        (spoil(lambda root: root["landmarks"].append(root["landmarks"][0])), "landmarks"),
        (spoil(lambda root: root["landmarks"].append("constant")), "landmark 3"),
        (first(extra=1), "landmark 1"),
        (first(key="No key"), "landmark 1, key"),
        (first(kind="winner"), "landmark 1, kind"),
        (first(kind=[]), "landmark 1, kind"),
        (first(title=""), "landmark 1, title"),
        (first(title="x" * 41), "landmark 1, title"),
        (first(meaning="a\u202eb"), "landmark 1, meaning"),
        (first(columns={"charisma": 1.0}), "landmark 1, columns"),
        (first(columns={"skill": "high"}), "landmark 1, columns, skill"),
        (first(columns={"skill": 1.5}), "landmark 1, columns, skill"),
        (first(columns={"explanation": -1}), "landmark 1, columns, explanation"),
        (first(targets={"charisma": {}}), "landmark 1, targets"),
        (first(targets={"interview": {"tau": 0.5}}), "landmark 1, interview"),
        (first(targets={"interview": {"ccc": True}}), "landmark 1, interview, ccc"),
    ],
)
def test_every_mistake_is_named(content: object, place: str, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as raised:
        read_landmarks(write(tmp_path, content), settings)
    where = f"landmarks.json, {place}" if place else "landmarks.json"
    assert [problem.where for problem in raised.value.problems] == [where]


def test_no_score_depends_on_them(score: Score) -> None:
    case = make_case(clips=4, landmarks="landmarks.json")
    plain = score(case).scores
    case.landmarks = LANDMARKS
    assert score(case).scores == plain


def test_key_frames_of_a_closed_phase_are_refused(score: Score) -> None:
    for report in (HIDDEN, CLIPS_ONLY):
        done = score(make_case(clips=2, report=report | {"key_frames": "key_frames.csv"}))
        assert (done.code, "key_frames with truth: false" in done.log) == (2, True)


IDS = ["c1", "c2", "c3"]


def test_key_frames_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    write_frames(tmp_path, IDS)
    frames = read_key_frames(tmp_path, "frames.csv", IDS)
    assert frames.problems == ()
    frame = frames.read("c2")
    assert frame == (jpeg(1), 1.5)
    assert frames.read("c4") is None
    assert read_key_frames(tmp_path, None, IDS) == KeyFrames()


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.pop(),
        lambda rows: rows[1].__setitem__(0, "c9"),
        lambda rows: rows.append(rows[1]),
        lambda rows: rows[1].__setitem__(1, "../frames/c1.jpg"),
        lambda rows: rows[1].__setitem__(1, "/etc/passwd"),
        lambda rows: rows[1].__setitem__(2, "inf"),
        lambda rows: rows[1].__setitem__(2, "-1"),
        lambda rows: rows[1].__setitem__(3, "x"),
        lambda rows: rows[1].append(""),
        lambda rows: rows[0].reverse(),
        lambda rows: rows.clear(),
    ],
)
def test_a_wrong_list_is_a_warning_without_a_clip(tmp_path: Path, change: Callable[[list[list[str]]], object]) -> None:
    write_frames(tmp_path, IDS, change)
    frames = read_key_frames(tmp_path, "frames.csv", IDS)
    assert frames.problems
    assert {problem.severity for problem in frames.problems} == {"warning"}
    assert not any(clip_id in repr(frames.problems) for clip_id in (*IDS, "c9"))


def test_a_picture_that_is_another_or_a_link_is_not_shown(tmp_path: Path) -> None:
    write_frames(tmp_path, IDS)
    first, second, third = (tmp_path / "frames" / f"{clip_id}.jpg" for clip_id in IDS)
    first.write_bytes(jpeg(7))
    second.unlink()
    (tmp_path / "elsewhere.jpg").write_bytes(jpeg(1))
    second.symlink_to(tmp_path / "elsewhere.jpg")
    third.write_bytes(b"\xff" * 2**17)
    frames = read_key_frames(tmp_path, "frames.csv", IDS)
    assert [frames.read(clip_id) for clip_id in IDS] == [None, None, None]


def test_without_a_list_the_run_is_scored_and_the_organisers_are_told(score: Score) -> None:
    report = {"clips": True, "truth": True, "gallery": 2, "key_frames": "frames.csv"}
    case = make_case(clips=3, report=report)
    missing = score(case)
    assert (missing.code, "key_frames_broken" in missing.page) == (0, True)
    shown = score(case, lambda root: write_frames(root / "ref", case.clip_ids))
    assert (shown.code, "key_frames_broken" in shown.page) == (0, False)
    assert shown.page.count('class="canvas"') == 2
    assert shown.scores == missing.scores
