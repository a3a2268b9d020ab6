"""Key frames: made from clips, and every mistake in them is found."""

import csv
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml

from bundle_tools.challenge.reading.tables import PhaseData, read_labels, read_settings
from bundle_tools.challenge.rules.reference import check_reference
from bundle_tools.cli.main import main
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import KEY_FRAME_COLUMNS, write_key_frames
from bundle_tools.phase_data.pictures import LARGEST, middle_frame, small_jpeg
from score.report.drawings import jpeg_size
from tests import ROOT
from tests.ingestion.clips import Format, write_clip
from tests.own_clips.clips import rotated

CLIPS = ("c0a1b2c3d4", "c1a1b2c3d4", "c2a1b2c3d4")
Mutation = Callable[[Path], object]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reference data of three clips with key frames."""
    folder = tmp_path_factory.mktemp("frames")
    clips = [
        (clip, write_clip(folder / f"{clip}.mp4", 10 + number, Format(width=64, height=48)))
        for number, clip in enumerate(CLIPS)
    ]
    wanted = folder / "reference"
    wanted.mkdir()
    write_key_frames(clips, wanted)
    (wanted / "labels.csv").write_text("clip_id,source_id,a\n" + "".join(f"{clip},s,0.5\n" for clip in CLIPS))
    settings = {"report": {"clips": True, "truth": True, "gallery": 4, "key_frames": "key_frames.csv"}}
    (wanted / "task.yaml").write_text(yaml.safe_dump(settings))
    return wanted


@pytest.fixture
def phase(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "reference"))


def codes(phase: Path) -> set[str]:
    side = PhaseData("reference/", DataFiles(phase), read_settings(DataFiles(phase)) or {})
    return {finding.code for finding in check_reference(side, side, read_labels(side.data).rows)}


def test_one_picture_a_clip_from_its_middle(phase: Path) -> None:
    rows = list(csv.DictReader((phase / "key_frames.csv").open()))
    assert tuple(rows[0]) == KEY_FRAME_COLUMNS
    assert [row["clip_id"] for row in rows] == sorted(CLIPS)
    for row in rows:
        assert jpeg_size((phase / row["file"]).read_bytes()) == (64, 48)
        assert 0 < float(row["time_s"]) < 1


def test_the_middle_frame_is_in_the_middle() -> None:
    clip = min((ROOT / "input_data" / "practice" / "clips").iterdir())
    frame, time_s = middle_frame(clip.read_bytes())
    assert frame.shape[2] == 3
    assert time_s == pytest.approx(2.5, abs=0.1)


def test_the_middle_frame_is_upright(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", 10, Format(width=64, height=48)).read_bytes()
    (plain, _), (turned, _) = middle_frame(clip), middle_frame(rotated(clip))
    assert turned.shape == (64, 48, 3)
    assert (turned == np.rot90(plain, -1)).all()


def test_pictures_are_small() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (720, 1280, 3), np.uint8)
    smooth = cv2.GaussianBlur(noise, (0, 0), 20)
    data = small_jpeg(np.asarray(smooth, np.uint8))
    assert jpeg_size(data) == (355, 200)
    assert len(data) <= LARGEST
    assert len(small_jpeg(noise)) < 64_000


def test_old_pictures_are_removed_and_broken_clips_are_named(phase: Path, tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "c9a1b2c3d4.mp4", 5, Format(width=64, height=48))
    write_key_frames([("c9a1b2c3d4", clip)], phase)
    assert [path.name for path in (phase / "key_frames").iterdir()] == ["c9a1b2c3d4.jpg"]
    (broken := tmp_path / "broken.mp4").write_bytes(b"no video")
    (empty := tmp_path / "empty.mp4").write_bytes(b"")
    with pytest.raises(BundleError, match=r"2 clips.*broken\.mp4.*empty\.mp4"):
        write_key_frames([("a", broken), ("b", empty), ("c", clip)], phase)
    assert [path.name for path in (phase / "key_frames").iterdir()] == ["c9a1b2c3d4.jpg"]


def test_a_sound_phase_has_no_finding(phase: Path) -> None:
    assert codes(phase) == set()


def rows(change: Callable[[list[list[str]]], object]) -> Mutation:
    """Change the rows of the list; the first one is the header."""

    def mutate(phase: Path) -> None:
        path = phase / "key_frames.csv"
        table = [line.split(",") for line in path.read_text().splitlines()]
        change(table)
        path.write_text("".join(",".join(row) + "\n" for row in table))

    return mutate


def settings(**changes: object) -> Mutation:
    def mutate(phase: Path) -> None:
        path = phase / "task.yaml"
        content = yaml.safe_load(path.read_text())
        content["report"].update(changes)
        path.write_text(yaml.safe_dump(content))

    return mutate


def picture(content: bytes) -> Mutation:
    """Replace a picture and its hash."""

    def mutate(phase: Path) -> None:
        (phase / "key_frames" / f"{CLIPS[0]}.jpg").write_bytes(content)
        rows(lambda table: table[1].__setitem__(3, hashlib.sha256(content).hexdigest()))(phase)

    return mutate


BROKEN: list[Mutation] = [
    lambda phase: (phase / "key_frames" / f"{CLIPS[1]}.jpg").unlink(),
    lambda phase: (phase / "key_frames" / f"{CLIPS[1]}.jpg").write_bytes(b"x"),
    lambda phase: shutil.copy(phase / "key_frames" / f"{CLIPS[0]}.jpg", phase / "key_frames" / f"{CLIPS[1]}.jpg"),
    rows(lambda table: table[1].__setitem__(1, "../labels.csv")),
    picture(b"GIF89a"),
    picture(b"\xff\xd8" + b"x" * 70_000),
    picture(b"\xff\xd8\xff\xe0" + b"x" * 70),
    picture(cv2.imencode(".jpg", np.zeros((4, 1025, 3), np.uint8))[1].tobytes()),
]


@pytest.mark.parametrize("mutate", BROKEN)
def test_every_mistake_is_found(phase: Path, mutate: Mutation) -> None:
    mutate(phase)
    assert codes(phase) == {"key-frames-picture"}


def test_a_phase_without_key_frames_is_allowed(phase: Path) -> None:
    settings(key_frames=None)(phase)
    assert codes(phase) == set()


def test_the_committed_phase_has_a_picture_of_every_clip() -> None:
    assert codes(ROOT / "reference_data" / "practice") == set()
    assert not (ROOT / "reference_data" / "final" / "key_frames").exists()


def test_the_command_refuses_a_closed_phase(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "key-frames", "final", "--bundle", str(ROOT)]) == 1
    assert "truth: true" in capsys.readouterr().err
