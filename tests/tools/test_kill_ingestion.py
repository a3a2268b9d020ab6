"""Ingestion ended by SIGKILL at any moment: scoring then gives what was sealed, or says that there is nothing."""

import random
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.hostile.cases import CASES
from tests.hostile.stage import play, score, set_stage, start, write_clips
from tests.ingestion.conftest import Outcome

CLIPS = 12
BATCHES, MOMENTS = 10, 5
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the model together with ingestion"),
]


@pytest.fixture(scope="module")
def twelve_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("twelve"), CLIPS)


@pytest.fixture(scope="module")
def undisturbed(twelve_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, float]:
    """A run to the end, and how long it took, seconds."""
    stage = set_stage(tmp_path_factory.mktemp("undisturbed") / "app", twelve_clips, CASES["honest_model"])
    started = time.monotonic()
    outcome = play(stage)
    return outcome, time.monotonic() - started


@pytest.mark.parametrize("batch", range(BATCHES))
def test_scoring_after_a_kill(
    batch: int, twelve_clips: Path, undisturbed: tuple[Outcome, float], tmp_path: Path
) -> None:
    honest, length_s = undisturbed
    moments = random.Random(f"moments {batch}")  # noqa: S311 - moments, not keys
    for number in range(MOMENTS):
        # Every other submission brings results of its own, which lie in the output when it is ended early.
        planted = number % 2 == 1
        case = CASES["plants_results" if planted else "honest_model"]
        stage = set_stage(tmp_path / f"app{number}", twelve_clips, case)
        process = start(stage)
        # A little beyond the end, too: the last writes are the most interesting ones.
        time.sleep(moments.random() * length_s * 1.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert stage.strangers() == []
        scored = score(stage, tmp_path / f"scoring{number}")
        assert "Traceback" not in scored.printed
        if scored.exit_code != 0:
            assert scored.exit_code == 1, scored.printed
            assert scored.scores is None
            code = "results_unsealed" if (stage.output / "manifest.json").exists() else "results_missing"
            assert planted or code == "results_missing"
            assert code in scored.printed
            assert code in scored.page
            continue
        outcome = Outcome(0, stage.output, scored.printed)
        predictions, wanted = outcome.predictions(), honest.predictions()
        assert predictions == {name: wanted[name] for name in predictions}
        assert scored.scores is not None
        assert scored.scores["failed_clips"] == CLIPS - len(predictions)
