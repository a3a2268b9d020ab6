"""Real footage of people: from files to exchanges by the command, with the models that find faces."""

import json
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.canonical import canonical
from bundle_tools.filmed import face
from bundle_tools.filmed.footage import Unsuited, read_footage
from bundle_tools.filmed.track import Tracker
from tests.meaning.people import HIDING, SMILING, prepared

pytestmark = pytest.mark.footage


@pytest.fixture(scope="module")
def people(models: Path) -> Path:
    """The folder of clips of people, with what became of them."""
    return prepared(models)


def test_a_face_is_followed(people: Path, models: Path) -> None:
    found = read_footage((people / f"clips/{HIDING}.mp4").read_bytes(), lambda: Tracker(models))
    (shot,) = found.shots
    assert not shot.own.any()
    assert 80 < face.unit_of(shot.points.mean(0)) < 120
    # Eyes above the mouth, the right one on the left of the picture.
    right, left, lip = (shot.points[:, name].mean(0) for name in (33, 263, 13))
    assert right[0] < lip[0] < left[0]
    assert max(right[1], left[1]) < lip[1]
    assert np.abs(shot.poses[:, :3]).max() < 45


def test_people_go_from_files_to_exchanges(people: Path) -> None:
    results = {result["clip_id"]: result for result in json.loads((people / "results.json").read_text())}
    assert results[SMILING]["reason"] == ""
    for result in (result for result in results.values() if not result["reason"]):
        assert {part["name"] for part in result["entry"]["parts"]} <= {"mouth", "eyes"}
        assert result["processor_s"] < 60
        for name, known in result["figures"].items():
            assert name in result["refused"] or (known["turned"] <= 0.05 and known["apart"] >= 0.5)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("noface_face.mov", "s long: expected 8 s"), ("single_face.mp4", "2.4 s long: expected 8 s")],
)
def test_short_footage_keeps_its_original(name: str, reason: str, footage: Path, models: Path) -> None:
    content, _ = canonical((footage / name).read_bytes())
    with pytest.raises(Unsuited, match=reason):
        read_footage(content, lambda: Tracker(models))
