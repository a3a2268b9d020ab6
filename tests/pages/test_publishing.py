"""The organiser's guide, command by command, in a copy of the repository."""

import json
import re
from pathlib import Path

import pytest

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.cli.main import main
from tests import ROOT
from tests.fewer import ask_once, copy_with
from tests.guides import fork_programs, run_script, shell_blocks
from tests.stills import hold_pictures

GUIDE = "docs/publishing.md"


def test_it_has_ten_steps() -> None:
    steps = re.findall(r"^## (\d+)\. ", (ROOT / GUIDE).read_text("utf-8"), re.MULTILINE)
    assert steps == [str(step) for step in range(1, 11)]


@pytest.mark.slow
@pytest.mark.usefixtures("asked_in_a_fork")
def test_every_command_works_in_the_order_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = ask_once(copy_with(ROOT, tmp_path / "challenge", 1, *TOP_LEVEL))
    hold_pictures(monkeypatch)
    fork_programs(monkeypatch)
    blocks = shell_blocks(GUIDE)
    # The first one clones and makes the demo, as every run of the checks does before it comes here.
    assert blocks[0].startswith("git clone")
    # Fewer clips, and the model that looks at none: the commands are what is tried, not the patience.
    script = re.sub(
        r"--clips \d+", "--clips 1", "\n".join(blocks[1:]).replace("solutions/cue_reader", "solutions/constant")
    )
    assert script.count("--clips 1") == 2
    done = run_script(script, copy, tmp_path / "bin")
    assert done.stdout.count(" 0 errors") == 2
    rehearsed = json.loads((copy / "runs" / "constant-final" / "scoring_output" / "scores.json").read_text())
    assert rehearsed["failed_clips"] == 0
    assert "unsealed" not in (copy / "runs" / "constant-final" / "scoring_output" / "detailed_results.html").read_text()
    assert main(["check", str(copy / "dist" / "by-hand.zip")]) == 0
