"""Real footage of people: from files to exchanges by the command, with the models that find faces."""

import json
from pathlib import Path

import av
import numpy as np
import pytest

from bundle_tools.canonical import canonical
from bundle_tools.decoding import pictures
from bundle_tools.filmed import face
from bundle_tools.filmed.footage import Unsuited, read_footage
from bundle_tools.filmed.job import Job, exchange, key_of
from bundle_tools.filmed.track import Tracker

pytestmark = pytest.mark.footage


@pytest.fixture(scope="module")
def person(footage: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine seconds of a woman who smiles, and hides behind a hand at first."""
    content, _ = canonical((footage / "WolfgangLanger_Pexels.mp4").read_bytes())
    path = tmp_path_factory.mktemp("person") / "clip.mp4"
    with av.open(str(path), "w") as container:
        track = container.add_stream("libx264", rate=24, options={"crf": "18"})
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.pix_fmt = 640, 360, "yuv420p"
        for picture in pictures(content, range(200, 416), "bgr24"):
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            container.mux(track.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(track.encode(None))
    return path


def test_a_face_is_followed(person: Path, models: Path) -> None:
    found = read_footage(person.read_bytes(), lambda: Tracker(models))
    (shot,) = found.shots
    assert not shot.own.any()
    assert 120 < face.unit_of(shot.points.mean(0)) < 180
    # Eyes above the mouth, the right one on the left of the picture.
    right, left, lip = (shot.points[:, name].mean(0) for name in (33, 263, 13))
    assert right[0] < lip[0] < left[0]
    assert max(right[1], left[1]) < lip[1]
    assert np.abs(shot.poses[:, :3]).max() < 45


def test_a_person_goes_from_a_file_to_exchanges(person: Path, models: Path, tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(person.read_bytes())
    names = "exchanges/a.mp4", "exchanges/b.mp4"
    job = Job("c1", "practice", str(tmp_path), "clip.mp4", *names, 1, str(models), "", key_of("0", 1, names), "")
    result = exchange(job)
    assert result["reason"] == ""
    assert {part["name"] for part in result["entry"]["parts"]} <= {"mouth", "eyes"}
    assert result["processor_s"] < 60
    for name, known in result["figures"].items():
        assert name in result["refused"] or (known["turned"] <= 0.05 and known["apart"] >= 0.5)
    assert json.dumps(result)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("noface_face.mov", "s long: expected 8 s"), ("single_face.mp4", "2.4 s long: expected 8 s")],
)
def test_short_footage_keeps_its_original(name: str, reason: str, footage: Path, models: Path) -> None:
    content, _ = canonical((footage / name).read_bytes())
    with pytest.raises(Unsuited, match=reason):
        read_footage(content, lambda: Tracker(models))
