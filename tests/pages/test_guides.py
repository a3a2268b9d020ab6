"""No command of a guide is forgotten: every block marked `sh` is executed by the test that is named here."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import ROOT
from tests.guides import shell_blocks
from tests.pages.test_docs import GUIDES

EXECUTED_BY = {
    "README.md": "tests/pages/test_guides.py",
    "docs/adapting.md": "tests/pages/test_adapting.py",
    "docs/coopetition.md": "tests/pages/test_jury_guides.py",
    "docs/developer.md": "tests/pages/test_guides.py",
    "docs/first_impressions.md": "tests/own_clips/test_guide.py",
    "docs/jury.md": "tests/pages/test_jury_guides.py",
    "docs/participant.md": "tests/kit/test_participant.py",
    "docs/publishing.md": "tests/pages/test_publishing.py",
    "docs/results_2017.md": "tests/challenge/test_convert.py",
    "starting_kit/README.md": "tests/kit/test_kit.py",
}
"""The test takes all blocks of its guide, so it suffices that there is one."""
LANGUAGES = {"sh", "console", "python", "yaml", "json", "ini", "text"}
"""`console` are commands that need what tests have not: Docker, other people's answers, an hour."""


def test_every_guide_with_commands_is_executed() -> None:
    names = [guide.relative_to(ROOT).as_posix() for guide in GUIDES]
    assert {name for name in names if shell_blocks(name)} == set(EXECUTED_BY)


@pytest.mark.parametrize(("guide", "test"), EXECUTED_BY.items())
def test_the_named_test_reads_the_guide(guide: str, test: str) -> None:
    text = (ROOT / test).read_text("utf-8")
    assert Path(guide).name in text
    assert re.search(r"shell_blocks\(|```\W*sh", text)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_holds(guide: Path) -> None:
    # Every other fence opens a block.
    opened = re.findall(r"^ *```(.*)$", guide.read_text("utf-8"), re.MULTILINE)[::2]
    assert set(opened) <= LANGUAGES


@pytest.mark.parametrize("guide", ["README.md", "docs/developer.md"])
def test_make_knows_what_is_asked_of_it(guide: str) -> None:
    lines = "\n".join(shell_blocks(guide)).splitlines()
    assert lines
    for line in lines:
        name, *arguments = shlex.split(line, comments=True)
        assert name == "make", line
        # What the targets call is what all other tests try; here make only says what it would do.
        call = ["make", "--dry-run", *arguments]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
