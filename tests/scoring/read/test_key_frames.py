"""Pictures of the clips: where they are shown, and that a list of them that is wrong costs nobody a score."""

from collections.abc import Callable
from pathlib import Path

import pytest

from score.read.landmarks import KeyFrames, read_key_frames
from tests.scoring.conftest import Score
from tests.scoring.factory import jpeg, make_case, write_frames
from tests.scoring.pages import CLIPS_ONLY, HIDDEN


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
