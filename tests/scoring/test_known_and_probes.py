"""Known causes, observations, settings of the axes and records of the second pass that are wrong are named."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.scoring.conftest import Score
from tests.scoring.factory import NAMES, make_case
from tests.scoring.spoil import Change, edit_json, edit_records, remove, swap, write

CAUSES, PROBES, REPEATS = "ref/causes.json", "res/probes.jsonl", "res/repeats.jsonl"


def causes(change: Callable[[Any], object]) -> Change:
    return edit_json(CAUSES, change)


def clip(change: Callable[[Any], object]) -> Change:
    """Change the causes of the first clip."""
    return causes(lambda content: change(next(iter(content["clips"].values()))))


def call(kind: str, /, **more: Any) -> Change:  # noqa: ANN401 - any JSON
    """Change the first call of a kind."""
    return edit_records(PROBES, lambda calls: next(one for one in calls if one["kind"] == kind).update(more))


def calls(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    return edit_records(PROBES, change)


def two_parts(all_: list[dict[str, Any]]) -> None:
    for one, part in zip([one for one in all_ if one["kind"] == "unit"][:2], ("mouth-1", "mouth-2"), strict=True):
        one.update(unit="mouth", cells=[3], parts=[part])


def repeat(**more: Any) -> Change:  # noqa: ANN401 - any JSON
    """Change the first clip that was asked again as in the first pass."""
    return edit_records(REPEATS, lambda repeats: repeats[0].update(more))


# change, exit code, words of the log
TABLE: dict[str, tuple[Change, int, tuple[str, ...]]] = {
    "causes: missing": (remove(CAUSES), 2, ("causes_broken", "FileNotFoundError")),
    "causes: no JSON": (write(CAUSES, "{"), 2, ("causes_broken", "not JSON")),
    "causes: version": (causes(lambda c: c.update(format_version=2)), 2, ("format_version",)),
    "causes: grid": (causes(lambda c: c["grid"].update(rows=0)), 2, ("causes.json, grid",)),
    "causes: bins": (causes(lambda c: c.update(bin_s=0.5)), 2, ("bin_s",)),
    "causes: clip": (causes(lambda c: c["clips"].popitem()), 2, ("causes_missing",)),
    "causes: target": (clip(lambda c: c["contributions"].popitem()), 2, ("contributions",)),
    "causes: cue": (clip(lambda c: c["contributions"]["openness"].update(luck=1)), 2, ("contributions",)),
    "causes: number": (clip(lambda c: c["contributions"]["openness"].update(gaze="x")), 2, ("contributions",)),
    "causes: hex": (clip(lambda c: c["space"].update(gaze=["0" * 35])), 2, (", space", "144 bits")),
    "causes: sign": (clip(lambda c: c["space"].update(gaze=["g" * 36])), 2, (", space",)),
    "causes: activity": (clip(lambda c: c["time"].update(gaze=[0, 2])), 2, (", time",)),
    "causes: truth": (clip(lambda c: c["time"].update(gaze=[True])), 2, (", time",)),
    "causes: key": (clip(lambda c: c.update(colour=1)), 2, ("a different structure",)),
    "call: twice": (calls(lambda all_: all_.append(all_[0])), 1, ("same call",)),
    "call: bad id": (call("original", clip_id="../c"), 1, ("clip id",)),
    "call: no kind": (call("original", kind=None), 1, ("no kind",)),
    "call: unknown kind": (call("unit", kind="smell"), 0, ("1 calls of an unknown kind; they were ignored",)),
    "call: again": (call("cue", again=1), 1, ("neither true nor false",)),
    "call: again alone": (call("unit", again=True), 0, ()),
    "call: again twice": (calls(lambda all_: all_.extend([all_[-1] | {"again": True}] * 2)), 1, ("same call",)),
    "call: no cue": (call("cue", cue=None), 1, ("a cue that does not fit",)),
    "call: no unit": (call("unit", unit=None), 1, ("a unit that does not fit",)),
    "call: unit is no text": (call("unit", unit=["mouth"]), 1, ("a unit that does not fit",)),
    "call: a unit too many": (call("cue", unit="mouth"), 1, ("a unit that does not fit",)),
    "call: parts are no list": (call("unit", parts="mouth"), 1, ("not a list of names",)),
    "call: parts without names": (call("unit", parts=[1]), 1, ("not a list of names",)),
    "call: two parts in one place": (calls(two_parts), 0, ()),
    "call: cells backwards": (call("unit", cells=[3, 1]), 1, ("cells or seconds",)),
    "call: cells twice": (call("unit", cells=[3, 3]), 1, ("cells or seconds",)),
    "call: cells are no list": (call("unit", cells=3), 1, ("cells or seconds",)),
    "call: seconds are no numbers": (call("unit", seconds=["1"]), 1, ("cells or seconds",)),
    "call: seconds below 0": (call("unit", seconds=[-1]), 1, ("cells or seconds",)),
    "call: neither place nor time": (call("unit", cells=[], seconds=[]), 1, ("cells or seconds",)),
    "call: only a place": (call("unit", seconds=[]), 0, ()),
    "call: only a time": (call("unit", cells=None), 0, ()),
    "call: a place too many": (call("cue", cells=[3]), 1, ("cells or seconds",)),
    "call: place outside the map": (call("unit", cells=[144]), 1, ("outside the map",)),
    "call: second outside the clip": (call("unit", seconds=[5]), 1, ("outside the map",)),
    "call: beyond every grid": (call("unit", cells=[256 * 256]), 1, ("cells or seconds",)),
    "repeat: bad id": (repeat(clip_id="../c"), 1, ("repeats.jsonl, line 1", "clip id")),
    "repeat: twice": (edit_records(REPEATS, lambda all_: all_.append(all_[0])), 1, ("a duplicate clip",)),
    "repeat: no JSON": (write(REPEATS, "{"), 0, ("repeats.jsonl, line 1", "which was ignored")),
    "repeat: nothing valid": (repeat(prediction=None, explanation=None), 0, ()),
    "repeat: other forms": (repeat(prediction=[0.5], explanation="said"), 0, ()),
    "repeat: stray clip": (repeat(clip_id="cx"), 0, ()),
    "repeat: another map": (
        repeat(explanation={"evidence": {"space": {"rows": 1, "columns": 2, "weights": [[[1, 0]]]}}}),
        0,
        (),
    ),
    "repeat: none": (remove(REPEATS), 0, ()),
    "call: other targets": (call("cue", prediction={"interview": 0.5}), 1, ("targets that differ",)),
    "call: out of range": (call("cue", prediction=dict.fromkeys(NAMES, 2)), 1, ("out of range",)),
    "call: stray clip": (calls(lambda all_: all_[0].update(clip_id="cx")), 0, ("records_stray",)),
    "call: too many": (
        calls(lambda all_: all_.extend([all_[0] | {"kind": "cue", "cue": f"c{n}"} for n in range(17)])),
        1,
        ("more than 16",),
    ),
    "call: failed": (call("cue", prediction=None), 0, ()),
    "call: all asked again": (
        calls(lambda all_: all_.extend([c | {"again": True} for c in all_ if c["clip_id"] == all_[0]["clip_id"]])),
        0,
        (),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_is_named(score: Score, name: str) -> None:
    change, code, words = TABLE[name]
    done = score(make_case(), change)
    assert (done.code, (done.out / "scores.json").exists()) == (code, code == 0), done.log
    assert all(word in done.log for word in words), done.log
    assert "internal_error" not in done.log


@pytest.mark.parametrize(
    "points",
    [
        {"start_s": 0},
        [{"start_s": 2, "end_s": 1, "box": None}],
        [{"start_s": 2}],
        [{"start_s": 0, "end_s": 1, "box": [10, 10, 50, 50]}],
        [{"start_s": 0, "end_s": 1, "box": [0.1, 0.1, 0.5]}],
        [{"start_s": 0, "end_s": 1, "note": "smile"}],
    ],
    ids=["no list", "backwards", "no end", "pixels", "three", "unknown"],
)
def test_observations_with_a_mistake_are_named_together_with_causes(score: Score, points: object) -> None:
    case = make_case(clips=3, observations="observations.json")
    case.observations = {"format_version": 1, "clips": {case.clip_ids[0]: points}}
    done = score(case, causes(lambda content: content.update(bin_s=2)))
    assert done.code == 2
    assert "observations_broken" in done.log
    assert "causes_broken" in done.log


AXES = ("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"explanation_score": {"power": 2}}, "power"),
        ({"explanation_score": {"gate": 0}}, "gate"),
        ({"explanation_score": {"weights": {"text": 1}}}, "weights.cue_claims"),
        ({"explanation_score": {"weights": dict.fromkeys(AXES, 0.3)}}, "sum is 1.5"),
        ({"explanation_score": {"vocabulary": ["smile", "smile"]}}, "duplicate entry"),
        ({"explanation_score": {"vocabulary": ["Smile!"]}}, "lower-case"),
        ({"explanation_score": {"aliases": {"luck": ["chance"]}}}, "aliases"),
        ({"explanation_score": {"colour": 1}}, "colour"),
        ({"skill_reference": {"luck": 0.1}}, "luck"),
        ({"skill_reference": {"interview": 3}}, "skill_reference.interview"),
        ({"coverage": {"text": 1}}, "coverage"),
    ],
)
def test_settings_of_the_axes_are_checked(score: Score, settings: dict[str, Any], words: str) -> None:
    done = score(make_case(clips=2, **settings))
    assert (done.code, words in done.log) == (2, True), done.log


def test_a_file_of_causes_lies_beside_the_settings(score: Score) -> None:
    done = score(make_case(clips=2), swap("ref/task.yaml", "causes: causes.json", "causes: ../labels.csv"))
    assert (done.code, "key causes" in done.log) == (2, True), done.log
