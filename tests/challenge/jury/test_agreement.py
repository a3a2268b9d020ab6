"""Agreement between jurors: properties, numbers of papers and of other implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bundle_tools.challenge.jury.result import bradley_terry, comparisons, krippendorff_alpha

Array = NDArray[np.float64]
SEEDS = st.integers(0, 10_000)
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


@given(SEEDS)
def test_order_does_not_matter(seed: int) -> None:
    given_ = ratings(seed, missing=0.1)
    random = np.random.default_rng(seed)
    mixed = given_[random.permutation(4)][:, random.permutation(20)]
    assert krippendorff_alpha(mixed) == pytest.approx(krippendorff_alpha(given_))


@given(SEEDS)
def test_agreement_is_best_when_all_say_the_same(seed: int) -> None:
    same = np.tile(ratings(seed, jurors=1), (3, 1))
    same[:, 0] = 0
    same[:, 1] = 5
    assert krippendorff_alpha(same) == pytest.approx(1)


def test_chance_is_nothing() -> None:
    random = np.random.default_rng(7)
    drawn = [random.integers(0, 6, (5, 60)).astype(float) for _ in range(60)]
    assert abs(np.mean([krippendorff_alpha(one) for one in drawn])) < 0.01


def test_the_worked_number_of_the_paper() -> None:
    assert round(krippendorff_alpha(KRIPPENDORFF), 3) == 0.815


def test_preferences_of_choix() -> None:
    """What `mm_pairwise` of choix 0.4.1 makes of the same comparisons."""
    wins = np.array([[0.0, 7, 5, 3], [2, 0, 4, 8], [1, 6, 0, 2], [4, 1, 3, 0]])
    assert bradley_terry(wins, prior=0) == pytest.approx([0.588248, -0.009035, -0.219656, -0.359556], abs=1e-6)


def test_ties_are_half_a_win_and_strengths_stay_finite() -> None:
    table = np.array([[[3.0, 3.0, 1.0], [4.0, 2.0, np.nan]]])
    assert comparisons(table).tolist() == [[0, 1.5, 1], [0.5, 0, 1], [0, 0, 0]]
    strengths = bradley_terry(np.array([[0.0, 9.0], [0.0, 0.0]]))
    assert np.isfinite(strengths).all()
    assert strengths[0] > strengths[1]


def test_what_cannot_be_said_is_no_number() -> None:
    assert math.isnan(krippendorff_alpha(np.full((3, 4), np.nan)))
    assert math.isnan(krippendorff_alpha(np.full((3, 4), 2.0)))
