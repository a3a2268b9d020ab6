"""Bands and ranks: what a comparison of runs promises, whatever the runs are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.challenge.compare.bands import ABOVE, Contender, bands, mean_ranks, middle_ranks, places, shares_above

RESAMPLES = 60
numbers = st.integers(0, 100).map(float)


def contender(name: str, draws: list[float] | np.ndarray) -> Contender:
    found = np.asarray(draws, dtype=float)
    return Contender(name, float(found.mean()), found)


def normal(name: str, mean: float, spread: float, seed: int, size: int = RESAMPLES) -> Contender:
    return contender(name, np.random.default_rng(seed).normal(mean, spread, size))


fields = st.lists(st.tuples(numbers, st.floats(0, 20), st.integers(0, 5)), min_size=1, max_size=8).map(
    lambda rows: [normal(f"run{at}", *row) for at, row in enumerate(rows)]
)


@given(fields, st.randoms())
def test_order_does_not_matter(runs: list[Contender], random: object) -> None:
    shuffled = list(runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert bands(shuffled) == bands(runs)
    assert list(bands(shuffled)) == list(bands(runs))


@given(fields)
def test_bands_follow_the_totals_without_gaps(runs: list[Contender]) -> None:
    found = bands(runs)
    totals = {run.name: run.total for run in runs}
    numbers = list(found.values())
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, max(numbers) + 1))
    assert [totals[name] for name in found] == sorted(totals.values(), reverse=True)


@given(fields)
def test_no_member_of_a_band_is_above_another_and_each_band_is_below_the_one_before(runs: list[Contender]) -> None:
    found = bands(runs)
    above = shares_above(runs) >= ABOVE
    names = [run.name for run in runs]
    for at, one in enumerate(names):
        for other_at, other in enumerate(names):
            if above[at, other_at]:
                assert found[one] != found[other]
    for band in range(2, max(found.values()) + 1):
        first = next(name for name, number in found.items() if number == band)
        before = [name for name, number in found.items() if number == band - 1]
        at = names.index(first)
        assert any(above[names.index(name), at] or above[at, names.index(name)] for name in before)


@pytest.mark.parametrize(("won", "apart"), [(94, False), (95, True), (100, True)])
def test_ninety_five_of_a_hundred_resamples_part_two_runs(won: int, apart: bool) -> None:
    better = contender("better", [60.0] * won + [40.0] * (100 - won))
    worse = contender("worse", [50.0] * 100)
    assert (bands([better, worse])["worse"] == 2) is apart


def test_a_chain_of_small_steps_is_cut_where_the_leader_of_the_band_is_above() -> None:
    # A is above C (100 of 100); B is neither below A (90) nor above C (90).
    high = contender("A", [3.0] * 100)
    middle = contender("B", [2.0] * 90 + [3.5] * 10)
    low = contender("C", [2.5] * 10 + [1.0] * 90)
    shares = shares_above([high, middle, low])
    assert shares.tolist() == [[0.0, 0.9, 1.0], [0.1, 0.0, 0.9], [0.0, 0.1, 0.0]]
    assert bands([high, middle, low]) == {"A": 1, "B": 1, "C": 2}


def test_common_resamples_tell_apart_what_intervals_would_not() -> None:
    # Both swing by 10 points, together: the intervals overlap almost wholly, the difference is always 1.
    base = np.random.default_rng(1).normal(50, 10, 1000)
    assert bands([contender("a", base), contender("b", base + 1)]) == {"b": 1, "a": 2}
    alone = np.random.default_rng(2).normal(51, 10, 1000)
    assert set(bands([contender("a", base), contender("b", alone)]).values()) == {1}


def test_mean_rank_of_three_runs() -> None:
    assert places([0.2, 0.5, 0.5, 0.1]) == [3, 1, 1, 4]
    assert middle_ranks([0.2, 0.5, 0.5, 0.1]).tolist() == [3.0, 1.5, 1.5, 4.0]
    # Ranks on the axes: (1, 3), (2, 1.5), (3, 1.5).
    axes = np.array([[0.9, 0.1], [0.5, 0.2], [0.1, 0.2]])
    assert mean_ranks(axes).tolist() == [2.0, 1.75, 2.25]
