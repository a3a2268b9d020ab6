"""`bundle data` and the progress bar."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from bundle_tools.cli import main

BAR = """
from bundle_tools.console import progress_bar
with progress_bar("clips") as progress:
    for done in range(3):
        if progress is not None:
            progress(done + 1, 3)
"""


@pytest.mark.slow
def test_a_labelled_set_is_made_once_and_never_over_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set"
    arguments = ["data", "synth", "--clips", "2", "--seed", "5", "--out", str(out)]
    assert main(arguments) == 0
    assert {path.name for path in out.iterdir()} >= {"clips", "labels.csv", "transcripts.json"}
    assert len(list((out / "clips").glob("*.mp4"))) == 2
    assert main(arguments) == 1
    assert "empty or new" in capsys.readouterr().err


@pytest.mark.slow
def test_a_phase_is_made_with_a_seed_that_is_told_once(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tiny / "pages" / "overview.md"
    page.write_text("# Tiny\n\nIt has <!--=clips-->1<!--/--> clips.\n")
    arguments = ["data", "phase", "practice", "--clips", "2", "--bundle", str(tiny)]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    seed = re.findall(r"seed (\d+)", told)[0]
    assert "pages/overview.md:3: clips 1 -> 2" in told
    assert "-->2<" in page.read_text()
    first = (tiny / "reference_data" / "practice" / "labels.csv").read_bytes()
    assert len(list((tiny / "input_data" / "practice" / "clips").glob("*.mp4"))) == 2
    assert main([*arguments, "--seed", seed]) == 1
    assert "Add --replace" in capsys.readouterr().err
    assert main([*arguments, "--seed", seed, "--replace"]) == 0
    assert (tiny / "reference_data" / "practice" / "labels.csv").read_bytes() == first
    assert main(["data", "phase", "exam", "--clips", "2", "--bundle", str(tiny)]) == 1


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


def test_the_progress_bar_is_silent_elsewhere() -> None:
    done = subprocess.run([sys.executable, "-c", BAR], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
