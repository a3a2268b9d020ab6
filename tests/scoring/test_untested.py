"""Clips without exchanges or cue edits: they count for the rest, and are left out of what they cannot be tested on."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.axes.table import power_mean
from score.evaluate import Evaluation
from score.settings import AXES, ExplanationScore
from tests.scoring.factory import Case, honest_probes, make_case
from tests.scoring.pages import page_of, scored_of
from tests.scoring.test_report_scores import screen

KINDS = {"exchanges": ("unit", ("faithfulness_space", "faithfulness_time")), "edits": ("cue", ("cue_claims",))}
CLOSED = {"clips": False, "truth": False, "gallery": 0}


def untested(what: str, count: int, **settings: Any) -> Case:  # noqa: ANN401 - any settings key
    """Return a run in which the first clips have no exchanges or no edits."""
    case = make_case(clips=12, **settings)
    ids, kind = case.clip_ids[:count], KINDS[what][0]
    calls = [call for call in honest_probes(case) if call["clip_id"] not in ids or call["kind"] != kind]
    return replace(case, probes=lambda _: calls, run={"untested": {what: ids}})


def only_last(case: Case, first: int) -> Case:
    """Return the same run without its first clips."""
    calls = [call for call in case.probes(case) if call["clip_id"] not in case.clip_ids[:first]] if case.probes else []
    kept = {name: getattr(case, name)[first:] for name in ("truth", "prediction", "clip_ids", "sources", "statuses")}
    return replace(case, probes=lambda _: calls, **kept)


def numbers(folder: Path, case: Case) -> tuple[dict[str, float], Evaluation]:
    evaluation = scored_of(folder, case).evaluation
    return {column.key: estimate.value for column, estimate in evaluation.columns}, evaluation


@pytest.mark.parametrize("what", KINDS)
def test_an_axis_is_that_of_the_clips_that_can_be_tested(what: str, tmp_path: Path) -> None:
    case = untested(what, 4)
    some, evaluation = numbers(tmp_path / "some", case)
    rest, _ = numbers(tmp_path / "rest", only_last(case, 4))
    as_failing, _ = numbers(tmp_path / "failing", replace(case, run={}))
    for axis in KINDS[what][1]:
        assert some[axis] == pytest.approx(rest[axis])
        assert some[axis] > as_failing[axis] + 0.05
    other = {axis for axis in AXES if axis not in KINDS[what][1]}
    assert {axis: some[axis] for axis in other} == {axis: as_failing[axis] for axis in other}
    assert evaluation.left_out == frozenset()
    clips = dict(zip(sorted(case.clip_ids), evaluation.clips, strict=True))
    for clip_id in case.clip_ids[:4]:
        assert not {*KINDS[what][1]} & {*clips[clip_id].axes}  # type: ignore[union-attr]
    (count,) = [one.value for one in evaluation.diagnostics if one.title.startswith("Clips without")]
    assert count == 4


@pytest.mark.parametrize("what", KINDS)
def test_an_axis_that_no_clip_can_be_tested_on_is_neither_best_nor_worst(what: str, tmp_path: Path) -> None:
    every, evaluation = numbers(tmp_path, untested(what, 12))
    missing = frozenset(KINDS[what][1])
    assert evaluation.left_out == missing
    axes = {name: np.array(every[name]) for name in AXES}
    mean = float(power_mean(axes, ExplanationScore(), missing))
    assert every["explanation"] / every["coverage"] / mean <= 100 + 1e-9
    assert every["explanation"] > 100 * every["coverage"] * float(power_mean(axes, ExplanationScore(), frozenset()))
    baseline = next(estimate.baseline for column, estimate in evaluation.columns if column.key == "explanation")
    assert baseline == 0
    closed = scored_of(tmp_path / "closed", untested(what, 12, report=CLOSED)).evaluation
    assert closed.left_out == missing


def test_the_report_says_how_many_and_names_clips_only_where_it_may(tmp_path: Path) -> None:
    case = untested("exchanges", 3)
    ours, closed = (
        screen(tmp_path / str(number), one).verdict
        for number, one in enumerate((case, untested("exchanges", 3, report=CLOSED)))
    )
    said = "3 of 12 clips have no exchanges and are left out of faithfulness"
    assert any(re.fullmatch(f"{said}: (c[0-9a-f]+(, )?){{3}}\\.", sentence) for sentence in ours)
    assert f"{said}." in closed
    assert not any(clip in sentence for clip in case.clip_ids for sentence in closed)
    every = " ".join(screen(tmp_path / "every", untested("exchanges", 12)).verdict)
    assert "leaves out Faithfulness in space and Faithfulness in time" in every
    assert "bundle data exchanges" in every
    assert "left out" not in " ".join(screen(tmp_path / "usual", make_case()).verdict)


@pytest.mark.parametrize("what", KINDS)
def test_the_page_shows_clips_without_a_value(what: str, tmp_path: Path) -> None:
    page = page_of(tmp_path, untested(what, 5))
    assert "internal_error" not in page.text
    assert "left out of" in page.text
