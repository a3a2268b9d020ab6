"""Ingestion ended by SIGKILL: scoring then gives what was sealed, or says that there is nothing."""

import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from score import pipeline
from tests import mostly_slow, warm
from tests.hostile.cases import CASES
from tests.hostile.stage import (
    KEY,
    LIMITS,
    Scored,
    Stage,
    command,
    play,
    score,
    set_stage,
    start,
    write_clips,
    write_reference,
)
from tests.ingestion.conftest import Outcome
from tests.scoring.conftest import run_scoring

CLIPS = 4
MOMENTS = 4
WORKERS = LIMITS["workers"]
KILLED = Path(__file__).with_name("killed.py")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the model together with ingestion")


@pytest.fixture(scope="module")
def phase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("four"), CLIPS)


@pytest.fixture(scope="module")
def undisturbed(phase: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, float]:
    """A run to the end, and how long it took, seconds."""
    stage = stage_for(tmp_path_factory.mktemp("undisturbed"), phase, planted=False)
    started = time.monotonic()
    outcome = play(stage)
    return outcome, time.monotonic() - started


def stage_for(folder: Path, phase: Path, *, planted: bool) -> Stage:
    """Some submissions bring results of their own, which lie in the output when ingestion is ended early."""
    return set_stage(folder / "app", phase, CASES["plants_results" if planted else "honest_model"])


def score_here(stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Scored:
    """Run scoring, with the key, in this process: imports are most of what a process of its own would take."""
    shutil.copytree(stage.output, folder / "input" / "res", symlinks=True)
    write_reference(folder / "input" / "ref", CLIPS)
    (folder / "seal.key").write_text(KEY)
    monkeypatch.setattr(pipeline, "PROGRAM", folder)
    done = run_scoring(folder / "input", folder / "output")
    scores = done.scores if (done.out / "scores.json").exists() else None
    return Scored(done.code, done.log, scores, done.page)


def check_what_scoring_says(stage: Stage, honest: Outcome, scored: Scored, *, planted: bool) -> bool:
    """Return whether there are scores."""
    assert stage.strangers() == []
    # Nobody is there to remove the folder of each model; it goes with the container.
    left = [path.name for path in (stage.app / "tmp").iterdir()]
    assert len(left) <= WORKERS
    assert all(name.startswith("model-") for name in left)
    assert "Traceback" not in scored.printed
    if scored.exit_code != 0:
        assert scored.exit_code == 1, scored.printed
        assert scored.scores is None
        code = "results_unsealed" if (stage.output / "manifest.json").exists() else "results_missing"
        assert planted or code == "results_missing"
        assert code in scored.printed
        assert code in scored.page
        return False
    outcome = Outcome(0, stage.output, scored.printed)
    predictions, wanted = outcome.predictions(), honest.predictions()
    assert predictions == {name: wanted[name] for name in predictions}
    assert scored.scores is not None
    assert scored.scores["failed_clips"] == CLIPS - len(predictions)
    return True


# Module, function, which call: ingestion ends just before it.
PLACES = {
    "before the output is emptied": ("start", "empty_folder", 1),
    "before the first clip": ("workers", "ask_prediction", 1),
    "between prediction and explanation": ("workers", "ask_explanation", 2),
    "before the third prediction is written": ("record_writer", "_csv_line", 4),
    "before a clip is closed": ("record_writer", "_json_line", 4),
    "before run.json": ("pipeline", "write_run", 1),
    "before the manifest": ("pipeline", "write_manifest", 1),
    "before the seal": ("record", "seal", 1),
    "before the manifest gets its name": ("record", "Path.replace", 2 + CLIPS),
    "after all": ("start", "sys.exit", 1),
}


QUICK = {"between prediction and explanation", "before a clip is closed", "before the manifest", "before the seal"}


@pytest.mark.parametrize("place", mostly_slow(PLACES, QUICK))
def test_scoring_after_a_kill(
    place: str, phase: Path, undisturbed: tuple[Outcome, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_for(tmp_path, phase, planted=True)
    arguments, variables = command(stage)
    script = stage.app / "program" / "ingestion.py"
    killed = warm.start(
        KILLED, [*PLACES[place], script, *arguments], cwd=stage.app / "work", environment=variables, bare_root=True
    ).wait()
    assert killed.code == -signal.SIGKILL, killed.printed
    scored = score_here(stage, tmp_path / "scoring", monkeypatch)
    assert check_what_scoring_says(stage, undisturbed[0], scored, planted=True) == (place == "after all")


@pytest.mark.slow
@pytest.mark.parametrize("planted", [False, True])
def test_scoring_after_a_kill_at_any_moment(
    planted: bool, phase: Path, undisturbed: tuple[Outcome, float], tmp_path: Path
) -> None:
    honest, length_s = undisturbed
    moments = random.Random(f"moments {planted}")  # noqa: S311 - moments, not keys
    for number in range(MOMENTS):
        folder = tmp_path / str(number)
        stage = stage_for(folder, phase, planted=planted)
        running = start(stage)
        # A little beyond the end, too: the last writes are the most interesting ones.
        time.sleep(moments.random() * length_s * 1.05)
        running.kill()
        running.wait()
        check_what_scoring_says(stage, honest, score(stage, folder / "scoring"), planted=planted)
