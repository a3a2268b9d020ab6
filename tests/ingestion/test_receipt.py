"""Asking a few clips again: which, in what order, and what is said about the answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.media.alteration import ClipSource
from ingest.stats import MOST, Determinism, choose
from tests.ingestion.conftest import PROGRAM, SETTINGS, Outcome, follows, model_source, run_script, write_phase

Ingest = Callable[..., Outcome]


def clips(count: int, digits: int = 4) -> list[ClipSource]:
    return [ClipSource(f"c{number:0{digits}d}", Path("x"), "") for number in range(count)]


# 5 %, rounded up, from 4 to 20, and never more than there are.
@pytest.mark.parametrize(
    ("total", "asked"), [(0, 0), (1, 1), (2, 2), (24, 4), (80, 4), (81, 5), (400, 20), (9999, MOST)]
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
    """Three clips, and time to ask again; the first one has words; not to be changed."""
    return write_phase(tmp_path_factory.mktemp("asking") / "input", [numbered_clip] * 3)


def test_a_model_that_answers_alike(ingest: Ingest, asking: Path) -> None:
    outcome = ingest(model_source(), input_data=asking)
    run = outcome.json("run.json")
    assert run["determinism"] == {"clips": 3, "identical": 3, "largest_difference": 0.0}
    assert (run["status"], run["restarts"]) == ("complete", 0)
    # That is allowed, and seldom meant.
    assert outcome.run_codes() == ["answers_equal"]
    assert [line["clip_id"] for line in outcome.lines("repeats.jsonl")] == ORDER
    assert "repeats.jsonl" in outcome.json("manifest.json")["files"]


EXPLAINED = """\
class Model:
    calls = 0

    def __init__(self, assets): pass

    def predict(self, clip):
        self.calls += 1
        {predict}
        return {{"warmth": 0.25, "interview": len(clip.transcript) / 100}}

    def explain(self, clip, prediction):
        import numpy as np
        {explain}
        cues = [{{"cue": "smile", "target": "interview", "contribution": 0.25}}]
        image = np.full((200, 355, 3), 9, np.uint8)
        image[:50] = 200
        words = f"A text about {{len(clip.transcript)}} letters that counts."
        return {{"text": words, "image": image, "evidence": {{"time": [1.0, 0.5], "cues": cues}}}}
"""
ORDER = [clip.clip_id for clip in choose(clips(3, digits=3), SETTINGS["seed"])]
# In the second look only, a process begins with a clip that is not the first one.
AGAIN = "self.again = getattr(self, 'again', clip.transcript == ''); "


def repeats_of(outcome: Outcome) -> list[dict[str, Any]]:
    lines = outcome.lines("repeats.jsonl")
    for line in lines:
        follows("repeats.jsonl")(line)
    return lines


def test_what_is_said_again_is_recorded_as_the_first_time_but_for_the_picture(ingest: Ingest, asking: Path) -> None:
    outcome = ingest(EXPLAINED.format(predict="pass", explain="pass"), input_data=asking)
    first = {line["clip_id"]: line for line in outcome.lines("explanations.jsonl")}
    lines = repeats_of(outcome)
    assert [line["clip_id"] for line in lines] == ORDER
    for line in lines:
        assert first[line["clip_id"]]["image"]
        assert line["explanation"] | {"clip_id": line["clip_id"]} == first[line["clip_id"]] | {"image": None}
        row = outcome.predictions()[line["clip_id"]]
        assert line["prediction"] == {name: float(row[name]) for name in ("warmth", "interview")}


def test_a_call_that_fails_again_is_a_line_of_nulls(ingest: Ingest, asking: Path) -> None:
    predict = AGAIN + "assert not self.again or self.calls != 2"
    lines = repeats_of(ingest(EXPLAINED.format(predict=predict, explain="pass"), input_data=asking))
    assert [line["clip_id"] for line in lines] == ORDER
    assert [line["prediction"] is None for line in lines] == [False, True, False]
    assert [line["explanation"] is None for line in lines] == [False, True, False]


def test_an_explanation_that_fails_again_is_null(ingest: Ingest, asking: Path) -> None:
    lines = repeats_of(ingest(EXPLAINED.format(predict=AGAIN, explain="assert not self.again"), input_data=asking))
    assert [line["clip_id"] for line in lines] == ORDER
    assert all(line["prediction"] is not None and line["explanation"] is None for line in lines)


@pytest.mark.parametrize(("method", "known"), [("predict", [True, False, False]), ("explain", [True, True, False])])
def test_clips_that_a_dead_model_was_not_asked_again_are_lines_of_nulls(
    ingest: Ingest, asking: Path, method: str, known: list[bool]
) -> None:
    dies = "import os; self.again and self.calls == 2 and os._exit(3)"
    parts = {"predict": AGAIN, "explain": "pass"}
    parts[method] = f"{AGAIN}{dies}" if method == "predict" else dies
    outcome = ingest(EXPLAINED.format(**parts), input_data=asking)
    lines = repeats_of(outcome)
    assert [line["clip_id"] for line in lines] == ORDER
    assert [line["prediction"] is not None for line in lines] == known
    assert [line["explanation"] is not None for line in lines] == [True, False, False]
    assert outcome.json("run.json")["status"] == "complete"


# A model can leave no trace by which its next process would know, so the program makes the second start go wrong.
PATCHED = """\
import sys
from pathlib import Path
sys.path.insert(0, {program!r})
from ingest.clock import Clock
from ingest.keeper import KeyKeeper
from ingest.pipeline import run
from ingest.media import frame_stream
from ingest.media.video import FrameReader
from ingest.pool import WorkerPool

start_afresh = WorkerPool.start_afresh
{patch}
folders = {{name: Path(path) for name, path in {folders!r}.items()}}
sys.exit(run(**folders, packages=None, clock=Clock(), keeper=KeyKeeper(folders["program"])))
"""


def run_patched(folder: Path, input_data: Path, source: str, patch: str) -> Outcome:
    for name in ("submission", "program", "output"):
        (folder / name).mkdir()
    (folder / "submission" / "model.py").write_text(source)
    folders = {"input_data": input_data, **{name: folder / name for name in ("output", "program", "submission")}}
    named = {name: str(path) for name, path in folders.items()}
    code, printed = run_script(folder, PATCHED.format(program=str(PROGRAM), folders=named, patch=patch))
    return Outcome(code, folder / "output", printed)


NOTHING_REPEATS = {"clips": 3, "identical": 0, "largest_difference": None}
SPOILT = """
class Spoilt(FrameReader):
    def decode(self, index):
        raise RuntimeError

def start_spoilt(self, **how):
    frame_stream.FrameReader = Spoilt
    return start_afresh(self, **how)

WorkerPool.start_afresh = start_spoilt
"""


@pytest.mark.parametrize(
    "patch", ["WorkerPool.start_afresh = lambda *_, **__: False", SPOILT], ids=["cannot be loaded", "spoils decoding"]
)
def test_a_model_that_fails_before_it_answers_again_has_given_other_answers(
    asking: Path, tmp_path: Path, patch: str
) -> None:
    """Without the model, the clips can be decoded, so it is not their fault."""
    outcome = run_patched(tmp_path, asking, EXPLAINED.format(predict="next(clip.frames())", explain="pass"), patch)
    run = outcome.json("run.json")
    assert (run["status"], run["clips"]["ok"], run["determinism"]) == ("complete", 3, NOTHING_REPEATS), outcome.printed
    assert "answers_differ" in outcome.run_codes()
    assert [(line["clip_id"], line["prediction"], line["explanation"]) for line in repeats_of(outcome)] == [
        (clip_id, None, None) for clip_id in ORDER
    ]


def test_a_model_that_was_never_loaded_leaves_an_empty_file(ingest: Ingest) -> None:
    outcome = ingest("raise ValueError")
    assert outcome.json("run.json")["status"] == "invalid"
    assert (outcome.folder / "repeats.jsonl").read_bytes() == b""


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
    assert determinism["clips"] == 3
    assert determinism["identical"] < 3


def test_a_model_that_dies_when_asked_again_keeps_its_results(ingest: Ingest, asking: Path) -> None:
    # Only the process of the second look begins with a clip that has no transcript.
    assert ORDER[0] != "c000"
    predict = "self.n = getattr(self, 'n', 0) + 1; import os; self.n == 1 and clip.transcript == '' and os._exit(3)"
    outcome = ingest(model_source(predict=predict), input_data=asking)
    run = outcome.json("run.json")
    assert run["clips"]["ok"] == 3, outcome.printed
    assert (run["status"], run["restarts"]) == ("complete", 0)
    assert run["determinism"] == NOTHING_REPEATS


def test_nobody_is_asked_again_when_time_is_short(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": 30}}  # 15 s of budget, 20 s to load
    folder = write_phase(tmp_path / "input", [numbered_clip] * 2, settings)
    varied = model_source(predict="return {'warmth': len(clip.transcript) / 100, 'interview': 0.5}")
    outcome = ingest(varied, input_data=folder)
    run = outcome.json("run.json")
    assert run["status"] == "complete"
    assert run["determinism"] is None
    assert outcome.run_codes() == []  # answers that differ are no warning
    assert (outcome.folder / "repeats.jsonl").read_bytes() == b""
