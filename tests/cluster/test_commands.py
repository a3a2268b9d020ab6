"""`bundle evaluate` and `bundle shard` on the real bundle, with few clips."""

from __future__ import annotations

import io
import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.cli.main import main
from bundle_tools.cluster.plan import SECRET, Plan
from bundle_tools.codabench.build import NAME, PROGRAMS
from tests import ROOT
from tests.fewer import copy_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("forked")


@pytest.mark.slow
def test_two_submissions_get_their_rows_and_the_scores_of_one_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = copy_with(ROOT, tmp_path / "bundle", 1, *TOP_LEVEL)
    for program in PROGRAMS:
        (bundle / program / NAME).write_text("5a" * 32)
    constant = bundle / "solutions" / "constant"
    models = [constant, shutil.copytree(constant, tmp_path / "again")]
    options = ["--bundle", str(bundle), "--phase", "practice"]
    assert main(["evaluate", *map(str, models), "--out", str(tmp_path / "all"), "--workers", "2", *options]) == 0
    assert capsys.readouterr().out.count("Leaderboard row (Practice)") == 2
    assert main(["run", str(models[1]), "--out", str(tmp_path / "one"), *options]) == 0
    outs = tmp_path / "one", tmp_path / "all" / "again"
    single, merged = (json.loads((out / "scoring_output" / "scores.json").read_text()) for out in outs)
    assert single.pop("duration_s") > 0
    assert merged.pop("duration_s") > 0
    assert single == merged
    assert main(["evaluate", *map(str, models), "--out", str(tmp_path / "all"), *options]) == 0


def test_a_worker_without_the_secret_reads_its_key(
    planned: Callable[..., tuple[Plan, object]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, task = planned()
    monkeypatch.chdir(plan.folder.parent)
    folder = plan.folder.name
    assert main(["shard", "key", folder, "first", "0"]) == 0
    key = capsys.readouterr().out
    assert key.strip() == plan.key("first", 0).hex()
    secret = (plan.folder / SECRET).rename(plan.folder.parent / SECRET)
    for given, code in (("", 1), ("ab\n", 1), (key, 0)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        assert main(["shard", "run", folder, "first", "0"]) == code
        told = capsys.readouterr().err
        assert code == 0 or "expected the shard's key, 64 hexadecimal digits" in told
    secret.rename(plan.folder / SECRET)
    assert plan.missing() == [("first", 1)]
    plan.step(task)  # type: ignore[arg-type] # the seal holds


def test_wrong_arguments_are_told(tmp_path: Path, crashing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in (
        (["evaluate", str(crashing), str(crashing), "--out", str(tmp_path / "out")], "names of their own"),
        (["evaluate", str(tmp_path / "none"), "--out", str(tmp_path / "out")], "found nothing there"),
        (["shard", "run", str(tmp_path), "first", "0"], "expected a folder of `bundle shard plan`"),
        (["shard", "key", str(tmp_path), "first", "0"], "expected a folder of `bundle shard plan`"),
    ):
        assert main(words) == 1
        assert told in capsys.readouterr().err
