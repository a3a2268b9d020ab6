"""The call before the first clip, and what is said early about time."""

from collections.abc import Callable
from pathlib import Path

from tests.ingestion.conftest import ONCE, SETTINGS, Outcome, model_source, write_phase

Ingest = Callable[..., Outcome]
FIRST_CALL = "first = not hasattr(self, 'n'); self.n = 1\n        "


def test_a_slow_first_call_that_raises_is_nobodys_time_and_costs_nothing(ingest: Ingest) -> None:
    outcome = ingest(model_source(predict=FIRST_CALL + "import time; first and time.sleep(1.5); assert not first"))
    assert outcome.exit_code == 0
    assert outcome.json("run.json")["clips"]["ok"] == 3
    assert all(not line["problems"] for line in outcome.lines("clips.jsonl"))
    assert all(line["predict_s"] < 1.5 for line in outcome.lines("clips.jsonl"))
    assert outcome.json("run.json")["duration_s"] > 1.5


def test_the_warm_up_may_take_as_long_as_loading(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    settings = {**ONCE, "limits": {**ONCE["limits"], "call_s": 1}}
    folder = write_phase(tmp_path / "input", [numbered_clip] * 2, settings)
    slow = model_source(predict=FIRST_CALL + "import time; first and time.sleep(2)")
    outcome = ingest(slow, input_data=folder)
    assert outcome.json("run.json")["clips"]["ok"] == 2, outcome.printed


def test_a_warm_up_that_crashes_takes_no_restart(ingest: Ingest) -> None:
    outcome = ingest(model_source(predict="import os; clip.transcript and os._exit(1)"))
    run = outcome.json("run.json")
    # The crash of the real call is the first that counts.
    assert (run["clips"]["ok"], run["clips"]["failed"], run["restarts"]) == (2, 1, 1)
    assert outcome.clip_codes(0) == ["crashed"]


def test_a_hanging_first_call_is_ended_and_the_clip_tried_again(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest
) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "call_s": 1, "load_s": 3}}
    folder = write_phase(tmp_path / "input", [numbered_clip] * 2, settings)
    outcome = ingest(model_source(predict="import time; clip.transcript and time.sleep(60)"), input_data=folder)
    run = outcome.json("run.json")
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["failed", "ok"]
    assert run["restarts"] == 1


def test_a_first_clip_that_cannot_be_read_is_not_used(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    rubbish = tmp_path / "rubbish.mp4"
    rubbish.write_bytes(b"no video at all")
    folder = write_phase(tmp_path / "input", [rubbish, numbered_clip], ONCE)
    outcome = ingest(model_source(), input_data=folder)
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["unreadable", "ok"]
    assert "warm-up" in outcome.printed


def test_a_forecast_that_is_too_late_is_said_after_five_clips(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest
) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": 16}}  # 8 s of budget
    folder = write_phase(tmp_path / "input", [numbered_clip] * 30, settings)
    outcome = ingest(model_source(predict="import time; time.sleep(0.5)"), input_data=folder)
    lines = outcome.printed.splitlines()
    (forecast,) = [number for number, line in enumerate(lines) if "at this speed" in line]
    assert "of 30 clips" in lines[forecast]
    assert not any("first pass" in line for line in lines[:forecast])
    promised = int(lines[forecast].split("about ")[1].split()[0])
    run = outcome.json("run.json")
    assert run["clips"]["ok"] / 2 < promised < 2 * run["clips"]["ok"]
    assert run["status"] == "partial"


def test_a_model_that_becomes_slower_is_stopped_and_sealed_in_time(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest
) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": 20}}  # 10 s of budget
    folder = write_phase(tmp_path / "input", [numbered_clip] * 30, settings)
    # The call that is running when the budget ends takes two seconds more: a busy machine has eight to seal.
    slower = "import time; self.n = getattr(self, 'n', 0) + 1; time.sleep(0.1 * 1.2 ** self.n)"
    outcome = ingest(model_source(predict=slower), input_data=folder)
    run = outcome.json("run.json")
    assert outcome.exit_code == 0
    assert run["status"] == "partial"
    assert outcome.run_codes() == ["time_budget", "answers_equal"]
    assert outcome.json("manifest.json")["files"]["run.json"]
    assert len(outcome.lines("clips.jsonl")) == 30
