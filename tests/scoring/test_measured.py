"""Runs with a second pass, known causes and observations, from the files to the columns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.evaluate import clip_scores, column_values, evaluate
from score.metrics import resample_weights
from score.pipeline import prepare
from tests.scoring.conftest import Score
from tests.scoring.factory import Case, World, full_explanation, honest_probes, make_case, make_input, world
from tests.scoring.pages import HIDDEN
from tests.scoring.spoil import edit_records


def telling_case(clips: int = 24, text: Callable[[World, str], str] | None = None) -> Case:
    """Perfect predictions, so that a level can be stated, and texts made by ``text``."""
    case = make_case(clips=clips)
    case.prediction = case.truth = np.full_like(case.truth, 0.8) - np.linspace(0, 0.2, clips)[:, None]

    def explain(clip_id: str) -> dict[str, Any]:
        said = full_explanation(clip_id)
        return said | {"text": text(world(clip_id), said["text"])} if text else said

    def probes(of: Case) -> list[dict[str, Any]]:
        calls = honest_probes(of)
        for call in calls:
            if call["kind"] == "twin":
                call["explanation"]["text"] = explain(call["clip_id"])["text"]
        return calls

    case.explain, case.probes = explain, probes
    return case


LEVEL = "The interview score is high. "


def test_an_honest_text_has_nearly_everything(score: Score) -> None:
    assert score(telling_case(text=lambda _, said: LEVEL + said)).scores["text"] > 0.9


@pytest.mark.parametrize(
    "text",
    [
        lambda _, said: said,  # no level
        lambda _, said: "The interview score is low. " + said,  # the wrong one
        lambda _, said: LEVEL + said + " <a href='https://example.org'>here</a>",
        lambda *_: LEVEL + "The smile raised the interview score.",  # the same for all clips
        lambda true, _: LEVEL + f"This is clip number {abs(hash(str(true.space))) % 97} of the set.",
        lambda *_: LEVEL + "The person seems nice, warm and well prepared for the meeting.",
    ],
)
def test_texts_that_are_worth_nothing(score: Score, text: Callable[[World, str], str]) -> None:
    assert score(telling_case(text=text)).scores["text"] == 0


def test_a_text_against_the_own_evidence_costs_the_claims(score: Score) -> None:
    def turned(_: World, said: str) -> str:
        return LEVEL + said.replace("raised", "LOW").replace("lowered", "raised").replace("LOW", "lowered")

    honest = score(telling_case(text=lambda _, said: LEVEL + said)).scores
    liar = score(telling_case(text=turned)).scores
    assert liar["text"] == 0
    assert liar["cue_claims"] < honest["cue_claims"] / 1.5  # the main target's claims are gone


def test_claims_in_the_text_alone_are_enough(score: Score) -> None:
    case = telling_case(text=lambda _, said: LEVEL + said)
    whole = case.explain
    case.explain = lambda clip_id: (whole(clip_id) or {}) | {"evidence": None}
    case.probes = lambda of: [call for call in honest_probes(of) if call["kind"] in ("original", "cue")]
    scores = score(case).scores
    assert scores["faithfulness_space"] == scores["faithfulness_time"] == 0
    assert scores["cue_claims"] > 0.3  # of the half of the clips that are judged on the main target


def test_claims_about_other_clips_are_worth_little(score: Score) -> None:
    case = telling_case()
    ids = case.clip_ids
    following = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
    case.explain = lambda clip_id: full_explanation(following[clip_id]) | {"image": None}
    case.probes = lambda of: [call for call in honest_probes(of) if call["kind"] in ("original", "cue")]
    scores = score(case).scores
    assert scores["cue_claims"] < 0.2
    assert scores["known_causes"] < 0.3


def test_known_causes_count_where_the_clip_was_predicted_well(score: Score) -> None:
    case = telling_case()
    whole = score(case).scores["known_causes"]
    case.prediction = case.prediction.copy()
    case.prediction[::2] -= 0.3
    assert whole > 0.95
    assert score(case).scores["known_causes"] == pytest.approx(whole / 2, abs=0.01)


def test_plausibility_by_hand(score: Score) -> None:
    case = telling_case(clips=4)
    case.settings["observations"] = "observations.json"
    clips = {}
    for clip_id in case.clip_ids[:3]:  # nobody pointed at anything in the fourth
        rows, columns = np.nonzero(world(clip_id).space)
        box = [columns.min() / 16, rows.min() / 9, (columns.max() + 1) / 16, (rows.max() + 1) / 9]
        second = int(world(clip_id).time.argmax())
        clips[clip_id] = [{"start_s": second, "end_s": second + 1.0, "box": [float(end) for end in box]}]
    case.observations = {"format_version": 1, "clips": clips}
    # In space the maps are the boxes. In time one of two active seconds is pointed at: AUC (1/2 + 3) / 4.
    assert score(case).scores["plausibility"] == pytest.approx(0.5 + (2 * 3.5 / 4 - 1) / 2)
    case.explain = lambda clip_id: full_explanation(clip_id) | {"evidence": None}
    assert score(case).scores["plausibility"] == 0


def test_the_predictions_that_are_tested_are_those_that_are_scored(score: Score) -> None:
    """Whatever was said in the first pass, except of clips that the second one did not reach."""
    tested, first = make_case(), make_case()
    first.prediction = np.where(np.arange(8)[:, None] < 6, 0.5, tested.prediction)
    reached = tested.clip_ids[:6]

    def probes(_: Case) -> list[dict[str, Any]]:
        return [call for call in honest_probes(tested) if call["clip_id"] in reached]

    tested.probes = first.probes = probes
    tested.repeats = first.repeats = None
    assert score(first).scores == score(tested).scores
    first.prediction = np.full_like(tested.prediction, 0.5)
    assert score(first).scores["traits_accuracy"] != score(tested).scores["traits_accuracy"]


def test_column_values_are_the_scores_and_their_resamples(tmp_path: Path) -> None:
    prepared = prepare(make_input(tmp_path, make_case(clips=16, statuses=["failed", *["ok"] * 14, "unreadable"])))
    settings = prepared.settings
    evaluation = evaluate(prepared.outcomes, settings, 1.0)
    scores = clip_scores(prepared.outcomes, settings)
    assert len(scores.clip_ids) == 15
    values = column_values(scores, np.ones((1, scores.groups)))
    estimates = {column.key: estimate for column, estimate in evaluation.columns}
    assert values.keys() == estimates.keys() - {"jury", "failed_clips", "duration_s", "not_comparable"}
    assert {key: float(value[0]) for key, value in values.items()} == pytest.approx(
        {key: estimates[key].value for key in values}
    )
    weights = np.concatenate(list(resample_weights(scores.groups, 50, settings.bootstrap.seed)))
    for key, draws in column_values(scores, weights).items():
        assert np.quantile(draws, [0.025, 0.975]) == pytest.approx(estimates[key].interval)


def test_open_phases_show_axes_by_clip_and_closed_ones_do_not(score: Score) -> None:
    done = score(make_case())
    assert ">Judged on<" in done.page
    assert ">Causes<" in done.page
    without_truth = score(make_case(report={"clips": True, "truth": False, "gallery": 0}))
    assert ">Judged on<" in without_truth.page
    assert ">Causes<" not in without_truth.page
    closed = score(make_case(report=HIDDEN | {"gallery": 0}))
    assert ">Judged on<" not in closed.page
    assert "Explanation axes" in closed.page
    assert "Always so, space" in closed.page


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_an_original_without_a_valid_answer_is_a_failed_clip_and_its_repeat_a_different_answer(
    score: Score, again: bool
) -> None:
    def fail(calls: list[dict[str, Any]]) -> None:
        original = next(call for call in calls if call["kind"] == "original")
        failed = original | {"again": again, "prediction": None}
        calls[:] = [*calls, failed] if again else [failed, *(call for call in calls if call is not original)]

    whole, done = score(make_case()).scores, score(make_case(), edit_records("res/probes.jsonl", fail)).scores
    assert (whole["failed_clips"], done["failed_clips"]) == (0, 0 if again else 1)
    predicted = ["coverage", "interview_accuracy", "traits_accuracy", "skill"]
    assert all((done[key] == whole[key]) if again else (done[key] < whole[key]) for key in predicted)
    assert all(done[key] < whole[key] for key in ("faithfulness_space", "faithfulness_time", "cue_claims"))
