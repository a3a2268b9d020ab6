"""What does not repeat does not count: shares by hand, then runs whose explanations depend on what was asked before."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.axes.repeats import Repeatability, counted, repeatability
from score.pipeline import prepare
from score.read.answers import Claim, Explanation
from score.read.records import Repeat
from tests.scoring.calls import call, effects_of, unit
from tests.scoring.conftest import Score
from tests.scoring.factory import Case, full_explanation, honest_repeats, make_case, make_input
from tests.scoring.spoil import edit_records

SMILE = "The smile raised the interview score."
BOTH = f"{SMILE} The gaze lowered the interview score."
ROW = [
    call("original", 0.5),
    *(unit(kind, 0.4, (at,), (at,)) for at, kind in enumerate(("mouth", "eyes", "hand"))),
]


def said(text: str = "", weights: tuple[float, ...] | None = None, *claims: float) -> Explanation:
    """The same weights on a map of three cells and a timeline of three seconds, and claims about smile and gaze."""
    return replace(
        Explanation(),
        text=text,
        text_ok=bool(text),
        space=None if weights is None else np.array([weights]),
        time=None if weights is None else np.array(weights),
        claims=tuple(Claim(cue, "interview", value) for cue, value in zip(("smile", "gaze"), claims, strict=False)),
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Repeatability]:
    """Compare pairs of explanations, each of a clip of its own."""
    prepared = prepare(make_input(tmp_path_factory.mktemp("input"), make_case(clips=2)))

    def compare(*pairs: tuple[Explanation, Explanation | None]) -> Repeatability:
        repeats = tuple(None if again is None else Repeat(None, again) for _, again in pairs)
        outcomes = replace(prepared.outcomes, explanations=tuple(first for first, _ in pairs), repeats=repeats)
        return repeatability(outcomes, effects_of([ROW] * len(pairs)), prepared.settings)

    return compare


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        (said(BOTH, (3, 2, 1), 0.3, -0.1), said(BOTH, (3, 2, 1), 0.3, -0.1), (1, 1, 1, 1)),
        (said(BOTH, (3, 2, 1), 0.3, -0.1), said(BOTH, (9, 5, 2), 0.6, -0.2), (1, 1, 1, 1)),  # order and direction
        (said(BOTH, (3, 2, 1), 0.3, -0.1), Explanation(), (0, 0, 0, 0)),
        (Explanation(), said(BOTH, (3, 2, 1), 0.3, -0.1), (1, 1, 1, 1)),  # nothing that could count
        (Explanation(), Explanation(), (1, 1, 1, 1)),
        (said("", (3, 2, 1)), said("", (3, 1, 2)), (1 / 3, 1 / 3, 1, 1)),  # one of three pairs is turned round
        (said("", (3, 2, 1)), said("", (2, 2, 1)), (2 / 3, 2 / 3, 1, 1)),  # one is a tie
        (said("", (2, 2, 1)), said("", (3, 2, 1)), (1, 1, 1, 1)),  # only what was ordered must repeat
        (said("", (3, 2, 1)), said("", (1, 2, 3)), (0, 0, 1, 1)),  # -1, at least 0
        (said("", (3, 2, 1)), said("", (3, 2)), (0, 0, 1, 1)),  # another length
        (said("", None, 0.3, 0.4), said("", None, 0.4, 0.3), (1, 1, 0.24 / 0.25, 1)),
        (said("", None, 0.3), said("", None, -0.3), (1, 1, 0, 1)),
        (said(BOTH), said(SMILE), (1, 1, 1 / 2**0.5, 0.5)),  # one of two claims
    ],
)
def test_shares_by_hand(
    measured: Callable[..., Repeatability], first: Explanation, again: Explanation, expected: tuple[float, ...]
) -> None:
    found = measured((first, again))
    assert (found.space, found.time, found.claims, found.text) == pytest.approx(expected)
    assert found.clips == 1


def test_the_mean_of_the_clips_that_were_asked_again(measured: Callable[..., Repeatability]) -> None:
    whole = said(BOTH, (3, 2, 1), 0.3, -0.1)
    assert measured((whole, whole), (whole, Explanation()), (Explanation(), None)) == Repeatability(
        0.5, 0.5, 0.5, 0.5, clips=2
    )
    for unordered in (Explanation(), said(BOTH, (2, 2, 2), 0.3, -0.1)):  # it has nothing to repeat
        assert measured((unordered, whole), (whole, Explanation())) == Repeatability(0.5, 0.5, 0.5, 0.5, clips=2)
    assert measured((whole, None), (Explanation(), None)) == Repeatability(1, 1, 1, 1, clips=0)


def test_what_is_right_counts_as_far_as_it_repeats_and_what_is_wrong_counts() -> None:
    addends = np.array([[0.4, 0.5, 0.5], [-0.2, 0.3, 0.3], [0.0, 0.1, 0.1]])
    assert counted(addends, 0.5).tolist() == [[0.2, 0.5, 0.5], [-0.2, 0.3, 0.3], [0.0, 0.1, 0.1]]
    assert addends[0, 0] == 0.4


MEASURED = ("faithfulness_space", "faithfulness_time", "cue_claims", "known_causes", "text")


def telling() -> Case:
    """Predictions that a text can state, and no twins: state is seen without them."""
    case = make_case(clips=12)
    case.prediction = case.truth = np.full_like(case.truth, 0.8) - np.linspace(0, 0.2, 12)[:, None]
    case.explain = lambda clip_id: (
        full_explanation(clip_id) | {"text": "The interview score is high. " + full_explanation(clip_id)["text"]}
    )
    return case


def replied(again: Callable[[Case, dict[str, Any]], object]) -> Case:
    """A run in which every clip that is asked again gets another explanation."""
    case = telling()

    def repeats(of: Case) -> list[dict[str, Any]]:
        return [line | {"explanation": again(of, line)} for line in honest_repeats(of)]

    case.repeats = repeats
    return case


def test_state_in_explain_costs_every_axis(score: Score) -> None:
    """A model that says of each clip what it should have said of another one, as far as its count is off."""

    def of_the_last(case: Case, line: dict[str, Any]) -> object:
        following = case.clip_ids[case.clip_ids.index(line["clip_id"]) - 1]
        return (case.explain(following) or {}) | {"image": None}

    honest, stateful = score(telling()).scores, score(replied(of_the_last)).scores
    for key in MEASURED:
        assert honest[key] > 0.5, key
        assert stateful[key] < 0.6 * honest[key], key
    assert stateful["skill"] == honest["skill"]


def test_no_explanation_when_asked_again_is_no_explanation(score: Score) -> None:
    done = score(replied(lambda *_: None))
    assert [done.scores[key] for key in MEASURED] == [0] * 5
    assert done.scores["coverage"] == 1
    assert "Repeats, temporal attribution" in done.page


def test_clips_that_were_not_asked_again_cost_nothing(score: Score) -> None:
    never = telling()
    never.repeats = lambda _: []
    older = telling()
    older.repeats = None
    assert score(telling()).scores == score(never).scores == score(older).scores


def test_a_part_that_repeats_keeps_its_worth(score: Score) -> None:
    def without(case: Case, line: dict[str, Any]) -> object:
        explanation = (case.explain(line["clip_id"]) or {}) | {"image": None}
        return explanation | {"evidence": explanation["evidence"] | {"space": None}}

    honest, done = score(telling()).scores, score(replied(without)).scores
    assert done["faithfulness_space"] == 0
    assert all(done[key] == honest[key] for key in ("faithfulness_time", "cue_claims", "text"))
    assert 0 < done["known_causes"] < honest["known_causes"]  # its places are gone


def test_a_clip_that_failed_was_not_asked_again(score: Score, tmp_path: Path) -> None:
    """Whatever its line says: it is scored as failed already."""
    case = telling()
    gone = case.clip_ids[0]

    def fail(calls: list[dict[str, Any]]) -> None:
        for one in calls:
            if one["clip_id"] == gone and one["kind"] == "original":
                one["prediction"] = None

    spoilt = score(case, edit_records("res/probes.jsonl", fail))
    assert spoilt.scores["failed_clips"] == 1
    outcomes = prepare(tmp_path / "input").outcomes
    at = outcomes.clip_ids.index(gone)
    assert outcomes.statuses[at] == "failed"
    assert outcomes.repeats[at] is None
    assert np.isnan(outcomes.prediction[at]).all()
