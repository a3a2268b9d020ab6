"""Models that behave until they are asked about altered copies: what they do costs them, and nobody and nothing else.

Every model here answers the clips themselves honestly, so its predictions and texts must be those of the honest run in
every byte, whatever it does afterwards; and no misbehaviour may earn more on an axis than honesty does.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import mostly_slow
from tests.hostile.cases import CASES
from tests.hostile.stage import LIMITS, Played, Scored, Stage, play, score, set_stage
from tests.hostile.test_corpus import check_what_never_happens
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import SETTINGS, write_phase

CLIPS = 4
FRAMES = 66
"""Of the first clip; each further one has three more."""
CUES = ["lighting", "words", "voice", "motion"]
AXES = ("explanation", "faithfulness_space", "faithfulness_time", "cue_claims", "text")
PROBES: dict[str, Any] = {
    "edits": 3,
    "jitter": {"gain": 0.01, "shift_px": 2, "frames": 1},
}
MODEL = """\
import os, sys, time
import numpy as np
from honest import Escaped, Honest

class Model(Honest):
    calls = 0
    streak = 0  # predictions since the last explanation: more than three happen in the second pass alone

    def predict(self, clip):
        frames = np.stack(list(clip.frames(count=4, size=(32, 18)))).mean(axis=3) / 255
        answer = {{"warmth": float(frames[:, :, :16].mean()), "interview": float(frames.mean())}}
        which = (clip.frame_count - {frames}) // 3
        self.calls += 1
        self.streak += 1
        {always}
        if self.streak > 3:
            {altered}
        return answer

    def explain(self, clip, prediction):
        altered, self.streak = self.streak > 3, 0
        which = (clip.frame_count - {frames}) // 3
        frames = np.stack(list(clip.frames(count=3, size=(32, 18)))).mean(axis=3)
        cues = [{{"cue": "lighting", "target": name, "contribution": 0.2}} for name in ("warmth", "interview")]
        evidence = {{"space": frames.mean(axis=0) + np.arange(32), "time": [0.2, 0.5, 0.1], "cues": cues}}
        answer = {{
            "text": "The interview score is high. The bright light raised the interview score.",
            "image": None,
            "evidence": evidence,
        }}
        {told}
        return answer
"""


@dataclass(frozen=True)
class Trick:
    """What a model does in the second pass, and how that ends."""

    altered: str = "pass"
    """On most calls of the second pass."""
    told: str = "pass"
    """In every explanation."""
    always: str = "pass"
    """In every prediction."""
    code: str = ""
    """The warning of the run; none where it is empty."""
    lost: str = ""
    """``some``: calls without a valid answer; ``rest``: calls that were not reached."""
    same: bool = True
    """Whether predictions and explanations are those of the honest run."""


TRICKS = {
    "raises": Trick("raise ValueError('altered')", code="probes_unanswered", lost="some"),
    "ends": Trick("os._exit(3)", code="probes_not_reached", lost="rest"),
    "hangs": Trick("time.sleep(1000)", code="probes_not_reached", lost="rest"),
    "not_a_number": Trick("answer['interview'] = float('nan')", code="probes_unanswered", lost="some"),
    "forgets_a_target": Trick("del answer['warmth']", code="probes_unanswered", lost="some"),
    "returns_nothing": Trick("return None", code="probes_unanswered", lost="some"),
    "answers_otherwise": Trick(
        "answer['interview'] = answer['warmth'] = 0.001 * (self.calls % 900)", code="answers_depend"
    ),
    "prints": Trick("print('x' * 1_000_000); print('\\x1b[31mred', file=sys.stderr)"),
    "remembers_on_disk": Trick(
        "open('seen', 'a').write('x'); self.wrote = True",
        always="if os.path.exists('seen') and not hasattr(self, 'wrote'): raise Escaped('a file of another process')",
    ),
    "explains_by_an_error": Trick(told="if altered: raise ValueError('twin')", same=False),
    "enormous_map": Trick(told="evidence['space'] = np.ones((3000, 3000)) * 1e300", same=False),
    "constant_map": Trick(told="evidence['space'] = np.ones((9, 16))", same=False),
    "map_of_nothing": Trick(told="evidence['space'] = np.full((9, 16), np.nan)", same=False),
    "constant_time": Trick(told="evidence['time'] = [1.0, 1.0, 1.0]", same=False),
    "no_evidence": Trick(told="answer['evidence'] = None", same=False),
    "counts_its_calls": Trick(
        always="answer['interview'] = min(1.0, answer['interview'] + 0.01 * (self.calls % 7))", code="answers_depend",
        same=False,
    ),
}  # fmt: skip
TOGETHER = (
    ("raises", "not_a_number", "forgets_a_target", "returns_nothing"),
    ("explains_by_an_error", "enormous_map", "constant_map", "map_of_nothing"),
    ("constant_time", "no_evidence", "counts_its_calls"),
    ("answers_otherwise", "remembers_on_disk", "prints"),
)
"""Tricks that cost nothing but what they spoil: they share a run, each on a clip of its own."""
RUNS: list[tuple[str, ...]] = [*TOGETHER, *((name,) for name in TRICKS if not any(name in names for names in TOGETHER))]


@pytest.fixture(scope="session")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of almost three seconds, each of another length."""
    folder = tmp_path_factory.mktemp("filmed")
    form = Format(width=64, height=36)
    clips = [write_clip(folder / f"{number}.mp4", FRAMES + 3 * number, form) for number in range(CLIPS)]
    phase = write_phase(folder / "phase", clips)
    (phase / "exchanges").mkdir()
    entries = {}
    for number in range(CLIPS):
        name = f"exchanges/{number}.mp4"
        second = write_clip(phase / name, FRAMES + 3 * number, Format(width=64, height=36, grey=240))
        parts = [
            {"name": part, "outline": [[x, 4], [x + 20, 4], [x + 20, 30], [x, 30]], "event_s": [time, time + 0.5]}
            for part, x, time in (("mouth", 4, 0.2), ("eyes", 36, 1.2))
        ]
        digest = hashlib.sha256(second.read_bytes()).hexdigest()
        entries[f"c{number:03d}"] = {"file": name, "sha256": digest, "parts": parts}
    (phase / "exchanges.json").write_text(json.dumps({"format_version": 2, "clips": entries}))
    words = {f"c{number:03d}": "one two three four five six" for number in range(CLIPS)}
    (phase / "transcripts.json").write_text(json.dumps(words))
    return phase


def source(tricks: Sequence[Trick]) -> str:
    """Return a model that plays one trick on all clips, or each on a clip of its own."""

    def chosen(statements: list[str], indent: int) -> str:
        if len(statements) == 1:
            return statements[0]
        blocks = [f"if which == {number}:\n{' ' * indent}    {text}" for number, text in enumerate(statements)]
        return f"\n{' ' * indent}".join(blocks)

    altered = chosen([trick.altered for trick in tricks], 12)
    told = chosen([trick.told for trick in tricks], 8)
    always = chosen([trick.always for trick in tricks], 8)
    return MODEL.format(altered=altered, told=told, always=always, frames=FRAMES)


def stage_for(app: Path, phase: Path, *tricks: Trick) -> Stage:
    stage = set_stage(app, phase, CASES["honest_model"])
    evidence = {"grid": {"rows": 9, "columns": 16}, "cues": CUES}
    settings = {
        **SETTINGS,
        "limits": {**LIMITS, "load_s": 10, "call_s": 2, "restarts": 1},
        "explanation": {**SETTINGS["explanation"], "evidence": evidence},
        "probes": PROBES,
        "exchanges": "exchanges.json",
    }
    (app / "input_data" / "task.yaml").write_text(yaml.safe_dump(settings))
    for folder in (app / "ingested_program", stage.output):
        (folder / "model.py").write_text(source(tricks))
    return stage


def judged(stage: Stage, folder: Path) -> Scored:
    scored = score(stage, folder)
    assert "Traceback" not in scored.printed
    assert scored.exit_code == 0, scored.printed
    assert scored.scores is not None
    return scored


@pytest.fixture(scope="session")
def honest(filmed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Scored]:
    folder = tmp_path_factory.mktemp("honest-probes")
    stage = stage_for(folder / "app", filmed, Trick())
    outcome = play(stage)
    probes = outcome.json("run.json")["probes"]
    assert probes["planned"] == probes["asked"] == probes["answered"] > 6 * CLIPS, outcome.printed
    assert outcome.json("run.json")["problems"] == []
    return outcome, judged(stage, folder / "scoring")


@pytest.mark.parametrize("names", mostly_slow(map(" ".join, RUNS), map(" ".join, (TOGETHER[0], ("hangs",)))))
def test_misbehaving_on_altered_clips(names: str, filmed: Path, honest: tuple[Played, Scored], tmp_path: Path) -> None:
    tricks = [TRICKS[name] for name in names.split()]
    stage = stage_for(tmp_path / "app", filmed, *tricks)
    before = stage.snapshot()
    outcome = play(stage)
    check_what_never_happens(stage, before, outcome)
    same = all(trick.same for trick in tricks)
    check_run(tricks, outcome, honest[0], same=same)
    for number, trick in enumerate(tricks):
        clips = [f"c{number:03d}"] if len(tricks) > 1 else [f"c{every:03d}" for every in range(CLIPS)]
        check_calls(trick, clips, outcome, honest[0])
    scored = judged(stage, tmp_path / "scoring")
    assert scored.scores is not None
    assert honest[1].scores is not None
    assert scored.page.count("<script") == honest[1].page.count("<script")  # the page's own
    calls = outcome.lines("probes.jsonl")
    failed = {
        call["clip_id"]
        for call in calls
        if not call["again"] and call["kind"] == "original" and call["prediction"] is None
    }
    assert scored.scores["failed_clips"] == len(failed)  # what cannot be tested has no prediction that counts
    if same and not any(trick.lost or trick.code for trick in tricks):
        for column in ("interview_accuracy", "skill", "coverage"):
            assert scored.scores[column] == honest[1].scores[column]
    if all(trick.lost for trick in tricks):
        assert all(scored.scores[axis] <= honest[1].scores[axis] + 1e-9 for axis in AXES)


def check_run(tricks: Sequence[Trick], outcome: Played, honest: Played, *, same: bool) -> None:
    run = outcome.json("run.json")
    assert (run["status"], outcome.exit_code) == ("complete", 0), outcome.printed
    assert run["clips"]["ok"] == CLIPS
    if same:
        for name in ("predictions.csv", "explanations.jsonl"):
            assert (outcome.folder / name).read_bytes() == (honest.folder / name).read_bytes()
    codes = {problem["code"] for problem in run["problems"]}
    assert all(problem["severity"] == "warning" for problem in run["problems"])
    assert {trick.code for trick in tricks if trick.code} <= codes, outcome.printed
    assert len(outcome.printed) < 200_000
    probes, recorded = run["probes"], outcome.lines("probes.jsonl")
    lines = [line for line in recorded if not line["again"]]
    assert len(recorded) - len(lines) == (probes["again"] or {"clips": 0})["clips"] <= CLIPS
    assert probes["asked"] == len(lines) <= probes["planned"] <= 9 * CLIPS
    assert (probes["asked"] < probes["planned"]) == any(trick.lost == "rest" for trick in tricks)
    assert probes["answered"] == sum(map(answered, lines))


def answered(line: dict[str, Any]) -> bool:
    return line["prediction"] is not None or line["explanation"] is not None


def check_calls(trick: Trick, clips: Sequence[str], outcome: Played, honest: Played) -> None:
    """Look at what a trick costs the clips that it is played on."""
    lines, usual = (
        [line for line in run.lines("probes.jsonl") if line["clip_id"] in clips] for run in (outcome, honest)
    )
    again = [line for line in lines if line["again"]]
    lines, usual = ([line for line in listed if not line["again"]] for listed in (lines, usual))
    if trick.lost != "rest":  # whatever is answered or explained, the same is asked
        asked = [
            [(line["kind"], line["unit"], line["parts"], line["cells"]) for line in listed] for listed in (lines, usual)
        ]
        assert sorted(asked[0], key=str) == sorted(asked[1], key=str)
    for line in lines:
        assert line["prediction"] is None or set(line["prediction"]) == {"warmth", "interview"}
        assert line["prediction"] is None or all(0 <= value <= 1 for value in line["prediction"].values())
    if trick.lost == "some":
        assert len(lines) == len(usual)
        assert not all(map(answered, lines))
    elif trick.told == "pass" and trick.lost != "rest":
        assert again
        assert all(map(answered, [*lines, *again])), outcome.printed


def test_what_it_prints_in_the_second_pass_of_a_hidden_phase_stays_inside(filmed: Path, tmp_path: Path) -> None:
    trick = Trick("print('secret-of-a-clip', clip.frame_count); raise ValueError('secret-of-a-clip')")
    stage = stage_for(tmp_path / "app", filmed, trick)
    path = stage.app / "input_data" / "task.yaml"
    settings = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**settings, "feedback": {"model_output": False}}))
    outcome = play(stage)
    assert outcome.json("run.json")["probes"]["answered"] < outcome.json("run.json")["probes"]["asked"]
    texts = [outcome.printed, *(p.read_text("utf-8", "replace") for p in stage.output.rglob("*") if p.is_file())]
    assert not any("secret-of-a-clip" in text for text in texts)
    shutil.rmtree(stage.app / "work")
