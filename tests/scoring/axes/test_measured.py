"""Runs with a second pass, known causes and observations, from the files to the columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from score.evaluation.evaluate import clip_scores, column_values, evaluate
from score.measure.bootstrap import resample_weights
from score.pipeline import prepare
from tests.scoring.canary import HIDDEN
from tests.scoring.conftest import Score
from tests.scoring.factory import (
    Case,
    World,
    full_explanation,
    honest_probes,
    known_causes,
    make_case,
    make_input,
    world,
    write_manifest,
)

Change = Callable[[Path], object]


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


def edit(name: str, change: Callable[[Any], object]) -> Change:
    def apply(root: Path) -> None:
        path = root / "ref" / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return apply


def first(content: dict[str, Any]) -> dict[str, Any]:
    clip: dict[str, Any] = next(iter(content["clips"].values()))
    return clip


CAUSES: dict[str, tuple[Change, tuple[str, ...]]] = {
    "missing": (lambda root: (root / "ref/causes.json").unlink(), ("causes_broken", "FileNotFoundError")),
    "no JSON": (lambda root: (root / "ref/causes.json").write_text("{"), ("causes_broken", "not JSON")),
    "version": (edit("causes.json", lambda c: c.update(format_version=2)), ("format_version",)),
    "grid": (edit("causes.json", lambda c: c["grid"].update(rows=0)), ("causes.json, grid",)),
    "bins": (edit("causes.json", lambda c: c.update(bin_s=0.5)), ("bin_s",)),
    "clip": (edit("causes.json", lambda c: c["clips"].popitem()), ("causes_missing",)),
    "target": (edit("causes.json", lambda c: first(c)["contributions"].popitem()), ("contributions",)),
    "cue": (edit("causes.json", lambda c: first(c)["contributions"]["openness"].update(luck=1)), ("contributions",)),
    "number": (edit("causes.json", lambda c: first(c)["contributions"]["openness"].update(gaze="x")), ("contrib",)),
    "hex": (edit("causes.json", lambda c: first(c)["space"].update(gaze=["0" * 35])), (", space", "144 bits")),
    "sign": (edit("causes.json", lambda c: first(c)["space"].update(gaze=["g" * 36])), (", space",)),
    "activity": (edit("causes.json", lambda c: first(c)["time"].update(gaze=[0, 2])), (", time",)),
    "truth": (edit("causes.json", lambda c: first(c)["time"].update(gaze=[True])), (", time",)),
    "key": (edit("causes.json", lambda c: first(c).update(colour=1)), ("another structure",)),
}


@pytest.mark.parametrize("name", CAUSES)
def test_causes_with_a_mistake_are_the_organisers(score: Score, name: str) -> None:
    change, words = CAUSES[name]
    done = score(make_case(clips=3), change)
    assert (done.code, (done.out / "scores.json").exists()) == (2, False)
    assert all(word in done.log for word in words), done.log


OBSERVATIONS: dict[str, Any] = {
    "no list": {"start_s": 0},
    "backwards": [{"start_s": 2, "end_s": 1, "box": None}],
    "no end": [{"start_s": 2}],
    "pixels": [{"start_s": 0, "end_s": 1, "box": [10, 10, 50, 50]}],
    "three": [{"start_s": 0, "end_s": 1, "box": [0.1, 0.1, 0.5]}],
    "unknown": [{"start_s": 0, "end_s": 1, "note": "smile"}],
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_with_a_mistake_are_the_organisers(score: Score, name: str) -> None:
    case = make_case(clips=3, observations="observations.json")
    case.observations = {"format_version": 1, "clips": {case.clip_ids[0]: OBSERVATIONS[name]}}
    done = score(case, edit("causes.json", lambda c: c.update(bin_s=2)))
    assert done.code == 2
    assert "observations_broken" in done.log
    assert "causes_broken" in done.log  # both at once


def probe(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    def apply(root: Path) -> None:
        path = root / "res" / "probes.jsonl"
        calls = [json.loads(line) for line in path.read_text().splitlines()]
        change(calls)
        path.write_text("".join(json.dumps(call) + "\n" for call in calls))
        write_manifest(root / "res")

    return apply


def set_(kind: str, /, **more: Any) -> Change:  # noqa: ANN401 - any JSON
    return probe(lambda calls: next(call for call in calls if call["kind"] == kind).update(more))


PROBES: dict[str, tuple[Change, int, str]] = {
    "twice": (probe(lambda calls: calls.append(calls[0])), 1, "a second time"),
    "bad id": (set_("original", clip_id="../c"), 1, "clip id"),
    "no kind": (set_("original", kind=None), 1, "no kind"),
    "unknown kind": (set_("time", kind="smell"), 0, "1 calls of a kind that is not known; ignored"),
    "again": (set_("cue", again=1), 1, "neither true nor false"),
    "again alone": (set_("time", again=True), 0, "practice"),
    "again twice": (probe(lambda calls: calls.extend([calls[-1] | {"again": True}] * 2)), 1,
                    "a second time"),
    "no cue": (set_("cue", cue=None), 1, "a cue that does not fit"),
    "exchanged is no list": (set_("space", exchanged="mouth"), 1, "no list of names"),
    "exchanged without names": (set_("space", exchanged=[1]), 1, "no list of names"),
    "two parts in one place": (probe(lambda calls: [
        call.update(places=[3], exchanged=[part])
        for call, part in zip([one for one in calls if one["kind"] == "space"][:2], ("mouth", "eyes"), strict=True)]),
        0, "practice"),
    "places backwards": (set_("space", places=[3, 1]), 1, "places"),
    "places twice": (set_("space", places=[3, 3]), 1, "places"),
    "no places": (set_("time", places=[]), 1, "places"),
    "place outside the map": (set_("space", places=[144]), 1, "outside the map"),
    "second outside the clip": (set_("time", places=[5]), 1, "outside the map"),
    "beyond every grid": (set_("space", places=[256 * 256]), 1, "places"),
    "other targets": (set_("cue", prediction={"interview": 0.5}), 1, "other targets"),
    "out of range": (set_("cue", prediction=dict.fromkeys(known_causes(["c"])["clips"]["c"]["contributions"], 2)), 1,
                     "out of range"),
    "stray clip": (probe(lambda calls: [c.update(clip_id="cx") for c in calls[:1]]), 0, "records_stray"),
    "too many": (probe(lambda calls: calls.extend([calls[0] | {"kind": "cue", "cue": f"c{n}"} for n in range(17)])),
                 1, "more than 16"),
    "failed": (set_("cue", prediction=None), 0, "practice"),
    "all asked again": (probe(lambda calls: calls.extend([c | {"again": True} for c in calls if c["clip_id"] ==
                       calls[0]["clip_id"]])), 0, "practice"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBES)
def test_records_of_the_second_pass(score: Score, name: str) -> None:
    change, code, words = PROBES[name]
    done = score(make_case(), change)
    assert (done.code, words in done.log) == (code, True), done.log
    assert "internal_error" not in done.log


def test_an_original_that_failed_lowers_every_measured_axis(score: Score) -> None:
    whole = score(make_case()).scores
    done = score(make_case(), set_("original", prediction=None)).scores
    assert all(done[key] < whole[key] for key in ("faithfulness_space", "faithfulness_time", "cue_claims"))


def test_an_original_that_fails_when_asked_again_counts_as_failed(score: Score) -> None:
    def unconfirm(calls: list[dict[str, Any]]) -> None:
        original = next(call for call in calls if call["kind"] == "original")
        calls.append(original | {"again": True, "prediction": None})

    whole, done = score(make_case()).scores, score(make_case(), probe(unconfirm)).scores
    assert all(done[key] < whole[key] for key in ("faithfulness_space", "faithfulness_time", "cue_claims"))


SETTINGS = [
    ({"explanation_score": {"power": 2}}, "power"),
    ({"explanation_score": {"gate": 0}}, "gate"),
    ({"explanation_score": {"weights": {"text": 1}}}, "weights.cue_claims"),
    ({"explanation_score": {"weights": dict.fromkeys(
        ("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text"), 0.3)}}, "sum is 1.5"),
    ({"explanation_score": {"vocabulary": ["smile", "smile"]}}, "stands twice"),
    ({"explanation_score": {"vocabulary": ["Smile!"]}}, "lower-case"),
    ({"explanation_score": {"aliases": {"luck": ["chance"]}}}, "aliases"),
    ({"explanation_score": {"colour": 1}}, "colour"),
    ({"skill_reference": {"luck": 0.1}}, "luck"),
    ({"skill_reference": {"interview": 3}}, "skill_reference.interview"),
    ({"causes": "../labels.csv"}, "causes"),
    ({"coverage": {"text": 1}}, "coverage"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), SETTINGS)
def test_settings_of_the_axes_are_checked(score: Score, change: dict[str, Any], words: str) -> None:
    case = make_case(clips=2)

    def spoil(root: Path) -> None:
        path = root / "ref" / "task.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))

    done = score(case, spoil)
    assert done.code == 2
    assert words in done.log


def test_column_values_are_the_scores_and_their_resamples(tmp_path: Path) -> None:
    prepared = prepare(make_input(tmp_path, make_case(clips=16, statuses=["failed", *["ok"] * 14, "unreadable"])))
    settings = prepared.settings
    evaluation = evaluate(prepared.outcomes, settings, 1.0)
    scores = clip_scores(prepared.outcomes, settings)
    assert len(scores.clip_ids) == 15
    values = column_values(scores, np.ones((1, scores.groups)))
    estimates = {column.key: estimate for column, estimate in evaluation.columns}
    assert values.keys() == estimates.keys() - {"jury", "failed_clips", "duration_s"}
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
    assert "Noise floor" in closed.page
