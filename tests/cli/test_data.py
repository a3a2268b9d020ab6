"""`bundle data` and the progress bar."""

import fcntl
import hashlib
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from bundle_tools import console
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.cli.main import main
from bundle_tools.console import progress_bar
from bundle_tools.synthetic import folders
from tests import ROOT
from tests.tiny import swap

BAR = """
from bundle_tools.console import progress_bar
with progress_bar("clips") as progress:
    for done in range(3):
        progress(done + 1, 3)
"""


@pytest.mark.slow
def test_a_labelled_set_is_made_once_and_never_over_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set"
    arguments = ["data", "synth", "--clips", "1", "--seed", "5", "--out", str(out)]
    assert main(arguments) == 0
    assert {path.name for path in out.iterdir()} >= {"clips", "labels.csv", "transcripts.json"}
    assert len(list((out / "clips").glob("*.mp4"))) == 1
    assert main(arguments) == 1
    assert "empty or new" in capsys.readouterr().err


def versions(root: Path) -> set[str]:
    """Give the `data_version` of both sides of the tiny bundle's phase."""
    sides = (root / side / "practice" / "task.yaml" for side in ("input_data", "reference_data"))
    return {yaml.safe_load(path.read_text())["data_version"] for path in sides}


def made_of_one(jobs: Sequence[folders._Job], *_: object) -> list[folders._Made]:
    """Take a clip of the repository for each that would be drawn, with its name behind it."""
    clip = min((ROOT / "input_data" / "practice" / "clips").iterdir()).read_bytes()
    made = []
    for job in jobs:
        names = {job.member.clip_id: "clips"} | {copy.copy_id: "copies" for copy in job.member.copies}
        names[job.member.exchange_id] = "exchanges"
        files = {name: clip + name.encode() for name in names}
        for name, content in files.items():
            (job.out / names[name] / f"{name}.mp4").write_bytes(content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        made.append(folders._Made(dict.fromkeys(names, "Hello."), digests, {}, {}))
    return made


def test_a_phase_is_made_with_a_seed_that_is_told_once(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_make", made_of_one)
    page = tiny / "pages" / "overview.md"
    page.unlink()
    (tiny / "pages/overview.md.j2").write_text("# Tiny\n\nIt has {{ clips if clips is defined else 5 }} clips.\n")
    write_pages(tiny)
    arguments = ["data", "phase", "practice", "--clips", "1", "--bundle", str(tiny)]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    seed = re.findall(r"seed (\d+)", told)[0]
    assert "with 1 clips only differences of 44 points" in told
    assert "should have 120: then 4 points are enough" in told
    assert "pages/overview.md:3: It has 5 clips. -> It has 1 clips." in told
    assert "It has 1 clips." in page.read_text()
    first = (tiny / "reference_data" / "practice" / "labels.csv").read_bytes()
    digits = hashlib.sha256((tiny / "input_data" / "practice" / "clips.csv").read_bytes()).hexdigest()[:8]
    assert versions(tiny) == {f"synthetic-4-{digits}"}
    assert len(list((tiny / "input_data" / "practice" / "clips").glob("*.mp4"))) == 1
    assert main([*arguments, "--seed", seed]) == 1
    assert "Add --replace" in capsys.readouterr().err
    settings = tiny / "input_data" / "practice" / "task.yaml"
    swap(settings, "call_s: 30", "call_s: 20")
    reference = tiny / "reference_data" / "practice" / "task.yaml"
    kept = reference.read_text()
    reference.write_text(kept.replace(f"synthetic-4-{digits}", "synthetic-1"))
    assert main([*arguments, "--seed", seed, "--replace"]) == 0
    assert (tiny / "reference_data" / "practice" / "labels.csv").read_bytes() == first
    assert "call_s: 20" in settings.read_text()
    # The same clips have the same name again, and nothing else was changed.
    assert reference.read_text() == kept
    assert versions(tiny) == {f"synthetic-4-{digits}"}
    assert main(["data", "phase", "exam", "--clips", "2", "--bundle", str(tiny)]) == 1


def test_clips_of_somebody_are_never_replaced_by_synthetic_ones(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny / "reference_data" / "practice" / "task.yaml"
    settings.write_text("data_version: mine-1\n")
    before = {path: path.read_bytes() for path in tiny.rglob("*") if path.is_file()}
    assert main(["data", "phase", "practice", "--clips", "2", "--replace", "--bundle", str(tiny)]) == 1
    assert f"found data_version: mine-1 in {settings}" in capsys.readouterr().err
    settings.write_bytes(b"\xff")
    assert main(["data", "phase", "practice", "--clips", "2", "--replace", "--bundle", str(tiny)]) == 1
    assert "cannot be read" in capsys.readouterr().err
    settings.write_text("data_version: mine-1\n")
    assert {path: path.read_bytes() for path in tiny.rglob("*") if path.is_file()} == before


def test_an_interruption_leaves_what_was_there(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "_make", interrupt)
    (tiny / "input_data" / "practice" / "clips").mkdir()
    (tiny / "input_data" / "practice" / "clips" / "c1.mp4").write_bytes(b"one")
    before = {path: path.read_bytes() for path in tiny.rglob("*") if path.is_file()}
    assert main(["data", "phase", "practice", "--clips", "2", "--replace", "--bundle", str(tiny)]) == 130
    assert {path: path.read_bytes() for path in tiny.rglob("*") if path.is_file()} == before


def test_the_command_alone_tells_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "  check [PATH] " in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["-1", "0", "many", "1.5"])
def test_a_count_that_is_none_is_named(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "synth", "--clips", argument, "--seed", "1", "--out", "x"])
    assert "argument --clips: expected " in capsys.readouterr().err


def test_the_progress_bar_shows_on_a_terminal() -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    subprocess.run([sys.executable, "-c", BAR], stderr=child, check=True)
    assert b"clips:" in os.read(parent, 10_000)
    os.close(parent)
    os.close(child)


def test_elsewhere_long_work_tells_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter((0.0, 9.0, 10.0, 19.9, 20.0))
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with progress_bar("clips") as progress:
        for done in range(1, 5):
            progress(done, 4)
    assert capsys.readouterr().err == "clips: 2 of 4, about 10 s left\nclips: 4 of 4\n"
