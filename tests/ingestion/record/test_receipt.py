"""Asking a few clips again: which, in what order, and what is said about the answers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.media.clip import ClipSource
from ingest.record.receipt import MOST, Determinism, choose
from tests.ingestion.conftest import SETTINGS, Outcome, model_source, write_phase

Ingest = Callable[..., Outcome]


def clips(count: int) -> list[ClipSource]:
    return [ClipSource(f"c{number:04d}", Path("x"), "") for number in range(count)]


# 2 %, rounded up, from 2 to 10, and never more than there are.
@pytest.mark.parametrize(
    ("total", "asked"), [(0, 0), (1, 1), (2, 2), (24, 2), (100, 2), (101, 3), (500, 10), (9999, MOST)]
)
def test_how_many_clips_are_asked_again(total: int, asked: int) -> None:
    assert len({clip.clip_id for clip in choose(clips(total), 7)}) == asked


@given(st.integers(2, 300), st.integers(0, 2**63 - 1))
def test_the_choice_depends_on_the_seed_alone_and_its_order_is_another(total: int, seed: int) -> None:
    listed = clips(total)
    chosen = choose(listed, seed)
    assert set(chosen) == set(choose(listed[::-1], seed))
    assert chosen != sorted(chosen, key=listed.index)


def test_another_seed_chooses_other_clips() -> None:
    assert len({tuple(choose(clips(1000), seed)) for seed in range(20)}) == 20


def test_what_is_compared() -> None:
    receipt = Determinism()
    receipt.add({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5})
    assert (receipt.clips, receipt.identical, receipt.largest_difference) == (1, 1, 0.0)
    assert not receipt.problems()
    receipt.add({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.25})
    receipt.add({"a": 0.5, "b": 0.5}, None)
    assert (receipt.clips, receipt.identical, receipt.largest_difference) == (3, 1, 0.25)
    (problem,) = receipt.problems()
    assert (problem.code, problem.severity) == ("answers_differ", "warning")
    assert "number of threads" in problem.fix
    assert "2 of 3 clips" in problem.found
    assert "up to 0.25" in problem.found


def test_a_call_that_only_failed_the_second_time_is_not_identical() -> None:
    receipt = Determinism()
    receipt.add({"a": 0.5}, None)
    assert (receipt.clips, receipt.identical, receipt.largest_difference) == (1, 0, None)
    assert receipt.problems()


@pytest.fixture(scope="module")
def asking(numbered_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips, and time to ask again; not to be changed."""
    return write_phase(tmp_path_factory.mktemp("asking") / "input", [numbered_clip] * 3)


def test_a_model_that_answers_alike(ingest: Ingest, asking: Path) -> None:
    outcome = ingest(model_source(), input_data=asking)
    run = outcome.json("run.json")
    assert run["determinism"] == {"clips": 2, "identical": 2, "largest_difference": 0.0}
    assert (run["status"], run["restarts"]) == ("complete", 0)
    # That is allowed, and seldom meant.
    assert outcome.run_codes() == ["answers_equal"]


DRIFTING = model_source(
    predict="import random; self.value = getattr(self, 'value', 0) or random.SystemRandom().random()\n"
    "        return {'warmth': self.value, 'interview': 0.5}"
)


def test_a_model_that_draws_lots_is_told_so_and_not_punished(ingest: Ingest, asking: Path) -> None:
    outcome = ingest(DRIFTING, input_data=asking)
    run = outcome.json("run.json")
    assert run["status"] == "complete"
    assert run["determinism"]["identical"] == 0
    assert 0 < run["determinism"]["largest_difference"] < 1
    assert "answers_differ" in outcome.run_codes()
    assert "answers_differ" in outcome.printed


def test_a_model_that_counts_its_calls_is_found_because_the_process_is_fresh(ingest: Ingest, asking: Path) -> None:
    predict = "self.n = getattr(self, 'n', 0) + 1; return {'warmth': self.n / 100, 'interview': 0.5}"
    determinism = ingest(model_source(predict=predict), input_data=asking).json("run.json")["determinism"]
    assert determinism["clips"] == 2
    assert determinism["identical"] < 2


def test_a_model_that_dies_when_asked_again_keeps_its_results(ingest: Ingest, asking: Path) -> None:
    # Only the process of the second look begins with a clip that has no transcript.
    first_clip = choose([ClipSource(f"c{number:03d}", Path("x"), "") for number in range(3)], SETTINGS["seed"])[0]
    assert first_clip.clip_id != "c000"
    predict = "self.n = getattr(self, 'n', 0) + 1; import os; self.n == 1 and clip.transcript == '' and os._exit(3)"
    outcome = ingest(model_source(predict=predict), input_data=asking)
    run = outcome.json("run.json")
    assert run["clips"]["ok"] == 3, outcome.printed
    assert (run["status"], run["restarts"]) == ("complete", 0)
    assert run["determinism"] == {"clips": 1, "identical": 0, "largest_difference": None}


def test_nobody_is_asked_again_when_time_is_short(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": 30}}  # 15 s of budget, 20 s to load
    folder = write_phase(tmp_path / "input", [numbered_clip] * 2, settings)
    varied = model_source(predict="return {'warmth': len(clip.transcript) / 100, 'interview': 0.5}")
    outcome = ingest(varied, input_data=folder)
    run = outcome.json("run.json")
    assert run["status"] == "complete"
    assert run["determinism"] is None
    assert outcome.run_codes() == []  # answers that differ are no warning
