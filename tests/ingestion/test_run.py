"""The whole program as a process, on three small clips: what works, and what each mistake of a participant gets."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import psutil
import pytest

from ingest.capacity import has_gpu
from tests import mostly_slow, there
from tests.ingestion.clips import write_clip
from tests.ingestion.conftest import (
    ONCE,
    PROGRAM,
    SETTINGS,
    Outcome,
    Together,
    follows,
    model_source,
    run_program,
    write_phase,
)

Ingest = Callable[..., Outcome]
FULL = Path("/dev/full")
"""A disk without room."""

GOOD = """\
import numpy as np

class Model:
    def __init__(self, assets):
        self.weight = float((assets / "weight.txt").read_text())
        print("loaded")

    def predict(self, clip):
        frame = next(clip.frames(count=1, size=(40, 20)))
        assert frame.shape == (20, 40, 3) and frame.dtype == np.uint8
        self.seen = clip
        return {"warmth": self.weight, "interview": np.float32(frame.mean() / 255)}

    def explain(self, clip, prediction):
        assert clip is self.seen  # so that a model can keep what it has read of it
        frame = clip.frame_at(0.5, size=(355, 200))
        sound = clip.audio(16000)
        text = f"Loudness {abs(sound).max():.1f}, {len(clip.transcript)} letters, {clip.frame_count} frames."
        claims = [{"cue": "smile", "target": "interview", "contribution": 0.5}]
        return {"text": text, "image": frame, "evidence": {"space": frame.mean(axis=2), "cues": claims}}
"""


@pytest.fixture(scope="module")
def good(phase: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What a good model leaves behind; not to be changed."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "submission").mkdir()
    (folder / "submission" / "model.py").write_text(GOOD)
    (folder / "submission" / "weight.txt").write_text("0.25")
    return run_program(phase, folder / "submission", folder / "output")


def test_a_good_model(good: Outcome) -> None:
    outcome = good
    assert outcome.exit_code == 0, outcome.printed
    run = outcome.json("run.json")
    assert run["status"] == "complete"
    assert run["clips"] == {"total": 3, "ok": 3, "failed": 0, "not_reached": 0, "unreadable": 0}
    predictions = outcome.predictions()
    assert list(predictions) == ["c000", "c001", "c002"]
    assert {row["warmth"] for row in predictions.values()} == {"0.25"}
    explanations = outcome.lines("explanations.jsonl")
    assert "11 letters, 50 frames" in explanations[0]["text"]
    assert "0 letters" in explanations[1]["text"]
    assert explanations[0]["evidence"]["time"] is None
    picture = there(cv2.imread(str(outcome.folder / explanations[0]["image"])))
    assert picture.shape == (200, 355, 3)
    assert "loaded" in (outcome.folder / "model_output.txt").read_text()
    assert outcome.printed == (outcome.folder / "log.txt").read_text()


def test_the_manifest_lists_every_file_with_its_hash(good: Outcome) -> None:
    outcome = good
    files = outcome.json("manifest.json")["files"]
    present = {path.relative_to(outcome.folder).as_posix() for path in outcome.folder.rglob("*") if path.is_file()}
    assert set(files) == present - {"manifest.json"}
    for name, entry in files.items():
        content = (outcome.folder / name).read_bytes()
        assert entry == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def follow_the_schema(outcome: Outcome) -> None:
    for name in ("run.json", "manifest.json"):
        follows(name)(outcome.json(name))
    for name in ("explanations.jsonl", "clips.jsonl"):
        for line in outcome.lines(name):
            follows(name)(line)


def test_the_records_follow_the_schema(good: Outcome) -> None:
    follow_the_schema(good)


def test_the_run_says_on_which_data_it_ran_and_in_which_image(
    good: Outcome, ingest: Ingest, phase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = good.json("run.json")
    names = ("clips.csv", "transcripts.json")
    lines = (f"{hashlib.sha256((phase / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    assert run["data_sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert (run["seed"], run["image"]) == (SETTINGS["seed"], None)
    monkeypatch.setenv("COMPETITION_IMAGE", "example/image:1")
    other = Path(shutil.copytree(phase, tmp_path / "other"))
    (other / "transcripts.json").write_text('{"c000": "good bye"}')
    again = ingest(model_source(), input_data=other).json("run.json")
    assert again["data_sha256"] != run["data_sha256"]
    assert (again["settings_sha256"], again["image"]) == (run["settings_sha256"], "example/image:1")


TIMINGS = {"predict_s", "explain_s", "duration_s", "load_s", "processor"}


def without_timings(record: dict[str, object]) -> dict[str, object]:
    assert TIMINGS & record.keys()
    return {key: value for key, value in record.items() if key not in TIMINGS}


def test_two_runs_are_alike_in_every_byte_but_for_timings(good: Outcome, ingest: Ingest, tmp_path: Path) -> None:
    # What lies in the output is removed, and links are not followed.
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious.txt").write_text("keep me")
    output = tmp_path / "output"
    output.mkdir()
    (output / "predictions.csv").write_text("planted")
    (output / "scores.json").write_text("{}")
    (output / "folder").symlink_to(tmp_path / "outside")
    kept, second = good, ingest(GOOD, files={"weight.txt": "0.25"})
    names = {path.relative_to(kept.folder).as_posix() for path in kept.folder.rglob("*") if path.is_file()}
    assert names == {path.relative_to(second.folder).as_posix() for path in second.folder.rglob("*") if path.is_file()}
    timed = {"clips.jsonl", "run.json", "manifest.json", "log.txt"}
    for name in names - timed:
        assert (kept.folder / name).read_bytes() == (second.folder / name).read_bytes(), name
    assert {"predictions.csv", "explanations.jsonl", "images/c000.jpg"} <= names
    assert without_timings(kept.json("run.json")) == without_timings(second.json("run.json"))
    assert list(map(without_timings, kept.lines("clips.jsonl"))) == list(
        map(without_timings, second.lines("clips.jsonl"))
    )
    assert (tmp_path / "outside" / "precious.txt").read_text() == "keep me"
    assert not (output / "folder").is_symlink()


# Each ends at another place; all other reasons are held in-process and in the hostile corpus.
LOADING = {
    "empty": (None, "model_missing", "empty archive"),
    "syntax": ("class Model:\n  def f(:\n", "syntax_error", "model.py line 2"),
    "import_raises": ("raise RuntimeError('weights are gone')", "import_raised", "weights are gone"),
}


@pytest.mark.parametrize("name", sorted(LOADING))
def test_submissions_that_cannot_be_loaded(name: str, ingest: Ingest) -> None:
    source, code, said = LOADING[name]
    outcome = ingest(source)
    assert outcome.exit_code == 1, outcome.printed
    assert outcome.json("run.json")["status"] == "invalid"
    assert outcome.run_codes() == [code]
    assert said in outcome.printed
    assert said in (outcome.folder / "log.txt").read_text()
    assert "manifest.json" not in outcome.json("manifest.json")["files"]
    assert "run.json" in outcome.json("manifest.json")["files"]


# The first clip is the one with a transcript: the fault shows only there.
ON_THE_FIRST = "clip.transcript and "
ONE_CLIP = {
    "raises": (f"{ON_THE_FIRST}[][1]", "pass", "model_raised", "model.py line "),
    "exits": (f"import sys; {ON_THE_FIRST}sys.exit(0)", "pass", "model_raised", "SystemExit"),
    "ends": (f"import os; {ON_THE_FIRST}os._exit(0)", "pass", "crashed", "by itself (exit 0)"),
    "crashes": (f"import os; {ON_THE_FIRST}os.abort()", "pass", "crashed", "SIGABRT"),
    "hangs": (f"import time; {ON_THE_FIRST}time.sleep(60)", "pass", "timeout", "no answer after"),
    "nothing": ("\n        if clip.transcript: return None", "pass", "prediction_type", "None"),
    "missing": ("\n        if clip.transcript: return {'warmth': 0.5}", "pass", "target_missing", "interview"),
    "nan": (
        "\n        if clip.transcript: return {'warmth': float('nan'), 'interview': 0.5}",
        "pass",
        "target_not_finite",
        "warmth",
    ),
    "range": (
        "\n        if clip.transcript: return {'warmth': 1.5, 'interview': 0.5}",
        "pass",
        "target_out_of_range",
        "1.5",
    ),
    "bad_request": (f"{ON_THE_FIRST}list(clip.frames(count=-1))", "pass", "model_raised", "count is -1"),
    "too_long": (f"{ON_THE_FIRST}list(clip.frames(count=2.5))", "pass", "model_raised", "count is 2.5"),
}


EXPLANATIONS = {
    "raises": ("1 / 0", "model_raised"),
    "empty_text": ("return {'text': ''}", "text_short"),
    "no_text": ("return {}", "text_missing"),
    "wrong_image": (
        "import numpy as np; return {'text': 'x' * 30, 'image': np.zeros((9, 9, 3), np.uint8)}",
        "image_shape",
    ),
    "wrong_evidence": ("return {'text': 'x' * 30, 'evidence': {'time': [1]}}", "evidence_invalid"),
    "ends": ("import os; os._exit(3)", "crashed"),
}


def test_a_failing_call_costs_only_itself(ingest_together: Callable[..., Together]) -> None:
    predictions = {name: (predict, explain) for name, (predict, explain, *_) in ONE_CLIP.items()}
    explanations = {f"explaining_{name}": ("pass", statement) for name, (statement, _) in EXPLANATIONS.items()}
    hasty = {**SETTINGS, "limits": {**SETTINGS["limits"], "call_s": 5}}
    outcome, clips = ingest_together({**predictions, **explanations}, hasty)
    follow_the_schema(outcome)
    for name, (_, _, code, said) in ONE_CLIP.items():
        clip = clips[name]
        assert (clip.status, clip.codes, clip.row, clip.explanation) == ("failed", [code], None, None), clip.words
        assert said in clip.words, name
    for name, (_, code) in EXPLANATIONS.items():
        clip = clips[f"explaining_{name}"]
        assert (clip.status, clip.codes) == ("ok", [code]), name
        assert clip.row is not None, name
        assert clip.explanation is not None, name


def test_the_same_failure_on_every_clip_is_no_result(ingest: Ingest) -> None:
    outcome = ingest(model_source(predict="return None"))  # what raises on every clip is a hostile case
    assert outcome.exit_code == 1
    assert outcome.run_codes() == ["every_clip_failed"]
    (problem,) = outcome.json("run.json")["problems"]
    # Both sentences of the first failure: short runs may leave no log on the platform.
    first = outcome.lines("clips.jsonl")[0]["problems"][0]
    assert first["found"] in problem["found"]
    assert first["fix"] in problem["fix"]


@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU")
def test_a_promised_gpu_that_is_missing_is_told(numbered_clip: Path, tmp_path: Path) -> None:
    folder = write_phase(tmp_path / "input", [numbered_clip], {**SETTINGS, "environment": "gpu"})
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "model.py").write_text(model_source())
    outcome = run_program(folder, tmp_path / "submission", tmp_path / "output")
    assert (outcome.exit_code, outcome.run_codes()) == (0, ["gpu_missing"])


def test_time_runs_out_in_an_orderly_way(numbered_clip: Path, tmp_path: Path) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "time_limit_s": 12}}  # a budget of 6 s
    folder = write_phase(tmp_path / "input", [numbered_clip] * 16, settings)
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(model_source(predict="import time; time.sleep(0.5)"))
    outcome = run_program(folder, submission, tmp_path / "output")
    assert outcome.exit_code == 0
    run = outcome.json("run.json")
    assert run["status"] == "partial"
    assert 1 <= run["clips"]["ok"] <= 11
    assert run["clips"]["ok"] + run["clips"]["not_reached"] == 16
    assert len(outcome.lines("clips.jsonl")) == 16
    assert outcome.run_codes()[0] == "time_budget"


def test_frames_stay_as_they_were_for_as_long_as_they_are_kept(ingest: Ingest) -> None:
    source = """\
import numpy as np
kept = []

def number(frame):
    centres = ((np.arange(10) + 0.5) * frame.shape[1] / 10).astype(int)
    return int(((frame[:, centres].mean(axis=(0, 2)) > 128) * (1 << np.arange(10))).sum())

class Model:
    def __init__(self, assets): pass

    def predict(self, clip):
        kept.extend(clip.frames(count=5))
        kept.append(clip.frame_at(1.0)[10:20, :, 1:])     # a view of a view
        kept.extend(clip.frames(size=(900, 700)))         # 50 x 1.9 MB: streamed through a ring
        first = iter(clip.frames())
        next(first)                                       # left in the middle
        pair = list(zip(clip.frames(count=3), clip.frames(count=3, size=(60, 40)), strict=True))
        assert [number(a) for a, b in pair] == [number(b) for a, b in pair] == [8, 25, 41]
        return {"warmth": 0.5, "interview": 0.5}

    def explain(self, clip, prediction):
        expected = [5, 15, 25, 35, 45, None, *range(50)]
        for position, frame in enumerate(kept):
            wanted = expected[position % 56]
            assert not frame.flags.writeable
            assert wanted is None or number(frame) == wanted, (position, number(frame), wanted)
        del kept[10:]
        return {"text": "All frames are as they were."}
"""
    outcome = ingest(source.replace("del kept[10:]", "del kept[112:]"))
    assert outcome.exit_code == 0, outcome.printed
    assert [line["text"] for line in outcome.lines("explanations.jsonl")] == ["All frames are as they were."] * 3


@pytest.mark.slow
def test_the_log_is_short_however_many_clips_fail(numbered_clip: Path, tmp_path: Path) -> None:
    short = write_clip(tmp_path / "short.mp4", 3)
    folder = write_phase(tmp_path / "input", [short] * 260, ONCE)
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(
        model_source(predict="self.n = getattr(self, 'n', 0) + 1; assert self.n % 2, f'number {self.n}'")
    )
    outcome = run_program(folder, submission, tmp_path / "output")
    assert outcome.exit_code == 0
    lines = (outcome.folder / "log.txt").read_text().splitlines()
    assert len(lines) <= 200
    assert "complete" in lines[-1]
    assert outcome.printed.splitlines() == lines
    assert "at this speed" not in outcome.printed  # no forecast where time is enough


def test_settings_add_system_calls(ingest: Ingest, numbered_clip: Path, tmp_path: Path) -> None:
    """A model fails with a call that the sandbox refuses, and answers where the settings allow it."""
    source = model_source(predict="import os; os.close(os.memfd_create('x'))")
    told, counted, words = {}, {}, {}
    more: dict[str, Any] = {"isolation": {"also_allowed": ["memfd_create"]}}
    hidden: dict[str, Any] = {"feedback": {"model_output": False}}
    for name, changed in (("usual", {}), ("more", more), ("hidden", hidden)):
        folder = write_phase(tmp_path / name, [numbered_clip], {**ONCE, **changed})
        outcome = ingest(source, input_data=folder)
        run = outcome.json("run.json")
        told[name], counted[name], words[name] = outcome.run_codes(), run["refused_calls"], outcome.printed
        assert (run["landlock"] > 0) == (run["isolation"] == "full")
    if run["isolation"] not in {"full", "seccomp"}:
        pytest.skip(f"SECCOMP NOT TESTED: this machine gives {run['isolation']}")
    refused = ["every_clip_failed", "calls_refused"]
    assert told == {"usual": refused, "more": [], "hidden": refused}
    # Once in the warm-up.
    assert counted == {"usual": {"memfd_create": 2}, "more": {}, "hidden": {"memfd_create": 2}}
    assert "found memfd_create (2\N{MULTIPLICATION SIGN})" in words["usual"]
    assert "memfd" not in words["hidden"]


def test_no_process_and_no_scratch_folder_is_left(
    ingest: Ingest, numbered_clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A level that lets a model start processes at all.
    basic = write_phase(tmp_path / "basic", [numbered_clip], {**ONCE, "isolation": {"at_most": "basic"}})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    note = tmp_path / "pid"
    source = model_source(
        predict=f"import subprocess; p = subprocess.Popen(['sleep', '100']); open({str(note)!r}, 'w').write(str(p.pid))"
    )
    outcome = ingest(source, input_data=basic)
    assert outcome.exit_code == 0
    assert outcome.json("run.json")["isolation"] == ("basic" if sys.platform == "linux" else "portable")
    assert not list(scratch.iterdir())
    left = [process for process in psutil.process_iter(["pid", "status"]) if process.pid == int(note.read_text())]
    # Where nobody collects orphans, a dead process stays listed as a zombie.
    assert all(process.info["status"] == psutil.STATUS_ZOMBIE for process in left)


def test_predictions_do_not_depend_on_the_order_of_clips(numbered_clip: Path, tmp_path: Path) -> None:
    other = write_clip(tmp_path / "other.mp4", 30)
    folder = write_phase(tmp_path / "input", [numbered_clip, other, numbered_clip], ONCE)
    rows = list(csv.reader((folder / "clips.csv").open(newline="")))
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(GOOD)
    (submission / "weight.txt").write_text("0.5")
    forward = run_program(folder, submission, tmp_path / "forward").predictions()
    (folder / "clips.csv").write_text("".join(",".join(row) + "\n" for row in [rows[0], *rows[:0:-1]]))
    backward = run_program(folder, submission, tmp_path / "backward").predictions()
    assert forward == backward
    assert list(forward) == list(backward)[::-1]


@pytest.mark.parametrize("odd", mostly_slow(["gone", "ascii", *(["full"] if FULL.exists() else [])], ["gone"]))
def test_a_log_that_cannot_be_printed_changes_nothing(odd: str, phase: Path, tmp_path: Path) -> None:
    submission, output = tmp_path / "submission", tmp_path / "output"
    submission.mkdir()
    (submission / "modèle.py").write_text("x")
    command = [sys.executable, str(PROGRAM / "ingestion.py"), *map(str, (phase, output, PROGRAM, submission))]
    reading, writing = os.pipe()
    os.close(reading)
    with (FULL if odd == "full" else Path(os.devnull)).open("w") as stream:
        ended = subprocess.run(
            command,
            check=False,
            stdout=writing if odd == "gone" else stream,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "ascii"} if odd == "ascii" else None,
        )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")
    run = json.loads((output / "run.json").read_text())
    assert [problem["code"] for problem in run["problems"]] == ["model_missing"]
    assert "modèle.py" in (output / "log.txt").read_text("utf-8")
