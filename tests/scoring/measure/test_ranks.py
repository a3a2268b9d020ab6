"""Area under the curve and map measures: worked numbers, some from Quantus; agreement with scikit-learn and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from score.diagnostics import centre_prior, entropy, gini
from score.order import (
    above_chance_auc,
    auc,
    average_ranks,
    correlation,
)

Array = NDArray[np.float64]
# Few levels, so that ties are common.
PAIRS = st.integers(2, 20).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n, max_size=n)
    )
)


@given(pair=PAIRS)
def test_agreement_with_scikit_learn_and_scipy(pair: tuple[list[int], list[bool]]) -> None:
    scores, positive = np.array(pair[0], float), np.array(pair[1])
    assert average_ranks(scores) == pytest.approx(rankdata(scores))
    if positive.any() and not positive.all():
        assert auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-9)


@given(pair=PAIRS, power=st.sampled_from([0.5, 2.0, 3.0]))
def test_ranks_ignore_a_monotone_change(pair: tuple[list[int], list[bool]], power: float) -> None:
    scores, positive = np.array(pair[0], float), np.array(pair[1])
    if positive.any() and not positive.all():
        assert auc(scores**power, positive) == auc(scores, positive)
        assert auc(7 * scores + 3, positive) == auc(scores, positive)


def test_worked_numbers() -> None:
    # scores 3 2 2 1, hits at the first and one of the tied: pairs 2 x 2, won 1 + .5 + 1 + 1
    scores, positive = np.array([3.0, 2, 2, 1]), np.array([True, True, False, False])
    assert auc(scores, positive) == pytest.approx(3.5 / 4)
    assert above_chance_auc(scores, positive) == pytest.approx(0.75)
    assert correlation(np.ones(3), np.arange(3.0)) == 0


def test_map_measures_by_hand() -> None:
    one, uniform = np.zeros((2, 4)), np.ones((2, 4))
    one[1, 2] = 3
    assert gini(uniform) == pytest.approx(0)
    assert gini(one) == pytest.approx(7 / 8)  # (n - 1) / n
    assert entropy(uniform) == pytest.approx(np.log(8))
    assert entropy(one) == 0
    centre = centre_prior(9, 16)
    assert centre.argmax() in (4 * 16 + 7, 4 * 16 + 8)
    assert centre == pytest.approx(centre[::-1, ::-1])


def test_numbers_of_quantus() -> None:
    """Localisation, sparseness and complexity of six maps without ties, as Quantus 0.6.0 gives them."""
    theirs = {  # AUC, Sparseness and Complexity
        2: (0.350806, 0.197431, 4.900426),
        3: (0.419355, 0.331018, 4.780075),
        7: (0.548387, 0.426573, 4.656990),
        11: (0.552419, 0.498246, 4.541342),
        13: (0.530242, 0.553990, 4.434815),
        17: (0.578629, 0.598585, 4.337004),
    }
    for number, (factor, expected) in enumerate(theirs.items()):
        values = (np.arange(1, 145) * factor % 145 / 145) ** ((number + 1) / 2)
        mask = np.zeros((9, 16), dtype=bool)
        mask[number : number + 4, 2 * number : 2 * number + 5] = True
        assert (auc(values, mask.ravel()), gini(values), entropy(values)) == pytest.approx(expected, abs=1e-6)
