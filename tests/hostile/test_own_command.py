"""What a submission's own command, in a container before ours, may have left in the output folder."""

import json
import shutil
from pathlib import Path

import pytest

from tests.hostile.cases import CASES
from tests.hostile.stage import Played, play, score, set_stage

# As Codabench's worker writes them where a command of the submission ran too.
NOTES = "elapsedTime: 9.9\nexitCode: 0\ningestionElapsedTime: 9.9\ningestionExitCode: {code}\n"


@pytest.fixture(scope="module")
def closed(short_phase: Path, honest: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a stage whose output holds another run's sealed record, in folders that nobody may change."""
    stage = set_stage(tmp_path_factory.mktemp("own") / "app", short_phase, CASES["honest_model"])
    shutil.rmtree(stage.output)
    shutil.copytree(honest.folder, stage.output)
    inner = stage.output / "locked" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("planted")
    for folder in (inner, inner.parent, stage.output / "images", stage.output):
        folder.chmod(0o555)
    ended = play(stage)
    assert ended.exit_code == 0, ended.printed
    (stage.output / "metadata").write_text(NOTES.format(code=ended.exit_code))
    return stage.app


@pytest.mark.slow
def test_it_is_swept_all_the_same(closed: Path, honest: Played) -> None:
    left = {path.name for path in (closed / "output").iterdir()}
    assert left == {path.name for path in honest.folder.iterdir()} | {"metadata"}
    assert json.loads((closed / "output" / "run.json").read_text())["status"] == "complete"


@pytest.mark.slow
def test_scoring_believes_no_record_beside_which_it_ran(short_phase: Path, closed: Path, tmp_path: Path) -> None:
    stage = set_stage(tmp_path / "app", short_phase, CASES["honest_model"])
    shutil.rmtree(stage.output)
    shutil.copytree(closed / "output", stage.output)
    refused = score(stage, tmp_path / "refused")
    assert (refused.exit_code, refused.scores) == (1, None)
    assert "own_command_ran" in refused.printed
    assert "own_command_ran" in refused.page
    (stage.output / "metadata").write_text(NOTES.format(code=0).replace("exitCode: 0\ning", "exitCode: null\ning"))
    assert score(stage, tmp_path / "taken").exit_code == 0
