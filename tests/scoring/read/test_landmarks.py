"""The scores of baselines: read strictly, and no run depends on them."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from score.errors import OrganiserError
from score.read.landmarks import NO_LANDMARKS, read_landmarks
from score.settings import Settings, read_settings
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case, make_input

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
    assert read_landmarks(tmp_path, settings) == NO_LANDMARKS


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
