"""The guide for organisers with clips of their own, command by command, in a copy of the repository."""

import json
import re
from pathlib import Path

import pytest
import yaml

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.description import read_description
from bundle_tools.own_clips.files import Problems
from tests import ROOT
from tests.fewer import copy_with
from tests.guides import fork_programs, run_script, shell_blocks
from tests.own_clips.miniature import miniature

GUIDE = "docs/adapting.md"


def few_clips(script: str) -> str:
    """The commands are what is tried, not the patience."""
    assert script.count("--practice 4 --final 4") == 1
    return script.replace("--practice 4 --final 4", "--practice 1 --final 1")


@pytest.mark.slow
@pytest.mark.usefixtures("asked_in_a_fork")
def test_every_command_works_in_the_order_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork_programs(monkeypatch)
    copy = copy_with(ROOT, tmp_path / "copy", 1, *TOP_LEVEL)
    miniature(copy / "downloads")
    real, use, _ = shell_blocks("docs/first_impressions.md")
    script = "\n".join([few_clips("\n".join(shell_blocks(GUIDE))), f"{real.strip()} --practice 6 --final 6", use])
    check, run, rest = script.partition("bundle run starting_kit/template")
    # As `ask_once` does: that own clips are asked again is seen in the tests of adapting itself.
    once = "sed -i 's/load_s: 60/load_s: 600/' input_data/*/task.yaml\nbundle pages\n"
    done = run_script(f"{check}{once}{run}{rest}", copy, tmp_path / "bin")
    assert done.stdout.count(" 0 errors") == 2
    scores = json.loads((copy / "challenge/runs/template-practice/scoring_output/scores.json").read_text())
    assert {"callback_accuracy", "callback_ccc"} < set(scores)
    competition = yaml.safe_load((copy / "challenge/competition.yaml").read_text())
    assert competition["title"] == "Who would you call back?"
    assert (copy / "challenge/reference_data/final/groups.csv").is_file()
    assert "| Constant |" in (copy / "challenge/pages/measurement.md").read_text()
    assert (
        "data:image/jpeg"
        in (copy / "challenge/runs/constant-practice/scoring_output/detailed_results.html").read_text()
    )


def test_every_key_of_the_file_is_explained(tmp_path: Path) -> None:
    table = (ROOT / GUIDE).read_text("utf-8").partition("| key | what it says |")[2].partition("\n## ")[0]
    keys = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    explained = set(re.findall(r"`(\w+)`", " ".join(keys)))
    (tmp_path / "challenge.yaml").write_text("no_such_key: 1\n")
    with pytest.raises(BundleError) as told:
        read_description(tmp_path / "challenge.yaml", Problems())
    assert explained == set(re.findall(r"\w+", str(told.value).partition("expected one of ")[2].partition(".")[0]))
