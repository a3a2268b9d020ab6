"""Models that are not malicious, only odd: each costs what it breaks, and the run goes on."""

from collections.abc import Callable
from pathlib import Path

from ingest.errors import Problem
from ingest.log import MAXIMUM_LINES, Log
from ingest.stats import RunStats
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import ONCE, Outcome, Together, model_source, write_phase

Ingest = Callable[..., Outcome]
CLAIM = "{'cue': 'smile', 'target': 'interview', 'contribution': 0.5}"
TEXT = "'text': 'x' * 30"

ANSWERS = {
    "unhashable_target": (f"{{{TEXT}, 'evidence': {{'cues': [{{**{CLAIM}, 'target': ['interview']}}]}}}}", True),
    "tiny_map": (f"{{{TEXT}, 'evidence': {{'space': np.eye(9, 16) * 1e-310}}}}", True),
    "huge_weights": (f"{{{TEXT}, 'evidence': {{'time': [[0, 1, 1e308]] * 3}}}}", True),
    "wide_map": (f"{{{TEXT}, 'evidence': {{'space': np.ones((1, 40_000_000), np.uint8)}}}}", True),
    "long_list": (f"{{{TEXT}, 'evidence': {{'time': np.random.default_rng(1).random(300_000).tolist()}}}}", True),
    "long_text": ("{'text': 'y' * 50_000_000}", True),
    "surrogate": ("{'text': 'z' * 30 + chr(0xDC80)}", True),
    "surrogate_key": (f"{{{TEXT}, chr(0xDC80): 1}}", True),
    "too_many_keys": ("{str(n): n for n in range(200_000)}", False),
}


CALLS = {
    "broken_exception": (
        "class E(Exception):\n            def __str__(self): raise E\n        if clip.transcript: raise E"
    ),
    "surrogate_exception": "if clip.transcript: raise ValueError('cannot read ' + chr(0xDC80))",
    "real_time_signal": "import os\n        if clip.transcript: os.kill(os.getpid(), 40)",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "        if clip.transcript: list(ThreadPoolExecutor(4).map(clip.frame_at, [0.1, 0.2, 0.3, 0.4]))"
    ),
}


def test_odd_answers_and_failures_cost_only_themselves(ingest_together: Callable[..., Together]) -> None:
    explaining = {name: ("pass", f"import numpy as np; return {value}") for name, (value, _) in ANSWERS.items()}
    outcome, clips = ingest_together({**explaining, **{name: (call, "pass") for name, call in CALLS.items()}})
    for name, (_, has_text) in ANSWERS.items():
        explanation = clips[name].explanation
        assert explanation is not None, name
        assert ((explanation["text"] is not None), explanation["evidence"]) == (has_text, None), name
        assert name == "surrogate" or clips[name].codes, name
    assert {name for name in CALLS if clips[name].status != "failed"} == set()
    assert outcome.json("run.json")["restarts"] == 1  # after the signal


def test_models_that_keep_all_frames_are_told_the_limit_of_memory(ingest_together: Callable[..., Together]) -> None:
    keeps = {
        "large": "kept = list(clip.frames(size=(1920, 1080)))",
        "many": "kept = list(clip.frames(fps=300, size=(640, 360)))",
    }
    settings = {**ONCE, "limits": {**ONCE["limits"], "memory_mb": 192}}
    _, clips = ingest_together({name: (call, "pass") for name, call in keeps.items()}, settings)
    for clip in clips.values():
        assert clip.codes == ["model_raised"]
        assert "at most 192 MB; keep fewer or smaller frames" in clip.problems[0]["found"]


def test_an_iterator_that_is_kept_ends_with_its_call(ingest: Ingest) -> None:
    predict = (
        "kept = self.__dict__.pop('kept', None); kept and next(kept)\n"
        "        self.kept = clip.frames(); next(self.kept)"
    )
    outcome = ingest(model_source(predict=predict))
    # The warm-up keeps one, the first clip trips over it, the second keeps one again.
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["failed", "ok", "failed"]
    assert "these frames belong to a call that has ended" in outcome.printed
    assert outcome.json("run.json")["restarts"] == 0


def test_numpy_numbers_are_good_arguments(ingest: Ingest) -> None:
    predict = (
        "import numpy as np\n"
        "        frames = list(clip.frames(count=np.int64(2), size=np.array([40, 20])[:2].tolist()))\n"
        "        clip.frame_at(np.float32(0.5), size=(np.int32(40), np.int32(20))); clip.audio(np.int64(16000))"
    )
    outcome = ingest(model_source(predict=predict))
    assert outcome.json("run.json")["clips"]["ok"] == 3, outcome.printed


def test_a_submission_may_have_modules_of_any_name(ingest: Ingest) -> None:
    files = {"model_process/__init__.py": "VALUE = 1", "ingest.py": "VALUE = 2"}
    source = "import model_process, ingest\nassert (model_process.VALUE, ingest.VALUE) == (1, 2)\n" + model_source()
    assert ingest(source, files=files).exit_code == 0


def test_a_large_answer_does_not_wait_for_frames_that_nobody_reads(tmp_path: Path, ingest: Ingest) -> None:
    long = write_clip(tmp_path / "long.mp4", 300, Format(audio=None))
    explain = (
        "import numpy as np, time\n"
        "        for frame in clip.frames(count=6000, size=(40, 30)):\n"
        "            time.sleep(0.5)\n"
        "            break\n"
        "        return {'text': 'x' * 30, 'evidence': {'space': np.random.default_rng(1).random((4, 200, 355))}}"
    )
    outcome = ingest(model_source(explain=explain), input_data=write_phase(tmp_path / "input", [long] * 2, ONCE))
    assert outcome.json("run.json")["clips"]["ok"] == 2, outcome.printed
    # The sleep is half a second; waiting for one another would take until the call's limit of 20 s.
    assert all(line["explain_s"] < 10 for line in outcome.lines("clips.jsonl"))


def problem(code: str) -> Problem:
    return Problem(code, "predict", "predict", "x", "y", "z")


def test_the_summary_is_kept_however_long_the_log_was(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.txt")
    for number in range(1000):
        log.line(f"line {number}")
    for number in range(30):
        log.line(f"summary {number}", summary=True)
    log.close()
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert len(lines) <= MAXIMUM_LINES
    assert lines[-1] == "[ingestion] summary 29"
    assert sum("] summary" in line for line in lines) == 30


def test_an_unreadable_clip_does_not_hide_that_every_other_failed(tmp_path: Path) -> None:
    log, stats = Log(tmp_path / "log.txt"), RunStats()
    stats.add_clip("c0", "unreadable", [problem("clip_unreadable")], log)
    stats.add_clip("c1", "failed", [problem("model_raised")], log)
    stats.conclude()
    assert stats.status == "invalid"


def test_different_failures_are_results(tmp_path: Path) -> None:
    log, stats = Log(tmp_path / "log.txt"), RunStats()
    stats.add_clip("c0", "failed", [problem("model_raised")], log)
    stats.add_clip("c1", "failed", [problem("target_missing")], log)
    stats.conclude()
    assert stats.status == "complete"
