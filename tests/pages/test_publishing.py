"""The publishing guide, command by command, in a copy of the repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bundle_tools.build import TOP_LEVEL
from tests.fewer import copy_with

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "publishing.md").read_text("utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_it_has_ten_steps() -> None:
    assert re.findall(r"^## (\d+)\. ", GUIDE, re.MULTILINE) == [str(step) for step in range(1, 11)]


@pytest.mark.slow
def test_every_command_works_in_the_order_of_the_guide(tmp_path: Path) -> None:
    copy = copy_with(ROOT, tmp_path / "challenge", 6, *TOP_LEVEL)
    programs = tmp_path / "bin"
    programs.mkdir()
    # Links would lose their environment: Python looks for it beside the path by which it was called.
    for name, module in (("python3", ""), ("bundle", "-m bundle_tools.cli")):
        (programs / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {module} "$@"\n', "utf-8")
        (programs / name).chmod(0o755)
    blocks = SHELL.findall(GUIDE)
    # The first one clones and makes the demo, as every run of the checks does before it comes here.
    assert blocks[0].startswith("git clone")
    commands = "\n".join(["set -eux", *blocks[1:]])
    # Fewer clips: the commands are what is tried, not the patience.
    script = re.sub(r"--clips \d+", "--clips 4", commands)
    assert script.count("--clips 4") == 2
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", script], cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.count(" 0 errors") == 3
    rehearsed = json.loads((copy / "runs" / "constant-final" / "scoring_output" / "scores.json").read_text())
    assert rehearsed["failed_clips"] == 0
    assert "unsealed" not in (copy / "runs" / "constant-final" / "scoring_output" / "detailed_results.html").read_text()
    call = [str(programs / "bundle"), "check", "dist/by-hand.zip"]
    by_hand = subprocess.run(call, cwd=copy, capture_output=True, text=True, check=False)
    assert by_hand.returncode == 0, by_hand.stdout
