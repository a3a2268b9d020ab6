"""The starting kit's comparison of runs: the scoring program's own numbers, side by side, on common resamples."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.cli.main import main
from kit import main as kit
from score.pipeline import main as score
from tests import ROOT
from tests.scoring.factory import make_case, make_input
from tests.tiny import write_files

COMPETITION = """\
tasks: [{index: 0, name: Practice, scoring_program: scoring_program, reference_data: good/input/ref}]
phases: [{index: 0, name: Practice, tasks: [0]}]
leaderboards: [{columns: [{index: 0, key: explanation, title: Explanation score}]}]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three runs as `kit.py run` leaves them; one of them is over fewer clips."""
    folder = tmp_path_factory.mktemp("runs")
    for name, clips, noise in (("good", 40, 0.0), ("noisy", 40, 0.1), ("few", 6, 0.0)):
        case = make_case(clips=clips)
        rng = np.random.default_rng(5)
        case.prediction = np.clip(case.prediction + rng.normal(0, noise, case.prediction.shape), 0, 1)
        make_input(folder / name / "input", case)
        assert score([str(folder / name / "input"), str(folder / name / "output")]) == 0
    return folder


def lines(capsys: pytest.CaptureFixture[str], runs: Path, *names: str) -> dict[str, list[str]]:
    assert kit(["compare", *(str(runs / name) for name in names)]) == 0
    table = capsys.readouterr().out.partition("\n\n")[0]
    return {cells[0].strip(): cells[1].split() for line in table.splitlines()[1:] for cells in [(line[:18], line[18:])]}


def test_the_numbers_are_those_of_the_scoring_program(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, runs, "good", "noisy")
    assert {"explanation", "skill", "cue_claims", "text", "coverage"} <= set(found)
    assert not {"plausibility", "jury"} & set(found)  # 0 for everybody at home
    for place, name in enumerate(("good", "noisy")):
        scores = json.loads((runs / name / "output/scores.json").read_text("utf-8"))
        for key, values in found.items():
            if key in scores:
                assert float(values[place]) == scores[key], key


def test_a_better_run_is_better_and_turned_around_worse(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forth, back = lines(capsys, runs, "good", "noisy", "good"), lines(capsys, runs, "noisy", "good")
    assert (forth["better in"], forth["worse in"]) == (["0%", "0%"], ["100%", "0%"])
    assert (back["better in"], back["worse in"]) == (["100%"], ["0%"])


def test_it_agrees_with_the_comparison_of_the_organisers(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(runs, {"competition.yaml": COMPETITION})
    if not (runs / "scoring_program").exists():
        (runs / "scoring_program").symlink_to(ROOT / "scoring_program")
    paths = [str(runs / name) for name in ("noisy", "good")]
    assert main(["compare", *paths, "--bundle", str(runs), "--json"]) == 0
    theirs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    ours = lines(capsys, runs, "noisy", "good")
    assert ours["better in"] == [f"{theirs['good']['above']['noisy']:.0%}"]
    assert ours["worse in"] == [f"{theirs['noisy']['above']['good']:.0%}"]


def test_of_a_few_clips_nothing_is_said_about_luck(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kit(["compare", str(runs / "few"), str(runs / "few")]) == 0
    said = capsys.readouterr().out
    assert "Only 6 of 24 clips: too few to compare." in said
    assert "explanation" in said
    assert not any(words in said for words in ("luck", "better in", "worse in"))
    assert kit(["compare", str(runs / "good"), str(runs / "noisy")]) == 0
    said = capsys.readouterr().out
    assert "too few" not in said
    assert "more than luck" in said


def test_everything_that_cannot_be_compared_is_said_at_once(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs / "good", tmp_path / "broken")
    (tmp_path / "broken/input/res/manifest.json").unlink()
    names = ["nothing", str(tmp_path / "broken"), "good", "few"]
    assert kit(["compare", *(str(runs / name) for name in names)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3
    assert "nothing: expected a folder written by `kit.py run`" in said[0]
    assert said[1].startswith(str(tmp_path / "broken"))
    assert "good 40" in said[2]
    assert "few 6" in said[2]
