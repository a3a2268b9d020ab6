"""Clips that cannot be exchanged end in a line, and keep their original."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.filmed import features, footage
from bundle_tools.filmed import job as module
from bundle_tools.filmed.footage import Unsuited, read_footage
from bundle_tools.filmed.job import Job, exchange, key_of, result_of
from bundle_tools.filmed.track import Tracker
from tests.filmed.conftest import read
from tests.filmed.drawn import Drawn, Known, draw

Spoil = Callable[[Drawn], Drawn]


def without_faces(share: float) -> Spoil:
    def spoil(drawn: Drawn) -> Drawn:
        points = drawn.points.copy()
        points[10 : 10 + round(share * len(points))] = np.nan
        return replace(drawn, points=points)

    return spoil


def moved(drawn: Drawn, factor: float = 1.0, depth: float = 0.0) -> Drawn:
    """Make the landmarks smaller, or turn the face away from the camera in its second half."""
    points = drawn.points.copy()
    middle = points[..., :2].mean((0, 1))
    points[..., :2] = middle + (points[..., :2] - middle) * factor
    half = points[len(points) // 2 :]
    half[..., 2] = (half[..., 0] - middle[0]) * depth
    return replace(drawn, points=points)


LINES: dict[str, tuple[Spoil, str]] = {
    "no face in every tenth frame": (without_faces(0.1), r"no face in 10% of the frames: expected at most 2%"),
    "no face at all": (without_faces(1.0), r"no face in \d+% of the frames"),
    "a small face": (lambda drawn: moved(drawn, 0.5), r"eyes 36 pixels apart: expected 40 or more"),
    "turned away": (lambda drawn: moved(drawn, depth=1.0), r"turned by more than 35 degrees in 50% of the frames"),
    "short": (lambda _: draw(1, 5.0), r"4\.9 s long: expected 8 s or more"),
    "cut in two": (lambda _: draw(1, 12.0, cut_s=6.0), r"no shot of 8 s or more between cuts"),
}


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw(1)


@pytest.mark.parametrize("name", LINES)
def test_what_is_unsuited_says_why(name: str, drawn: Drawn) -> None:
    spoil, reason = LINES[name]
    with pytest.raises(Unsuited, match=reason):
        read(spoil(drawn))


def test_all_reasons_are_told_at_once(drawn: Drawn) -> None:
    with pytest.raises(Unsuited, match=r"no face in 10% .*; eyes 36 pixels .*; turned by more .*"):
        read(without_faces(0.1)(moved(drawn, 0.5, 1.0)))


def test_a_very_long_clip_is_told(drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footage, "MOST_S", 8.5)
    with pytest.raises(Unsuited, match="9 s long: expected 8 s or less"):
        read(drawn)


def test_a_second_large_face_is_told(drawn: Drawn) -> None:
    tracker = Known(drawn.points, faces=2)
    with pytest.raises(Unsuited, match="a second face of more than half the size"):
        read_footage(drawn.content, lambda: tracker)  # type: ignore[arg-type,return-value]


def test_a_frame_or_two_without_a_face_show_the_own_part(drawn: Drawn) -> None:
    (shot,) = read(without_faces(0.02)(drawn)).shots
    assert np.flatnonzero(shot.own).tolist() == [10, 11]
    assert np.isfinite(shot.points).all()


def test_only_one_side_of_a_cut_may_be_long_enough() -> None:
    (shot,) = read(draw(1, 11.0, cut_s=2.0)).shots
    assert (shot.start, shot.stop) == (24, 132)


def job_of(folder: Path, content: bytes) -> Job:
    (folder / "clip.mp4").write_bytes(content)
    names = "exchanges/a.mp4", "exchanges/b.mp4"
    return Job(
        clip_id="c1", phase="practice", folder=str(folder), file="clip.mp4", first=names[0], second=names[1], side=1,
        models="", out=str(folder / "c1.json"), key=key_of("0", 1, names), alive="",
    )  # fmt: skip


@pytest.fixture
def known(drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs know the landmarks of the drawn clip, for want of a model that sees drawn faces."""
    monkeypatch.setattr(module, "Tracker", lambda _: Known(drawn.points))
    monkeypatch.setattr(features, "MOST_FRAMES", 36)


def test_a_result_holds_all_and_is_kept_while_its_files_are(drawn: Drawn, known: None, tmp_path: Path) -> None:
    job = job_of(tmp_path, drawn.content)
    result = exchange(job)
    assert result["reason"] == ""
    assert set(result["features"]) == {"mouth", "eyes", "time"}
    assert [part["name"] for part in result["entry"]["parts"]] == ["mouth", "eyes"]
    assert [len(picture["shown"]) for picture in result["pictures"]] == [3] * 4
    assert result_of(job) is None
    Path(job.out).write_text(json.dumps(result))
    assert result_of(job) == json.loads(json.dumps(result))
    assert result_of(replace(job, key="another seed")) is None
    (tmp_path / job.first).write_bytes(b"changed")
    assert result_of(job) is None


@pytest.mark.parametrize("content", [b"", b"no video", b"\0" * 4096], ids=["empty", "text", "zeros"])
def test_a_broken_file_ends_in_a_line(content: bytes, known: None, tmp_path: Path) -> None:
    result = exchange(job_of(tmp_path, content))
    assert result["reason"].startswith("cannot be used (")
    assert result["lines"] == [f"keeps its original: {result['reason']}"]
    assert result["entry"] is None
    assert not (tmp_path / "exchanges").exists()


def test_a_still_mouth_is_not_offered(known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw(1)
    still = np.broadcast_to(drawn.points[:1], drawn.points.shape)
    monkeypatch.setattr(module, "Tracker", lambda _: Known(still))
    result = exchange(job_of(tmp_path, drawn.content))
    assert result["refused"] == {"mouth": "the expression hardly changes: 0.00 SD apart, expected 0.5"}
    assert "mouth is not offered: the expression hardly changes" in result["lines"][0]
    assert [part["name"] for part in result["entry"]["parts"]] == ["eyes"]


def test_the_tracker_needs_its_models() -> None:
    with pytest.raises(Exception, match="face_detection_short_range"):
        Tracker(Path("/nowhere"))
