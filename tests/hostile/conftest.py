"""What the whole corpus is held against: six short clips, and a run over them in which nobody misbehaves."""

from pathlib import Path

import pytest

from tests.hostile.cases import CASES
from tests.hostile.stage import CLIPS, Played, play, set_stage, write_clips


@pytest.fixture(scope="session")
def short_phase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="session")
def honest(short_phase: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run in which nobody misbehaves, in a new interpreter."""
    stage = set_stage(tmp_path_factory.mktemp("honest") / "app", short_phase, CASES["honest_model"])
    outcome = play(stage, interpreter=True)
    assert outcome.json("run.json")["clips"]["ok"] == CLIPS, outcome.printed
    return outcome
