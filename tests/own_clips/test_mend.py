"""Clips put into a phase by hand: the check names what they lack of the canonical form, and a command mends it."""

import csv
import hashlib
from pathlib import Path

import pytest

from bundle_tools.canonical import differences
from bundle_tools.challenge.reading.tables import PhaseData
from bundle_tools.challenge.rules import clips
from bundle_tools.cli.main import main
from bundle_tools.codabench.rules.dataset import DataFiles
from tests import ROOT
from tests.own_clips.kinds import Kind, write

TURNED, MUTED = Kind("turned", shown=(0, 1, -1, 0)), Kind("muted", seconds=3.4, muted=(0.6, 1.8))
GIVEN = {"a.mp4": TURNED, "b.mp4": Kind("good"), "c.webm": MUTED, "d.mp4": TURNED}


@pytest.fixture
def phase(tmp_path: Path) -> Path:
    """The input data of a phase with clips as people have them."""
    (tmp_path / "clips").mkdir()
    rows = []
    for name, kind in GIVEN.items():
        (tmp_path / "clips" / name).write_bytes(content := write(kind))
        rows.append(f"{name[0]},clips/{name},{hashlib.sha256(content).hexdigest().upper()}\n")
    (tmp_path / "clips.csv").write_text("clip_id,file,sha256\n" + "".join(rows), "utf-8")
    return tmp_path


def found_in(phase: Path) -> list[str]:
    side = PhaseData("input_data/practice", DataFiles(phase), {"clips": "clips.csv"})
    files = {name[0]: f"clips/{name}" for name in GIVEN}
    return [f"{one.code}: {one.what} {one.fix}" for one in clips.check_files(side, "clips.csv", files, {}, None)]


def test_the_check_names_every_kind_once_and_the_command_mends_it(
    phase: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fix = "Run `bundle data canonical input_data/practice`, then `bundle data baselines`."
    assert found_in(phase) == [
        f"clip-form: turned or mirrored: 2 of 4 files, such as clips/a.mp4 (by a display matrix). {fix}",
        f"clip-form: sound times: 1 of 4 files, such as clips/c.webm (gaps or jumps of up to 1.19 s). {fix}",
    ]
    before = (phase / "clips" / "b.mp4").read_bytes()
    assert main(["data", "canonical", str(phase)]) == 0
    assert "3 clips replaced" in capsys.readouterr().out
    assert found_in(phase) == []
    assert (phase / "clips" / "b.mp4").read_bytes() == before
    with (phase / "clips.csv").open() as file:
        for row in csv.DictReader(file):
            assert hashlib.sha256((phase / row["file"]).read_bytes()).hexdigest() == row["sha256"].lower()
    assert main(["data", "canonical", str(phase)]) == 0
    assert "0 clips replaced" in capsys.readouterr().out


def test_clips_that_cannot_be_mended_are_named_and_the_others_done(
    phase: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (phase / "clips" / "a.mp4").write_bytes(b"no video")
    assert main(["data", "canonical", str(phase)]) == 1
    assert "1 clips cannot be used: a.mp4" in capsys.readouterr().err
    assert not differences((phase / "clips" / "d.mp4").read_bytes())
    assert main(["data", "canonical", str(phase / "nothing")]) == 1
    assert "expected a folder with clips" in capsys.readouterr().err


def test_the_drawn_clips_are_canonical() -> None:
    drawn = sorted((ROOT / "public_data" / "clips").glob("*.mp4"))[:3]
    assert len(drawn) == 3
    assert not [one for path in drawn for one in differences(path.read_bytes())]
