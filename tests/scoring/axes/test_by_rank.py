"""Rank and response: curves by hand, and when the flag is raised."""

from dataclasses import replace

import numpy as np
import pytest

from score.axes.effects import Effects
from score.diagnostics import FEWEST, Rank, RankCurve, rank_curves
from score.read.answers import NO_EXPLANATION, Explanation
from tests.scoring.axes.calls import call, effects_of, unit


def measured(rows: list[tuple[float | None, ...]]) -> tuple[list[Explanation], Effects]:
    """Clips with these effects of cells 0, 1, ..., of which the last is marked most; None for a call that failed."""
    calls = [
        [
            call("original", 0.5),
            *(unit(f"block-{cell}", None if one is None else 0.5 - one, (cell,)) for cell, one in enumerate(row)),
        ]
        for row in rows
    ]
    return [replace(NO_EXPLANATION, space=np.arange(144.0).reshape(9, 16))] * len(rows), effects_of(calls)


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
    assert [rank.clips for rank in rank_curves([*told[:2], NO_EXPLANATION], effects)[0].ranks] == [1, 1]


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
