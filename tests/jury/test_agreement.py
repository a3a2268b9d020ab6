"""Agreement between jurors: properties, tables of worked numbers, and third-party libraries."""

import math
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bundle_tools.challenge.jury.agreement import intraclass_correlation, kendall_w, krippendorff_alpha
from bundle_tools.challenge.jury.preference import bradley_terry, comparisons

Array = NDArray[np.float64]
SEEDS = st.integers(0, 10_000)
# P. E. Shrout and J. L. Fleiss (1979), table 2: six targets, four judges.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]).T
# K. Krippendorff (2011), section C: four observers, twelve units, ordinal alpha 0.815.
GAP = math.nan
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3],
        [GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP],
    ]
)


def ratings(seed: int, jurors: int = 4, items: int = 20, missing: float = 0.0) -> Array:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 6, items)
    drawn = np.clip(truth + random.integers(-2, 3, (jurors, items)), 0, 5).astype(float)
    return np.where(random.random(drawn.shape) < missing, np.nan, drawn)


@given(SEEDS, st.randoms(use_true_random=False))
def test_order_does_not_matter(seed: int, luck: object) -> None:
    given_ = ratings(seed, missing=0.1)
    random = np.random.default_rng(seed)
    mixed = given_[random.permutation(4)][:, random.permutation(20)]
    assert krippendorff_alpha(mixed) == pytest.approx(krippendorff_alpha(given_))
    whole = ratings(seed)
    mixed = whole[random.permutation(4)][:, random.permutation(20)]
    assert intraclass_correlation(mixed).mean == pytest.approx(intraclass_correlation(whole).mean)
    assert kendall_w(mixed) == pytest.approx(kendall_w(whole))


@given(SEEDS)
def test_agreement_is_best_when_all_say_the_same(seed: int) -> None:
    same = np.tile(ratings(seed, jurors=1), (3, 1))
    same[:, 0] = 0
    same[:, 1] = 5
    assert krippendorff_alpha(same) == pytest.approx(1)
    assert intraclass_correlation(same).single == pytest.approx(1)
    assert kendall_w(same) == pytest.approx(1)


def test_chance_is_nothing() -> None:
    random = np.random.default_rng(7)
    drawn = [random.integers(0, 6, (5, 60)).astype(float) for _ in range(60)]
    assert abs(np.mean([krippendorff_alpha(one) for one in drawn])) < 0.01
    assert abs(np.mean([intraclass_correlation(one).single for one in drawn])) < 0.01
    assert abs(np.mean([kendall_w(one[:, :6]) for one in drawn]) - 1 / 5) < 0.03  # 1 / number of jurors


def test_worked_numbers() -> None:
    found = intraclass_correlation(SHROUT_FLEISS.astype(float))
    assert (round(found.single, 2), round(found.mean, 2)) == (0.29, 0.62)
    assert round(krippendorff_alpha(KRIPPENDORFF), 3) == 0.815


@pytest.mark.parametrize("seed", range(8))
def test_alpha_agrees_with_a_library(seed: int) -> None:
    table = ratings(seed, missing=0.2)
    theirs = krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")
    assert krippendorff_alpha(table) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_intraclass_correlation_agrees_with_a_library(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's own imports
        import pingouin  # noqa: PLC0415

        table = ratings(seed)
        long = pd.DataFrame(
            [(item, juror, table[juror, item]) for juror in range(4) for item in range(20)],
            columns=["item", "juror", "rating"],
        )
        found = pingouin.intraclass_corr(long, targets="item", raters="juror", ratings="rating")["ICC"].to_numpy()
    # Six rows: single and average of ICC1, ICC2 and ICC3, whatever a release calls them.
    ours = intraclass_correlation(table)
    for value in (ours.single, ours.mean):
        assert np.abs(found - value).min() < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_concordance_agrees_with_a_library(seed: int) -> None:
    from scipy.stats import friedmanchisquare  # noqa: PLC0415  # each test process would import it, for nothing

    table = ratings(seed, jurors=5, items=7)
    theirs = friedmanchisquare(*table.T).statistic / (5 * 6)
    assert kendall_w(table) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_preferences_agree_with_a_library(seed: int) -> None:
    import choix  # noqa: PLC0415  # the same

    random = np.random.default_rng(seed)
    wins = random.integers(1, 9, (6, 6)).astype(float)
    np.fill_diagonal(wins, 0)
    theirs = choix.mm_pairwise(
        6, [(i, j) for i in range(6) for j in range(6) for _ in range(int(wins[i, j]))], tol=1e-12
    )
    assert bradley_terry(wins, prior=0) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_ties_are_half_a_win_and_strengths_stay_finite() -> None:
    table = np.array([[[3.0, 3.0, 1.0], [4.0, 2.0, np.nan]]])
    assert comparisons(table).tolist() == [[0, 1.5, 1], [0.5, 0, 1], [0, 0, 0]]
    strengths = bradley_terry(np.array([[0.0, 9.0], [0.0, 0.0]]))
    assert np.isfinite(strengths).all()
    assert strengths[0] > strengths[1]


def test_what_cannot_be_said_is_no_number() -> None:
    assert math.isnan(krippendorff_alpha(np.full((3, 4), np.nan)))
    assert math.isnan(krippendorff_alpha(np.full((3, 4), 2.0)))
    assert math.isnan(intraclass_correlation(np.ones((1, 4))).single)
    assert math.isnan(kendall_w(np.ones((3, 4))))
