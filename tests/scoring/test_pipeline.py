"""The whole program: what a run is worth, and what no run may do."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from score.columns import columns
from score.settings import read_settings
from tests import ROOT
from tests.scoring.conftest import Score
from tests.scoring.factory import NAMES, TRAITS, full_explanation, known_causes, make_case, make_input, write_manifest

KEYS = [
    "explanation",
    "faithfulness_space",
    "faithfulness_time",
    "cue_claims",
    "known_causes",
    "text",
    "skill",
    "coverage",
    "interview_accuracy",
    "interview_ccc",
    "traits_accuracy",
    "traits_ccc",
    "failed_clips",
    "duration_s",
    "plausibility",
    "jury",
    "not_comparable",
]


def test_runs_as_the_worker_runs_it(tmp_path: Path) -> None:
    make_input(tmp_path / "input", make_case())
    command = yaml.safe_load((ROOT / "scoring_program" / "metadata.yaml").read_text())["command"].split()
    places = {"/app/program/scoring.py": ROOT / "scoring_program/scoring.py", "/app/input/": tmp_path / "input"}
    places["/app/output/"] = tmp_path / "output"
    words = [sys.executable if word == "python3" else str(places[word]) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
    names = {path.name for path in (tmp_path / "output").iterdir()}
    assert names == {"scores.json", "scores.txt", "detailed_results.html"}  # above all no file "metadata"


def test_scores_are_exactly_the_columns(score: Score, tmp_path: Path) -> None:
    done = score(make_case())
    assert done.code == 0
    assert list(done.scores) == KEYS
    registry = columns(read_settings(tmp_path / "input" / "ref" / "task.yaml"))
    assert [column.key for column in registry] == KEYS
    assert all(len(column.title) <= 36 for column in registry)
    text = dict(line.split(": ") for line in (done.out / "scores.txt").read_text().splitlines())
    assert {key: float(value) for key, value in text.items()} == done.scores


AXES = ("faithfulness_space", "faithfulness_time", "cue_claims", "known_causes", "text")


def test_a_perfect_run_has_the_best_of_everything(score: Score) -> None:
    case = make_case(clips=24)
    case.prediction = case.truth
    scores = score(case).scores
    assert {key for key in KEYS if scores[key] == 1} >= {
        *("interview_accuracy", "interview_ccc", "traits_accuracy", "traits_ccc", "skill", "coverage")
    }
    assert scores["known_causes"] > 0.95  # the texts leave the least of the causes out
    assert scores["faithfulness_space"] > 0.75
    assert scores["faithfulness_time"] > 0.65
    assert scores["cue_claims"] > 0.85


def test_without_known_causes_their_weight_is_shared_out(score: Score) -> None:
    case = make_case(clips=24)
    case.settings["skill_reference"] = {}
    del case.settings["causes"]
    scores = score(case).scores
    weights = dict(zip(AXES, (0.21, 0.16, 0.37, 0.0, 0.05), strict=True))
    mean = (sum(weight * scores[name] ** 0.5 for name, weight in weights.items() if weight) / 0.79) ** 2
    assert "known_causes" not in scores
    assert scores["explanation"] == pytest.approx(100 * scores["coverage"] * scores["skill"] * mean, abs=0.02)


def test_without_a_second_pass_nothing_is_shown(score: Score) -> None:
    case = make_case()
    case.probes = None
    done = score(case)
    assert done.code == 0
    assert [done.scores[key] for key in AXES if key != "known_causes"] == [0, 0, 0, 0]
    assert done.scores["known_causes"] > 0.5


def test_the_constant_has_neither_skill_nor_explanation(score: Score) -> None:
    case = make_case()
    case.prediction = np.full_like(case.truth, 0.5)
    scores = score(case).scores
    assert (scores["skill"], scores["interview_ccc"], scores["explanation"]) == (0, 0, 0)


def test_when_everything_fails_everything_is_worst(score: Score) -> None:
    done = score(make_case(clips=4, statuses=["failed", "not_reached", "missing", "failed"]))
    assert done.code == 0
    assert done.scores == {
        "explanation": 0,
        "interview_accuracy": 0,
        "interview_ccc": -1,
        "traits_accuracy": 0,
        "traits_ccc": -1,
        "skill": -1,
        **dict.fromkeys((*AXES, "coverage", "plausibility", "jury", "not_comparable"), 0),
        "failed_clips": 4,
        "duration_s": 31.2,
    }
    assert "4 of 4 clips failed: fix the problems" in done.page


@pytest.mark.parametrize("status", ["failed", "not_reached", "missing"])
def test_failing_a_clip_lowers_every_score(score: Score, status: str) -> None:
    case = make_case()
    before = score(case).scores
    case.statuses[5] = status
    after = score(case).scores
    assert after.pop("failed_clips") == 1
    assert after.pop("duration_s") == before["duration_s"]
    nothing = ("text", "plausibility", "jury", "not_comparable")  # all 0 in this case
    assert all(after[key] < before[key] for key in after if key not in nothing)


def test_the_order_of_rows_changes_nothing(score: Score) -> None:
    case = make_case(clips=9)

    def shuffle(root: Path) -> None:
        for name in (
            "ref/labels.csv",
            "res/predictions.csv",
            "res/explanations.jsonl",
            "res/clips.jsonl",
            "res/probes.jsonl",
        ):
            head, *lines = (root / name).read_text().splitlines(keepends=True)
            lines = lines if name.endswith("csv") else [head, *lines]
            (root / name).write_text((head if name.endswith("csv") else "") + "".join(reversed(lines)))
        write_manifest(root / "res")

    first = score(case)
    second = score(case, shuffle)
    assert first.scores == second.scores
    assert first.page == second.page


def test_more_clips_of_the_same_people_make_nothing_surer(score: Score) -> None:
    """Every clip twice, under the same source: neither a score nor an interval may move."""
    case = make_case(clips=10, sources=[f"p{number}" for number in range(10)])
    case.probes = None  # what masks do differs from clip to clip, whoever is in it
    case.causes = alike
    once = score(case)
    twice = make_case(np.tile(case.truth, (2, 1)), np.tile(case.prediction, (2, 1)), sources=case.sources * 2)
    twice.probes, twice.causes = None, alike
    again = score(twice)
    intervals = [re.findall(r"<td>[\d.−]+ to [\d.−]+</td>", done.page) for done in (once, again)]
    assert len(intervals[0]) > 13
    assert (intervals[0], once.scores) == (intervals[1], again.scores)


def test_a_change_of_range_changes_nothing(score: Score) -> None:
    case = make_case()
    before = score(case)
    for target in case.settings["targets"]:
        target.update(minimum=-3.0, maximum=7.0, constant=2.0)
    case.truth, case.prediction = case.truth * 10 - 3, case.prediction * 10 - 3
    case.settings["skill_reference"] = dict.fromkeys(NAMES, 0.35)
    case.causes = lambda clip_ids: scaled(known_causes(clip_ids), 10)
    assert score(case).scores == before.scores


def scaled(causes: dict[str, Any], factor: float) -> dict[str, Any]:
    for clip in causes["clips"].values():
        for cues in clip["contributions"].values():
            cues.update({cue: value * factor for cue, value in cues.items()})
    return causes


def alike(clip_ids: Sequence[str]) -> dict[str, Any]:
    """Causes that have no place, the same for each clip."""
    content = known_causes(clip_ids)
    same = {name: {"smile": 0.0} for name in NAMES}
    return content | {"clips": {clip_id: {"contributions": same} for clip_id in clip_ids}}


def test_unreadable_clips_are_left_out_for_everybody(score: Score) -> None:
    case = make_case(clips=8)
    whole = score(case).scores
    extra = make_case(
        truth=np.vstack([case.truth, np.full((1, 6), 0.9)]),
        prediction=np.vstack([case.prediction, np.full((1, 6), 0.1)]),
        statuses=["ok"] * 8 + ["unreadable"],
    )
    done = score(extra)
    assert done.scores == whole
    assert "clips_undecodable" in done.log
    assert "1 clips could not be decoded" in done.page


# clips with text only, text and picture, everything, no valid text: 3 of 4
def test_coverage_by_hand(score: Score) -> None:
    case = make_case(clips=4)
    parts: dict[str, dict[str, Any]] = {
        case.clip_ids[0]: {"image": None, "evidence": None},
        case.clip_ids[1]: {"evidence": {"space": None, "time": None, "cues": None}},
        case.clip_ids[2]: {},
        case.clip_ids[3]: {"text": "too short"},
    }
    case.explain = lambda clip_id: full_explanation(clip_id) | parts[clip_id]
    assert score(case).scores["coverage"] == 0.75


@pytest.mark.parametrize(
    "evidence",
    [
        {"space": {"rows": 2, "columns": 2, "weights": [[[1, 1], [1, 1]]]}},
        {"space": {"rows": 2, "columns": 2, "weights": [[[1, 0], [0, -1]]]}},
        {"space": {"rows": 3, "columns": 2, "weights": [[[1, 0], [0, 1]]]}},
        {"space": {"rows": 1, "columns": 2, "weights": [[[1, 1e999]]]}},
        {"time": {"bin_s": 1.0, "weights": [0, 0, 0]}},
        {"time": {"bin_s": 0, "weights": [0, 1, 0]}},
        {"time": {"bin_s": 1.0, "weights": ["a"]}},
        {"cues": [{"cue": "smile", "target": "interview", "contribution": 0}]},
        {"cues": [{"cue": "smile", "target": "luck", "contribution": 0.4}]},
        {"cues": [{"cue": "smile", "target": "interview", "contribution": 1.4}]},
        {"cues": ["smile"]},
        "text",
        [],
    ],
)
def test_evidence_that_says_nothing_does_not_count(score: Score, evidence: object) -> None:
    case = make_case(clips=2)
    case.prediction, case.probes = case.truth, None
    text = "Nothing in this clip is worth a word to anybody."
    case.explain = lambda clip_id: full_explanation(clip_id) | {"text": text, "evidence": evidence}

    def infinite(root: Path) -> None:  # json.dumps writes Infinity, a strict reader refuses it: write 1e999 instead
        for path in (root / "res" / "explanations.jsonl", root / "res" / "repeats.jsonl"):
            path.write_text(path.read_text().replace("Infinity", "1e999"))
        write_manifest(root / "res")

    done = score(case, infinite)
    assert done.code == 0, done.log
    assert (done.scores["coverage"], done.scores["known_causes"], done.scores["explanation"]) == (1, 0, 0)


def test_a_task_without_a_group_has_no_group_columns(score: Score) -> None:
    case = make_case()
    del case.settings["group"]
    assert list(score(case).scores) == [key for key in KEYS if not key.startswith("traits")]


def test_no_target_is_known_to_the_program() -> None:
    program = ROOT / "scoring_program" / "score"
    paths = [path for path in program.rglob("*.*") if path.suffix != ".pyc" and "text" not in path.parts]
    text = "".join(path.read_text().lower() for path in paths)  # only the lexicon knows words for targets
    assert [name for name in (*TRAITS, "interview") if name in text] == []


def test_one_source_means_no_interval(score: Score) -> None:
    done = score(make_case(clips=3, sources=["one"] * 3))
    assert done.code == 0
    assert "No intervals" in done.page


def test_old_results_do_not_survive_a_failure(score: Score) -> None:
    assert score(make_case()).code == 0
    done = score(make_case(), lambda root: (root / "res" / "manifest.json").unlink())
    assert done.code == 1
    assert sorted(path.name for path in done.out.iterdir()) == ["detailed_results.html"]


@pytest.mark.parametrize("clips", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_many_clips_need_little_memory_and_five_megabytes(tmp_path: Path, clips: int) -> None:
    case = make_case(
        clips=clips,
        bootstrap={"resamples": 1000, "level": 0.95, "seed": 1},
        report={"clips": True, "truth": True, "gallery": 24},
    )
    case.explain = lambda clip_id: full_explanation(clip_id) | {"text": "&<>'" * 300}
    make_input(tmp_path / "input", case)
    # Of this process alone: the system's other count starts at the peak of whoever started it.
    peak = "sum(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    program = (
        "import os, sys; from score.pipeline import main; code = main(sys.argv[1:]);"
        f"print(code, {peak} / 1024 if os.path.exists('/proc/self/status') else 0);"
        "print('pandas' in sys.modules, 'sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "input"), str(tmp_path / "output")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "scoring_program",
    )
    facts, modules = done.stdout.splitlines()[-2:]
    code, mebibytes = (float(word) for word in facts.split())
    assert code == 0
    assert mebibytes < 600
    assert modules == "False False"
    assert (tmp_path / "output" / "detailed_results.html").stat().st_size < 5_000_000
