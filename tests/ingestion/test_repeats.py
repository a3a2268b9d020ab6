"""Asking perturbed copies again, of a fresh process: which, and what a memory does there."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.draws import KeyedRandom
from ingest.media.exchange import Exchange
from ingest.probes.plan import FEWEST, MOST, Call, choose_repeats
from ingest.stats import Determinism
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import Outcome, follows, write_phase
from tests.ingestion.test_probe_plan import lengths, part, plan
from tests.ingestion.test_second_pass import BLIND, probing, source, write_copies

Ingest = Callable[..., Outcome]
CLIPS = 4


def planned(clips: int, seed: int = 1) -> dict[str, list[Call]]:
    parts = (part("mouth", (0.1, 0.9)), part("eyes", (2.1, 2.9)), part("words", (3.1, 3.9)), part("thing-1", None))
    return plan(lengths(clips), seed, exchanges=dict.fromkeys(lengths(clips), Exchange(Path("x"), "", parts)))


def predicted(calls: dict[str, list[Call]]) -> set[Call]:
    return {call for asked in calls.values() for call in asked if call.kind != "twin"}


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32), st.integers(0, 2**32))
def test_every_choice(clips: int, seed: int, key: int) -> None:
    calls = planned(clips, seed)
    chosen = choose_repeats(calls, predicted(calls), KeyedRandom(None, key))
    clip_ids = [call.clip_id for call in chosen]
    assert len(set(clip_ids)) == len(clip_ids) <= MOST
    assert len(chosen) >= min(FEWEST, clips)
    for call in chosen:
        assert call in calls[call.clip_id][1:]
        assert call.kind != "twin"
    assert all(call.kind == "cue" for call in chosen[::2] if any(c.kind == "cue" for c in calls[call.clip_id][1:]))
    listed = dict(reversed(calls.items()))
    assert choose_repeats(listed, predicted(calls), KeyedRandom(None, key)) == chosen


# 5 % of 8 or 9 calls a clip, at least 4 and at most 20, one of a clip.
@pytest.mark.parametrize(("clips", "count"), [(1, 1), (3, 3), (6, 4), (24, 11), (200, 20)])
def test_how_many_are_asked_again(clips: int, count: int) -> None:
    calls = planned(clips)
    assert len(choose_repeats(calls, predicted(calls), KeyedRandom(None, 1))) == count


def test_what_had_no_answer_is_not_asked_again() -> None:
    calls = planned(24)
    masks = {call for call in predicted(calls) if call.kind == "unit"}
    assert {call.kind for call in choose_repeats(calls, masks, KeyedRandom(None, 1))} == {"unit"}
    assert choose_repeats(calls, (), KeyedRandom(None, 1)) == []


def test_the_draw_decides_which() -> None:
    calls = planned(24)
    assert len({tuple(choose_repeats(calls, predicted(calls), KeyedRandom(None, seed))) for seed in range(10)}) == 10


def test_the_warning_says_how_many_and_how_far() -> None:
    receipt = Determinism(clips=6, identical=4, largest_difference=0.125)
    (problem,) = receipt.problems_of_copies()
    assert (problem.code, problem.severity) == ("answers_depend", "warning")
    assert "2 of 6 perturbed copies" in problem.found
    assert "up to 0.12" in problem.found
    assert not Determinism(clips=6, identical=6, largest_difference=0.0).problems_of_copies()


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips with rendered copies, which look like their clips and have other words; not to be changed."""
    clip = write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", 50, Format(width=160, height=90, rate=16_000))
    folder = write_phase(tmp_path_factory.mktemp("copies") / "input", [clip] * CLIPS, probing(copies="copies.csv"))
    write_copies(folder, clip, CLIPS)
    return folder


def test_a_model_that_looks_at_nothing_else_answers_alike(ingest: Ingest, filmed: Path) -> None:
    outcome = ingest(source(), input_data=filmed)
    run, lines = outcome.json("run.json"), outcome.lines("probes.jsonl")
    assert (run["status"], run["restarts"]) == ("complete", 0), outcome.printed
    asked, again = lines[: run["probes"]["asked"]], lines[run["probes"]["asked"] :]
    assert run["probes"]["asked"] == run["probes"]["planned"] == run["probes"]["answered"]
    assert run["probes"]["again"] == {"clips": len(again), "identical": len(again), "largest_difference": 0.0}
    assert FEWEST <= len(again) == len({line["clip_id"] for line in again})
    for line in again:
        follows("probes.jsonl")(line)
        assert line | {"again": False} in asked
    assert not any(line["again"] for line in asked)
    assert max(Counter(line["clip_id"] for line in asked).values()) <= 9
    assert "answers_depend" not in outcome.run_codes()
    assert f"{len(again)} of {len(again)} perturbed copies got the same answer" in outcome.printed


REMEMBERS = """\
self.calls = getattr(self, 'calls', 0) + 1
        return {'warmth': 0.5, 'interview': 0.5 if self.calls < 11 else 0.75}"""


def test_a_model_that_remembers_is_found_and_told(ingest: Ingest, filmed: Path) -> None:
    # Four clips are asked before the altered ones; from the eleventh call on it answers otherwise.
    outcome = ingest(source(REMEMBERS), input_data=filmed)
    run = outcome.json("run.json")
    assert run["status"] == "complete", outcome.printed
    assert run["probes"]["again"]["identical"] < run["probes"]["again"]["clips"]
    assert run["probes"]["again"]["largest_difference"] == 0.25
    assert "answers_depend" in outcome.run_codes()
    # What was said the first time stays as it is.
    asked = [line for line in outcome.lines("probes.jsonl") if not line["again"] and line["prediction"]]
    assert {line["prediction"]["interview"] for line in asked} == {0.5, 0.75}


def test_a_crash_when_asked_again_costs_one_answer_and_a_restart(ingest: Ingest, filmed: Path) -> None:
    # No other process begins with a copy.
    predict = (
        "import os; self.n = getattr(self, 'n', 0) + 1; self.n == 1 and clip.transcript == 'a copy' and os._exit(3)\n"
        f"        {BLIND}"
    )
    outcome = ingest(source(predict), input_data=filmed)
    run, again = outcome.json("run.json"), [line for line in outcome.lines("probes.jsonl") if line["again"]]
    assert run["status"] == "complete", outcome.printed
    assert run["clips"]["ok"] == CLIPS
    assert again[0]["kind"] == "cue"
    assert again[0]["prediction"] is None
    assert run["probes"]["answered"] == run["probes"]["planned"]
    assert run["probes"]["again"]["identical"] < run["probes"]["again"]["clips"]
    assert run["restarts"] >= 1
