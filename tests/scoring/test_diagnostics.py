"""Rank and response: curves by hand, and when the flag is raised."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.axes.effects import Effects
from score.diagnostics import FEWEST, LARGE, Rank, RankCurve, ReactionSize, rank_curves, reaction_size
from score.evaluate import Evaluation, evaluate
from score.pipeline import prepare
from score.read.answers import Explanation, parse_explanation
from score.text.reading import ParsedClaims, read_claims
from tests import there
from tests.scoring.calls import call, effects_of, unit
from tests.scoring.factory import NAMES, Case, full_explanation, make_case, make_input


def measured(rows: list[tuple[float | None, ...]]) -> tuple[list[Explanation], Effects]:
    """Clips with these effects of cells 0, 1, ..., of which the last is marked most; None for a call that failed."""
    calls = [
        [
            call("original", 0.5),
            *(unit(f"block-{cell}", None if one is None else 0.5 - one, (cell,)) for cell, one in enumerate(row)),
        ]
        for row in rows
    ]
    return [replace(Explanation(), space=np.arange(144.0).reshape(9, 16))] * len(rows), effects_of(calls)


def test_curves_by_hand() -> None:
    space, time = rank_curves(*measured([(0.02, 0.1), (0.04, -0.3), (0.0, 0.1, 0.2)]))
    # Marked most: .1, .3, .2, with the standard error .1 / sqrt(3); then .02, .04, .1; one clip has a third.
    assert space.kind == "space"
    assert [(rank.rank, rank.clips) for rank in space.ranks] == [(1, 3), (2, 3), (3, 1)]
    assert [rank.change for rank in space.ranks] == pytest.approx([0.2, 0.16 / 3, 0.0])
    assert space.ranks[0].error == pytest.approx(0.1 / 3**0.5)
    assert space.ranks[2].error == 0
    assert (time.kind, time.ranks, time.rises) == ("time", (), None)


def test_the_order_of_clips_changes_nothing() -> None:
    rows: list[tuple[float | None, ...]] = [(0.1, 0.0), (0.25, 0.05), (0.3, 0.02), (0.2, 0.0)]
    (one, _), (other, _) = rank_curves(*measured(rows)), rank_curves(*measured(rows[::-1]))
    assert [vars(rank) for rank in one.ranks] == [pytest.approx(vars(rank)) for rank in other.ranks]


def test_a_clip_on_which_the_model_failed_or_without_a_map_is_in_no_curve() -> None:
    told, effects = measured([(0.1, 0.0), (0.1, None), (0.1, 0.0)])
    assert [rank.clips for rank in rank_curves([*told[:2], Explanation()], effects)[0].ranks] == [1, 1]


@pytest.mark.parametrize(
    ("ranks", "raised"),
    [
        ([(0.3, 0.01, 9), (0.2, 0.01, 9), (0.1, 0.01, 9)], False),
        ([(0.1, 0.0, 9), (0.1, 0.0, 9)], False),
        ([(0.058, 0.01, 9), (0.1, 0.01, 9)], False),  # 3 standard errors are .0424
        ([(0.057, 0.01, 9), (0.1, 0.01, 9)], True),
        ([(0.04, 0.01, 9), (0.07, 0.01, 9), (0.1, 0.01, 9)], True),  # neighbours need not be the ones that differ
        ([(0.0, 0.01, FEWEST - 1), (0.1, 0.01, 9)], None),
        ([(0.0, 0.0, FEWEST), (0.1, 0.0, FEWEST)], True),
        ([(0.1, 0.01, 9)], None),
        ([], None),
    ],
)
def test_the_flag_by_hand(ranks: list[tuple[float, float, int]], raised: bool | None) -> None:
    curve = RankCurve(
        "space", tuple(Rank(n, clips, change, error) for n, (change, error, clips) in enumerate(ranks, 1))
    )
    assert curve.rises is None if raised is None else bool(curve.rises) is raised


def test_the_flag_tells_a_wrong_order_from_a_right_one() -> None:
    def flags(response: list[float]) -> int:
        random = (np.random.default_rng(seed) for seed in range(20))
        sets = (np.abs(np.array(response[::-1]) + 0.05 * one.standard_normal((24, 4))) for one in random)
        return sum(bool(rank_curves(*measured([tuple(row) for row in rows]))[0].rises) for rows in sets)

    assert flags([0.4, 0.3, 0.2, 0.1]) == flags([0.2, 0.2, 0.2, 0.2]) == 0
    assert flags([0.1, 0.4, 0.3, 0.2]) == 20


Row = tuple[float | None, float | None, float | None]
"""Effects of hiding two parts of the picture, and the sum of the claims' sizes; None where there is none."""


def reacting(rows: list[Row]) -> tuple[Effects, ParsedClaims, np.ndarray[Any, np.dtype[np.float64]]]:
    count = len(rows)
    parts = ([(cell, one) for cell, one in enumerate(row[:2]) if one is not None] for row in rows)
    calls = [
        [call("original", 0.5), *(unit(f"block-{cell}", 0.5 - one, (cell,)) for cell, one in row)] for row in parts
    ]
    seen = np.array([np.nan if claimed is None else claimed for *_, claimed in rows]).reshape(count, 1)
    readings = ParsedClaims((frozenset(),) * count, ((),) * count, np.zeros((count, 1, 0)), np.ones(count), seen)
    return effects_of(calls), readings, np.ones(1)


def size(*rows: Row) -> float | None:
    return reaction_size(*reacting(list(rows))).value


def test_by_hand() -> None:
    # Effects .4 (.3 and .1), .2, .2, .4, .2: mean .28. Claims .1, .1, .05, .1, .05: mean .08.
    rows: list[Row] = [(0.3, -0.1, 0.1), (0.1, 0.1, 0.1), (-0.1, 0.1, 0.05), (0.4, None, 0.1), (None, 0.2, 0.05)]
    assert size(*rows) == pytest.approx(0.28 / 0.08)
    assert size(*rows[::-1]) == pytest.approx(0.28 / 0.08)


def test_clips_without_a_map_or_without_claims_are_left_out() -> None:
    both: list[Row] = [(0.2, 0.2, 0.1)] * FEWEST
    assert size(*both, (0.4, 0.4, None), (None, None, 0.4)) == pytest.approx(4)
    assert size(*both[1:], (0.4, 0.4, None), (None, None, 0.4)) is None
    assert size() is None
    assert reaction_size(*reacting(both[1:])).large is None


def test_claims_of_nothing_count_as_the_smallest_effect() -> None:
    # Without noise and without spread of the predictions that is 5e-4.
    assert size(*[(0.002, 0.002, 0.0)] * FEWEST) == pytest.approx(8)
    assert size(*[(0.0, 0.0, 0.0)] * FEWEST) == 0


@pytest.mark.parametrize("times", [0.1, 3.0])
def test_a_louder_model_that_says_so_has_the_same_size(times: float) -> None:
    rows = [(0.1, 0.05, 0.05), (0.2, 0.0, 0.03), (0.01, 0.02, 0.04), (0.0, 0.0, 0.1), (0.1, 0.1, 0.1)]
    assert size(*[(times * a, times * b, times * c) for a, b, c in rows]) == pytest.approx(size(*rows))


@pytest.mark.parametrize(("value", "large"), [(None, None), (0.0, False), (1.19, False), (1.49, False), (1.5, True)])
def test_the_flag(value: float | None, large: bool | None) -> None:
    assert ReactionSize(value).large is large
    assert LARGE == 1.5


def test_what_can_be_seen_is_summed_and_texts_have_no_size(tmp_path: Path) -> None:
    settings = prepare(make_input(tmp_path, make_case(clips=2))).settings

    def said(text: str, *claims: tuple[str, str, float]) -> Any:  # noqa: ANN401 - an explanation
        cues = [{"cue": cue, "target": target, "contribution": value} for cue, target, value in claims]
        evidence = {"space": None, "time": None, "cues": cues}
        return parse_explanation({"text": text, "image": None, "evidence": evidence}, settings, frozenset())

    raised = "The smile raised the interview score."
    readings = read_claims(
        [
            said(raised, ("smile", "interview", 0.1), ("gaze", "interview", -0.04), ("voice", "interview", 0.5)),
            said("", ("words", "interview", 0.1), ("speech_rate", "interview", 0.1)),
            said(raised),
            said("", ("smile", "openness", 0.2)),
            said("", ("gaze", "interview", -0.8), ("gaze", "interview", -0.9)),
        ],
        settings,
    )
    assert readings.claims.min() == -1  # a claim made twice counts as the largest
    seen = readings.seen[:4, NAMES.index("interview")]
    assert seen[:2] == pytest.approx([0.14, 0.0])
    assert np.isnan(seen[2:]).all()


def evaluated(folder: Path, case: Case) -> Evaluation:
    prepared = prepare(make_input(folder, case))
    return evaluate(prepared.outcomes, prepared.settings, 1.0)


def rows_of(evaluation: Evaluation) -> list[float | None]:
    return [one.value for one in evaluation.diagnostics if one.title.startswith("Reaction")]


def gated(case: Case) -> list[dict[str, Any]]:
    """An honest second pass, but every mask of the picture leads to one answer."""
    calls = make_case(clips=1).probes(case)  # type: ignore[misc]
    for one in calls:
        if one["cells"]:
            one["prediction"] = dict.fromkeys(NAMES, 0.02)
    return calls


@pytest.mark.parametrize("causes", [True, False], ids=["drawn", "filmed"])
def test_a_model_that_answers_masks_has_the_flag_and_an_honest_one_has_not(tmp_path: Path, causes: bool) -> None:
    case = make_case(clips=12)
    if not causes:
        del case.settings["causes"]
    value, flag = rows_of(evaluated(tmp_path / "honest", case))
    assert value is not None
    assert 0.3 < value < LARGE
    assert flag == 0
    case.probes = gated
    value, flag = rows_of(evaluated(tmp_path / "gated", case))
    assert value is not None
    assert value > LARGE
    assert flag == 1


def test_without_maps_claims_or_a_second_pass_there_is_none(tmp_path: Path) -> None:
    def without(part: str) -> Case:
        case = make_case(clips=8)

        def explain(clip_id: str) -> dict[str, Any]:
            said = full_explanation(clip_id)
            return said | {"evidence": said["evidence"] | {part: None}}

        case.explain = explain
        if part == "space":
            honest = there(case.probes)
            case.probes = lambda of: [call for call in honest(of) if not call["cells"]]
        return case

    once = make_case(clips=8)
    once.probes = None
    for name, case in (("space", without("space")), ("cues", without("cues")), ("once", once)):
        assert rows_of(evaluated(tmp_path / name, case)) == [None, None], name
