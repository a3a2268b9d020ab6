"""Runs with several models side by side leave the files of a run with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import model_source, run_program, write_phase
from tests.ingestion.test_second_pass import probing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingestion.conftest import Outcome

CLIPS = 5
# What it does follows from the pixels, altered or not.
MODEL = """\
import os, time
import numpy as np

class Model:
    def __init__(self, assets): pass

    def predict(self, clip):
        frames = np.stack(list(clip.frames(count=4, size=(32, 18))))
        drawn = int(frames.mean() * 1e4) % {of}
        time.sleep(0.02)  # so that there is something to do for all
        if drawn in {dies}:
            os._exit(3)
        if drawn in {raises}:
            raise ValueError(drawn)
        if drawn in {hangs}:
            time.sleep(1e6)
        return {{"warmth": float(frames[0].mean()) / 255, "interview": float(frames.mean()) / 255}}

    def explain(self, clip, prediction):
        frame = next(clip.frames(count=1, size=(64, 36)))
        cues = [{{"cue": "lighting", "target": "interview", "contribution": prediction["warmth"] - 0.3}}]
        evidence = {{"space": frame.mean(axis=2) % 7, "time": [[0.0, 1.0, 0.5]], "cues": cues}}
        image = np.asarray(clip.frame_at(0.5, size=(355, 200)))
        return {{"text": f"A text of {{prediction['interview']:.5f}} letters.", "image": image, "evidence": evidence}}
"""
FILES = ("predictions.csv", "explanations.jsonl", "repeats.jsonl", "probes.jsonl")
BUSY = "machine_busy"
COUNTS = ("status", "clips", "restarts", "determinism")


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Short clips, and one that cannot be decoded."""
    folder = tmp_path_factory.mktemp("clips")
    form = Format(fps=10, rate=16_000)
    good = [write_clip(folder / f"{number}.mp4", 20 + number, form) for number in range(CLIPS)]
    (folder / "bad.mp4").write_bytes(b"no video" * 100)
    return [*good[:2], folder / "bad.mp4", *good[2:]]


def run(folder: Path, clips: list[Path], model: str, limits: dict[str, Any]) -> Outcome:
    settings = probing()
    settings = {**settings, "limits": {**settings["limits"], "memory_mb": 512, **limits}}
    (folder / "submission").mkdir(parents=True)
    (folder / "submission" / "model.py").write_text(model)
    return run_program(write_phase(folder / "input", clips, settings), folder / "submission", folder / "output")


def what_counts(outcome: Outcome) -> dict[str, Any]:
    """Return everything that does not tell how long something took."""
    record = outcome.json("run.json")
    return {
        **{name: (outcome.folder / name).read_bytes() for name in FILES if (outcome.folder / name).exists()},
        **{path.name: path.read_bytes() for path in (outcome.folder / "images").iterdir()},
        **{name: record[name] for name in COUNTS},
        "probes": record["probes"] and {**record["probes"], "duration_s": 0},
        # A busy machine changes what is advised.
        "told": [(problem["code"], problem["found"]) for problem in record["problems"] if problem["code"] != BUSY],
        "clips": [(clip["status"], clip["problems"]) for clip in outcome.lines("clips.jsonl")],
    }


def check_same(tmp_path: Path, clips: list[Path], model: str, workers: list[int], **limits: float) -> dict[str, Any]:
    """Compare runs with one model and with several; return what the one left."""
    one = run(tmp_path / "1", clips, model, {**limits, "workers": 1})
    wanted = what_counts(one)
    for count in workers:
        several = run(tmp_path / str(count), clips, model, {**limits, "workers": count})
        assert what_counts(several) == wanted, several.printed
        assert one.json("run.json")["workers"] == 1
        assert 1 <= several.json("run.json")["workers"] <= count
    return wanted


def test_two_models_that_die_and_raise_leave_the_files_of_one(tmp_path: Path, clips: list[Path]) -> None:
    model = MODEL.format(of=9, dies="(1,)", raises="(2, 3)", hangs="()")
    left = check_same(tmp_path, clips, model, [2], restarts=30)
    assert left["restarts"] > 0
    assert left["probes"]["again"] is not None


def test_a_model_can_ask_to_run_alone(tmp_path: Path, clips: list[Path]) -> None:
    model = model_source().replace("self.assets = assets", "self.runs_alone = True")
    assert run(tmp_path, clips[:2], model, {"workers": 2, "load_s": 200}).json("run.json")["workers"] == 1


@pytest.mark.slow
def test_restarts_that_are_used_up_end_the_run_where_those_of_one_would(tmp_path: Path, clips: list[Path]) -> None:
    """For other numbers of restarts see test_pool.py."""
    model = MODEL.format(of=7, dies="(1,)", raises="(2,)", hangs="()")
    left = check_same(tmp_path, clips, model, [2, 3], restarts=1)
    assert left["restarts"] == 1
    assert left["probes"] is None or left["probes"]["asked"] < left["probes"]["planned"]


@pytest.mark.slow
def test_models_that_hang_leave_the_files_of_one(tmp_path: Path, clips: list[Path]) -> None:
    model = MODEL.format(of=7, dies="(1,)", raises="(2,)", hangs="(3,)")
    # More than an answer takes on a busy machine.
    left = check_same(tmp_path, clips, model, [2, 3], restarts=50, call_s=8, time_limit_s=300)
    assert "timeout" in str(left["told"])
