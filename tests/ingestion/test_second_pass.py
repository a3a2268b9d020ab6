"""The second pass: perturbed copies are asked in a fresh process, recorded, and never cost the first pass."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.clock import Clock
from ingest.data import read_dataset
from ingest.draws import KeyedRandom
from ingest.errors import Problem
from ingest.log import Log
from ingest.media.frame_server import FrameServer
from ingest.media.video import UnreadableClip
from ingest.model import LoadFailed
from ingest.pool import WorkerPool
from ingest.probes.copies import CopyFactory
from ingest.probes.run import ProbePass
from ingest.record_writer import RecordWriter
from ingest.settings import Task, read_task
from ingest.stats import RunStats
from ingest.workers import ModelWorker
from tests import mostly_slow
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import PROGRAM, SETTINGS, Outcome, follows, run_program, run_script, write_phase

Ingest = Callable[..., Outcome]

PROBES: dict[str, Any] = {
    "edits": 3,
    "jitter": {"gain": 0.01, "shift_px": 2, "frames": 1},
}
CUES = ["smile", "gaze", "voice", "words", "motion", "lighting", "framing", "face", "background"]
MODEL = """\
import numpy as np

class Model:
    def __init__(self, assets): pass

    def predict(self, clip):
        {predict}
        frames = np.stack(list(clip.frames(count=8, size=(64, 36))))
        sound = clip.audio(16000)
        self.facts = (clip.duration_s, clip.fps, clip.width, clip.height, clip.frame_count)
        return {{"warmth": float(frames.mean()) / 255, "interview": min(1.0, float(abs(sound).mean()))}}

    def explain(self, clip, prediction):
        frame = next(clip.frames(count=1, size=(64, 36)))
        {explain}
        cues = [{{"cue": "lighting", "target": "interview", "contribution": -0.5}}]
        evidence = {{"space": frame.mean(axis=2) % 7 + len(clip.transcript), "time": [0.0, 1.0, 0.5], "cues": cues}}
        return {{"text": f"A text that is long enough, of {{len(clip.transcript)}} letters.", "evidence": evidence}}
"""

BLIND = "return {'warmth': 0.5, 'interview': 0.5}"
"""Of a model that looks at no frame, for tests of what becomes of calls: frames take most of the time of a run."""


def source(predict: str = "pass", explain: str = "pass") -> str:
    return MODEL.format(predict=predict, explain=explain)


def probing(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return settings with probes."""
    evidence = {"grid": {"rows": 9, "columns": 16}, "cues": CUES}
    explanation = {**SETTINGS["explanation"], "evidence": evidence}
    return {**SETTINGS, "explanation": explanation, "probes": PROBES, **changes}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds of few numbered frames, with sound of which a third is enough to decode."""
    return write_clip(
        tmp_path_factory.mktemp("clip") / "clip.mp4", 30, Format(width=160, height=90, fps=10, rate=16_000)
    )


@pytest.fixture(scope="module")
def filmed(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five clips without copies, with a face each; not to be changed."""
    folder = write_phase(tmp_path_factory.mktemp("filmed") / "input", [clip] * 5, probing(faces="faces.csv"))
    boxes = "".join(f"c{number:03d},0.2,0.1,0.6,0.9\n" for number in range(5))
    (folder / "faces.csv").write_text("clip_id,left,top,right,bottom\n" + boxes)
    words = {f"c{number:03d}": "one two three four five six seven"[: 5 * number] for number in range(5)}
    (folder / "transcripts.json").write_text(json.dumps(words))
    return folder


def write_copies(folder: Path, clip: Path, clips: int) -> None:
    """Write three copies of every clip."""
    (folder / "copies").mkdir()
    lines, texts = ["copy_id,clip_id,cue,file,sha256"], json.loads((folder / "transcripts.json").read_text())
    for number in range(clips):
        for cue in ("smile", "gaze", "motion"):
            name = f"d{number}{cue}"
            (folder / "copies" / f"{name}.mp4").write_bytes(clip.read_bytes())
            digest = hashlib.sha256(clip.read_bytes()).hexdigest()
            lines.append(f"{name},c{number:03d},{cue},copies/{name}.mp4,{digest}")
            texts[name] = "a copy"
    (folder / "copies.csv").write_text("\n".join(lines) + "\n")
    (folder / "transcripts.json").write_text(json.dumps(texts))


@pytest.fixture(scope="module")
def asked(filmed: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What a good model leaves behind; not to be changed."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "submission").mkdir()
    (folder / "submission" / "model.py").write_text(source())
    return run_program(filmed, folder / "submission", folder / "output")


def test_every_call_of_the_plan_is_asked_and_recorded(asked: Outcome) -> None:
    outcome = asked
    run, lines = outcome.json("run.json"), outcome.lines("probes.jsonl")
    assert run["status"] == "complete", outcome.printed
    assert run["restarts"] == 0
    again = run["probes"]["again"]["clips"]
    assert run["untested"] == {"exchanges": [f"c{number:03d}" for number in range(5)], "edits": []}
    assert run["probes"]["planned"] == run["probes"]["asked"] == run["probes"]["answered"] == len(lines) - again
    for line in lines:
        follows("probes.jsonl")(line)
    follows("run.json")(run)
    lines = lines[: len(lines) - again]
    kinds = Counter(line["kind"] for line in lines)
    assert kinds["original"] == 5
    assert kinds["twin"] == 2
    assert kinds["cue"] == 3 * 5 - 2
    assert {line["operator"] for line in lines if line["kind"] == "cue"} == {"draw"}
    # Each clip's lines stand together, and clips and calls have an order of their own.
    order = [line["clip_id"] for line in lines]
    assert [clip for n, clip in enumerate(order) if n == 0 or order[n - 1] != clip] == list(dict.fromkeys(order))
    (twin, *_) = [line for line in lines if line["kind"] == "twin"]
    assert twin["prediction"] is None
    assert twin["explanation"]["evidence"]["cues"][0]["cue"] == "lighting"
    assert f"second pass: {len(lines)} of {len(lines)} calls on perturbed copies" in outcome.printed
    assert "probes.jsonl" in outcome.json("manifest.json")["files"]


def test_the_same_run_twice_gives_the_same_bytes_and_a_key_others(asked: Outcome, filmed: Path, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(source())
    first, second = asked, run_program(filmed, submission, tmp_path / "second")
    assert (first.folder / "probes.jsonl").read_bytes() == (second.folder / "probes.jsonl").read_bytes()
    predicted = [line["prediction"] for line in first.lines("probes.jsonl") if line["kind"] != "twin"]
    assert len({json.dumps(one) for one in predicted}) > len(predicted) / 2
    # With a key the same task draws something else.
    program = tmp_path / "program"
    program.mkdir()
    for path in PROGRAM.iterdir():
        (program / path.name).symlink_to(path)
    (program / "seal.key").write_text("ab" * 32)
    (submission / "model.py").write_text(source(BLIND))
    keyed = run_program(filmed, submission, tmp_path / "keyed", program=program)
    assert [(line["clip_id"], line["kind"]) for line in keyed.lines("probes.jsonl")] != [
        (line["clip_id"], line["kind"]) for line in first.lines("probes.jsonl")
    ]


def test_rendered_copies_are_the_edits_and_bring_their_own_words(clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [clip] * 4, probing(copies="copies.csv"))
    write_copies(folder, clip, 4)
    predict = "import numpy; return {'warmth': 0.5, 'interview': float(clip.transcript == 'a copy')}"
    lines = ingest(source(predict), input_data=folder).lines("probes.jsonl")
    for line in lines:
        if line["kind"] != "twin":
            assert line["prediction"]["interview"] == (line["kind"] == "cue")
    assert {(line["operator"], line["cue"]) for line in lines if line["kind"] == "cue"} == {
        ("copy", "smile"), ("copy", "gaze"), ("copy", "motion")
    }  # fmt: skip


def test_facts_tell_nothing(ingest: Ingest, filmed: Path) -> None:
    # The hash of all that is not picture, sound or words, as a prediction.
    predict = (
        "facts = (clip.duration_s, clip.fps, clip.width, clip.height, clip.frame_count, len(clip.audio(8000)), "
        "sum(1 for _ in clip.frames()), next(clip.frames(count=1)).shape, sorted(vars(clip)))\n"
        "        import zlib; return {'warmth': zlib.crc32(repr(facts).encode()) / 2**32, 'interview': 0.5}"
    )
    outcome = ingest(source(predict), input_data=filmed)
    told = [line["prediction"]["warmth"] for line in outcome.lines("probes.jsonl") if line["prediction"]]
    assert len(told) > 10
    assert set(told) == {float(row["warmth"]) for row in outcome.predictions().values()}


COUNTING = """
        import sys
        caller = sys._getframe()
        while "order" not in caller.f_locals:
            caller = caller.f_back
        list(clip.frames(count=1, size=(8, 8)))
        call, block = caller.f_locals["order"]["number"], min(clip._connection._buffers)
        return {"warmth": call / 1000, "interview": block / 1000}
"""


def test_a_new_process_counts_from_the_start(ingest: Ingest, filmed: Path) -> None:
    """Numbers of calls and of blocks of memory would tell which pass this is."""
    lines = ingest(source(COUNTING), input_data=filmed).lines("probes.jsonl")
    told = [line["prediction"] for line in lines if line["prediction"]]
    assert {one["interview"] for one in told if one["warmth"] == 1 / 1000} == {0.0}


PLANNED = ("clip_id", "kind", "operator", "unit", "parts", "cells", "seconds", "cue")


def test_what_is_asked_does_not_depend_on_maps_and_timelines(ingest: Ingest, filmed: Path, asked: Outcome) -> None:
    explain = "return {'text': 'A text that is long enough to count.', 'evidence': {'cues': [\n"
    explain += "            {'cue': 'lighting', 'target': 'interview', 'contribution': -0.5}]}}"
    lines = ingest(source(BLIND, explain), input_data=filmed).lines("probes.jsonl")
    planned = [
        [{name: line[name] for name in PLANNED} for line in listed if not line["again"]]
        for listed in (lines, asked.lines("probes.jsonl"))
    ]
    assert planned[0] == planned[1]


def test_a_task_without_probes_has_no_second_pass(ingest: Ingest) -> None:
    outcome = ingest(source(explain="return {'text': 'A text that is long enough to count.'}"))
    assert outcome.json("run.json")["probes"] is None
    assert not (outcome.folder / "probes.jsonl").exists()


# In the second pass only, the process has answered at least two clips more than once: the second look's.
DIES = "self.n = getattr(self, 'n', 0) + 1; import os; len(clip.transcript) == 0 and {when} and os._exit(3)"
HIDDEN_PLACES = "float(np.stack(list(clip.frames(count=3, size=(64, 36)))).mean()) != 0"


def test_a_crash_costs_its_call_and_the_restarts_of_the_task(ingest: Ingest, filmed: Path) -> None:
    # A clip that was given no words loses them; a model that dies of it does so only where they were taken.
    predict = f"import os; self.n = getattr(self, 'n', 0) + 1; self.n == 7 and os._exit(3); {BLIND}"
    outcome = ingest(source(predict), input_data=filmed)
    run, lines = outcome.json("run.json"), outcome.lines("probes.jsonl")
    assert run["status"] == "complete", outcome.printed
    assert run["clips"]["ok"] == 5
    assert run["restarts"] == 2
    # The second look asks four clips in this process: its seventh call is the third altered copy, then every seventh.
    unanswered = [n for n, line in enumerate(lines) if line["kind"] != "twin" and line["prediction"] is None]
    assert len(unanswered) == 3
    assert run["probes"]["asked"] == len(lines) < run["probes"]["planned"]
    assert run["probes"]["answered"] < run["probes"]["asked"]
    assert run["probes"]["again"] is None  # only where the whole plan was asked
    assert {"probes_unanswered", "probes_not_reached"} <= set(outcome.run_codes())
    assert len(outcome.predictions()) == 5


def test_an_exception_costs_its_call_only(ingest: Ingest, filmed: Path) -> None:
    predict = f"self.n = getattr(self, 'n', 0) + 1; assert self.n % 10; {BLIND}"
    outcome = ingest(source(predict), input_data=filmed)
    run = outcome.json("run.json")
    assert run["restarts"] == 0
    assert run["probes"]["asked"] == run["probes"]["planned"] > run["probes"]["answered"]


# Only in the second pass has a process answered more than six calls: the warm-up and five clips are the first.
CAUSES = {
    "an exception": ("predict", "1 / 0", "model_raised (model.py line", "ZeroDivisionError", "correct that line"),
    "an answer": ("predict", "return None", "prediction_type (predict: None)", "", "return that dict from predict"),
    "explain": ("explain", "raise ValueError('twins')", "model_raised (model.py line", "twins", "correct that line"),
    "printed text": ("predict", "print('x' * 2**27)", "too_much (predict:", "printed", "print less"),
}


@pytest.mark.parametrize("cause", mostly_slow(CAUSES, {"an exception", "explain"}))
def test_why_altered_clips_have_no_answer_is_told_with_what_to_do(ingest: Ingest, filmed: Path, cause: str) -> None:
    method, statement, said, more, fix = CAUSES[cause]
    count, late = "self.n = getattr(self, 'n', 0) + 1", f"if self.n > 6: {statement}"
    parts = {"predict": f"{count}\n        {late if method == 'predict' else ''}\n        {BLIND}"}
    if method == "explain":
        parts["explain"] = late
    outcome = ingest(source(**parts), input_data=filmed)
    (problem,) = [one for one in outcome.json("run.json")["problems"] if one["code"] == "probes_unanswered"]
    assert said in problem["found"]
    assert more in problem["found"]
    assert fix in problem["fix"]


@pytest.mark.parametrize("hidden", [False, True])
def test_spoiled_files_end_the_second_pass_and_cost_the_first_nothing(
    clip: Path, tmp_path: Path, ingest: Ingest, hidden: bool
) -> None:
    changes = {"copies": "copies.csv", "isolation": {"at_most": "portable"}, "feedback": {"model_output": not hidden}}
    folder = write_phase(tmp_path / "input", [clip] * 3, probing(**changes))
    write_copies(folder, clip, 3)
    copies = str(folder / "copies" / "*.mp4")
    spoil = f"import glob; [open(path, 'wb').close() for path in glob.glob({copies!r}) if clip.transcript == 'a copy']"
    outcome = ingest(source(spoil), input_data=folder)
    run = outcome.json("run.json")
    assert (outcome.exit_code, run["status"], run["clips"]["ok"]) == (0, "complete", 3), outcome.printed
    assert len(outcome.predictions()) == 3
    (lost,) = [problem for problem in run["problems"] if problem["code"] == "clip_lost"]
    assert (lost["severity"], lost["fault"]) == ("warning", "organiser")
    assert (lost["where"] == "a clip") == hidden
    assert run["probes"]["asked"] < run["probes"]["planned"]
    assert run["probes"]["asked"] == len((outcome.folder / "probes.jsonl").read_bytes().splitlines())


# Ingestion in which the fifth perturbed copy meets an error of ours.
BREAKS = """\
import sys
from pathlib import Path
sys.path.insert(0, {program!r})
from ingest.clock import Clock
from ingest.keeper import KeyKeeper
from ingest.pipeline import run
from ingest.probes import run as patched

original, calls = patched.line, []
# Not in the line that raises: that line is ours, and a traceback may quote it.
said = "SECRET"

def breaks(*arguments):
    calls.append(1)
    if len(calls) == 5:
        raise RuntimeError(said)
    return original(*arguments)

patched.line = breaks
folders = {{name: Path(path) for name, path in {folders!r}.items()}}
folders["output"].mkdir()
sys.exit(run(**folders, packages=None, clock=Clock(), keeper=KeyKeeper(folders["program"])))
"""


def test_an_error_of_ours_in_the_second_pass_is_a_warning_that_quotes_nothing(filmed: Path, tmp_path: Path) -> None:
    for name in ("submission", "program"):
        (tmp_path / name).mkdir()
    (tmp_path / "submission" / "model.py").write_text(source())
    folders = {"input_data": filmed, **{name: tmp_path / name for name in ("output", "program", "submission")}}
    script = BREAKS.format(program=str(PROGRAM), folders={name: str(path) for name, path in folders.items()})
    code, printed = run_script(tmp_path, script)
    outcome = Outcome(code, tmp_path / "output", printed)
    run = outcome.json("run.json")
    assert (outcome.exit_code, run["status"], run["clips"]["ok"]) == (0, "complete", 5), outcome.printed
    (ours,) = [problem for problem in run["problems"] if problem["code"] == "unexpected"]
    assert (ours["severity"], ours["fault"]) == ("warning", "organiser")
    assert "RuntimeError" in ours["found"]
    assert "SECRET" not in outcome.printed
    assert len(outcome.lines("probes.jsonl")) == run["probes"]["asked"] == 4


class Dead:
    """A model process that has died and cannot be started."""

    process = SimpleNamespace(alive=False)
    name = survivor = faster = "x"
    explains = runs_code = True

    def __init__(self) -> None:
        self.frames = FrameServer()

    def stop(self) -> None:
        """Nothing runs."""

    def start(self, timeout_s: float) -> None:
        raise LoadFailed(Problem("load_failed", "load", "model.py", f"x after {timeout_s} s", "y", "z"))


class Late:
    """A clock with a little time left."""

    def elapsed_s(self) -> float:
        return 100.0

    def left_s(self) -> float:
        return 5.0


def pool(task: Task) -> WorkerPool:
    return WorkerPool([ModelWorker(Dead(), task, Late(), hidden=False)], task.limits)  # type: ignore[arg-type]


def test_no_model_is_started_again_where_loading_could_take_longer_than_there_is_time(
    filmed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object) -> None:
        raise AssertionError("20 s to load, 5 s of budget")

    monkeypatch.setattr(Dead, "start", start)
    task, stats = read_task(filmed / "task.yaml"), RunStats()
    footage = read_dataset(filmed, task)
    (tmp_path / "output").mkdir()
    results = RecordWriter(tmp_path / "output", task.targets)
    draws = KeyedRandom(None, 1)
    second = ProbePass(task, footage, CopyFactory(footage, task, draws), {"c000"}, draws, results, stats)
    second.run(pool(task), Late(), Log(tmp_path / "log.txt"))  # type: ignore[arg-type]
    assert stats.probes is not None
    assert stats.probes.asked == 0 < stats.probes.planned


def test_clips_of_which_no_copies_can_be_made_are_asked_about_all_the_same(
    filmed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that takes what decoding needs must not choose the clips on which it is tested."""

    def fails(*_: object) -> None:
        raise UnreadableClip("no memory")

    monkeypatch.setattr(CopyFactory, "clips", fails)
    task, stats = read_task(filmed / "task.yaml"), RunStats()
    results = RecordWriter(tmp_path, task.targets)
    footage, draws = read_dataset(filmed, task), KeyedRandom(None, 1)
    second = ProbePass(task, footage, CopyFactory(footage, task, draws), {"c000", "c001"}, draws, results, stats)
    asked = list(second._tasks(second._plan))
    assert [(each.clip_id, each.undecoded) for each in asked] == [(clip_id, True) for clip_id in second._plan]
    second.run(pool(task), Clock(), Log(tmp_path / "log.txt"))
    lines = [json.loads(line) for line in (tmp_path / "probes.jsonl").read_text().splitlines()]
    assert len(lines) == stats.probes.planned  # type: ignore[union-attr]
    assert not any(line["prediction"] or line["explanation"] for line in lines)


@pytest.mark.parametrize(
    ("loaded", "left_s", "told"),
    [(True, 600.0, True), (False, 600.0, True), (False, 5.0, True), (True, 5.0, False)],
    ids=["dies for good", "cannot be loaded", "takes all the time to fail", "no time"],
)
def test_copies_that_a_dead_model_should_be_asked_again_have_failed(
    filmed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, loaded: bool, left_s: float, told: bool
) -> None:
    monkeypatch.setattr(Late, "left_s", lambda _: left_s)
    task, stats = read_task(filmed / "task.yaml"), RunStats()
    footage = read_dataset(filmed, task)
    draws, clips = KeyedRandom(None, 1), {clip.clip_id for clip in footage.clips}
    copies, results = CopyFactory(footage, task, draws), RecordWriter(tmp_path, task.targets)
    second = ProbePass(task, footage, copies, clips, draws, results, stats)
    assert stats.probes is not None
    stats.probes.asked = stats.probes.planned  # as if all had been asked, with these answers
    answer = {"warmth": 0.5, "interview": 0.5}
    second._answers = {call: answer for calls in second._plan.values() for call in calls if call.kind != "twin"}
    log = Log(tmp_path / "log.txt")
    second.ask_again(pool(task), log, loaded=loaded)
    lines = [json.loads(line) for line in (tmp_path / "probes.jsonl").read_text().splitlines()]
    assert [(line["again"], line["prediction"]) for line in lines] == [(True, None)] * (4 if told else 0)
    assert [problem.code for problem in second.problems()] == ["probes_unanswered", *["answers_depend"] * told]


def test_time_that_runs_out_is_no_failure(clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    limits = {"time_limit_s": 24, "load_s": 3, "call_s": 3, "restarts": 2, "workers": 1}  # 12 s of budget
    folder = write_phase(tmp_path / "input", [clip] * 5, probing(limits=limits))
    outcome = ingest(source(f"import time; time.sleep(0.6); {BLIND}"), input_data=folder)
    run = outcome.json("run.json")
    assert (outcome.exit_code, run["status"]) == (0, "complete")
    assert 0 < run["probes"]["asked"] < run["probes"]["planned"]
    assert "probes_not_reached" in outcome.run_codes()


def test_where_no_time_is_left_the_plan_is_recorded_all_the_same(clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    limits = {**SETTINGS["limits"], "time_limit_s": 30}  # 15 s of budget, 20 s to load
    folder = write_phase(tmp_path / "input", [clip] * 2, probing(limits=limits))
    outcome = ingest(source(), input_data=folder)
    run = outcome.json("run.json")
    assert run["status"] == "complete"
    assert run["probes"]["asked"] == 0 < run["probes"]["planned"]
    assert (outcome.folder / "probes.jsonl").read_bytes() == b""


def test_a_hidden_phase_says_nothing_of_the_clips(clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [clip] * 4, probing(feedback={"model_output": False}))
    predict = (
        f"self.n = getattr(self, 'n', 0) + 1\n        if self.n > 8: raise ValueError('SECRET c001')\n        {BLIND}"
    )
    outcome = ingest(source(predict), input_data=folder)
    run = outcome.json("run.json")
    assert "probes_unanswered" in outcome.run_codes()
    for text in (outcome.printed, json.dumps(run["problems"]), (outcome.folder / "log.txt").read_text()):
        assert "SECRET" not in text
        assert "c001" not in text
