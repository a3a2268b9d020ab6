"""The guides of jury and coopetition, command by command, over a small phase; and their pictures."""

import re
import shlex
from pathlib import Path

import pytest

from bundle_tools.challenge.jury.criteria import read_key
from bundle_tools.cli.main import main
from tests import ROOT
from tests.challenge.jury.finalists import PHASE, make_bundle, make_run
from tests.challenge.jury.juries import answers_of, honest, quick_rules, write_ratings
from tests.guides import shell_blocks

LARGEST_PICTURE = 120_000
RUN = re.compile(r"bundle run solutions/\w+ --phase final --out runs/(\w+)")


def commands(guide: str) -> list[str]:
    return [line for block in shell_blocks(f"docs/{guide}") for line in block.splitlines()]


def test_every_command_works_in_the_order_of_the_guides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = make_bundle(tmp_path / "bundle")
    monkeypatch.chdir(bundle)
    first, second, make, score = commands("jury.md")
    # Running a model takes long and is tried elsewhere: these runs are made.
    made = [found.group(1) for line in (first, second) if (found := RUN.fullmatch(line))]
    assert made == ["first", "second"]
    for name, team in zip(made, ("honest-team", "other-team"), strict=True):
        make_run(bundle / "runs" / name, bundle, team)
    rules = quick_rules(tmp_path)
    assert main([*shlex.split(make)[1:], *rules]) == 0
    key = read_key(Path("runs/jury/key.json"))
    fair = honest({"A": 4.0, "B": 2.0}, noise=0.4)
    sent = re.findall(r"ratings-(\d)\.json", score)
    assert 4 <= len(sent) == len(key.sheets) - 1  # one sheet is left for an extra juror
    for juror in map(int, sent):
        write_ratings(Path(f"ratings-{juror}.json"), key, juror, answers_of(key, juror, fair))
    assert main([*shlex.split(score)[1:], *rules]) == 0
    assert {path.name for path in Path("runs/jury-result").iterdir()} == {"jury.html", "jury.json", "ratings.csv"}
    assert "jury: jury.json" in (bundle / "reference_data" / PHASE / "task.yaml").read_text("utf-8")
    (command,) = commands("coopetition.md")
    Path("teams.csv").write_text("run,team\nfirst,red\nsecond,blue\n", "utf-8")
    assert main(shlex.split(command)[1:]) == 0


def test_pictures_are_small_and_shown() -> None:
    shown = {"jury_sheet.jpg": ("juror.md",), "jury_result.png": ("jury.md",)}
    for picture, guides in shown.items():
        assert (ROOT / "docs" / "images" / picture).stat().st_size < LARGEST_PICTURE
        assert all(f"(images/{picture})" in (ROOT / "docs" / guide).read_text("utf-8") for guide in guides)
