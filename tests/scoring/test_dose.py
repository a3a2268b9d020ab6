"""Dose and response: curves by hand, and when the flag is raised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from score.axes.dose import FEWEST, DeletionCurve, Dose, deletion_curves
from score.axes.effects import Effects, measure_effects
from score.explanation_record import NO_EXPLANATION, Explanation
from score.probe_record import ProbeCall

ONE = (np.zeros(1), np.ones(1))


def masked(part: str, value: float, places: int) -> ProbeCall:
    return ProbeCall("space", "", part, tuple(range(places)), "", (value,), None, again=False)


def measured(rows: list[tuple[int, float, float]]) -> tuple[list[Explanation], Effects]:
    """Clips with maps of 144 cells, of which so many are hidden, with these effects of the top and the bottom ones."""
    calls = [
        [
            ProbeCall("original", "", "", (), "", (0.5,), None, again=False),
            masked("top", 0.5 - top, places),
            masked("bottom", 0.5 - bottom, places),
        ]
        for places, top, bottom in rows
    ]
    told = [replace(NO_EXPLANATION, space=np.arange(144.0).reshape(9, 16))] * len(rows)
    prediction = np.full((len(rows), 1), 0.5)
    return told, measure_effects(calls, prediction, ONE, np.zeros(len(rows), dtype=np.int64), ())


def test_curves_by_hand() -> None:
    space, time = deletion_curves(*measured([(14, 0.1, 0.0), (14, 0.3, 0.02), (72, 0.4, 0.1)]))
    # 14 of 144 cells are .0972; the standard error of .1 and .3 is sqrt(.02) / sqrt(2) = .1.
    assert space.kind == "space"
    assert [(dose.clips, dose.share) for dose in space.doses] == [(2, pytest.approx(14 / 144)), (1, 0.5)]
    assert [dose.top for dose in space.doses] == pytest.approx([0.2, 0.4])
    assert [dose.bottom for dose in space.doses] == pytest.approx([0.01, 0.1])
    assert [dose.top_error for dose in space.doses] == pytest.approx([0.1, 0.0])
    assert (time.kind, time.doses, time.falls) == ("time", (), None)


def test_the_order_of_clips_changes_nothing() -> None:
    rows = [(14, 0.1, 0.0), (29, 0.25, 0.05), (14, 0.3, 0.02), (43, 0.2, 0.0)]
    (one, _), (other, _) = deletion_curves(*measured(rows)), deletion_curves(*measured(rows[::-1]))
    assert [vars(dose) for dose in one.doses] == [pytest.approx(vars(dose)) for dose in other.doses]


def test_clips_of_about_the_same_share_are_one_dose() -> None:
    # 41 to 45 of 144 are .285 to .313, all nearest to .3; 50 are .347, and 52 are .361: nearest to .4.
    (space, _) = deletion_curves(*measured([(41, 0.1, 0), (45, 0.1, 0), (50, 0.1, 0), (52, 0.1, 0)]))
    assert [dose.clips for dose in space.doses] == [3, 1]


def test_a_pair_without_both_answers_is_in_no_dose() -> None:
    told, effects = measured([(14, 0.1, 0.0), (14, np.nan, 0.0), (14, 0.1, np.nan)])
    assert [dose.clips for dose in deletion_curves(told, effects)[0].doses] == [1]


def curve(*doses: tuple[float, float, int]) -> DeletionCurve:
    """Shares .1, .2, … with mean effects, their errors and clips."""
    return DeletionCurve(
        "space",
        tuple(Dose((n + 1) / 10, clips, top, 0.0, error) for n, (top, error, clips) in enumerate(doses)),
    )


@pytest.mark.parametrize(
    ("doses", "raised"),
    [
        ([(0.1, 0.01, 9), (0.2, 0.01, 9), (0.3, 0.01, 9)], False),
        ([(0.1, 0.0, 9), (0.1, 0.0, 9)], False),  # level: the smallest dose may hold all that matters
        ([(0.1, 0.01, 9), (0.058, 0.01, 9)], False),  # 3 standard errors are .0424
        ([(0.1, 0.01, 9), (0.057, 0.01, 9)], True),
        ([(0.1, 0.01, 9), (0.09, 0.01, 9), (0.04, 0.01, 9)], True),  # neighbours need not be the ones that differ
        ([(0.1, 0.01, FEWEST - 1), (0.0, 0.01, 9)], None),
        ([(0.1, 0.0, FEWEST), (0.0, 0.0, FEWEST)], True),
        ([(0.1, 0.01, 9)], None),
        ([], None),
    ],
)
def test_the_flag_by_hand(doses: list[tuple[float, float, int]], raised: bool | None) -> None:
    falls = curve(*doses).falls
    assert falls is None if raised is None else bool(falls) is raised


def drawn(response: NDArray[np.float64], seed: int) -> DeletionCurve:
    """The curve of 96 clips whose effect is the response to its dose, and some chance."""
    random = np.random.default_rng(seed)
    places = np.array([14, 29, 43, 72])
    which = random.integers(0, 4, 96)
    effects = np.abs(response[which] + 0.05 * random.standard_normal(96))
    rows = list(zip(places[which].tolist(), effects.tolist(), [0.0] * 96, strict=True))
    return deletion_curves(*measured(rows))[0]


def test_the_flag_tells_a_response_that_falls_from_one_that_does_not() -> None:
    for response in ([0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.2, 0.2], [0.1, 0.3, 0.3, 0.3]):
        assert sum(bool(drawn(np.array(response), seed).falls) for seed in range(20)) == 0
    assert all(drawn(np.array([0.1, 0.4, 0.3, 0.2]), seed).falls for seed in range(20))
