"""The bootstrap draws whole sources, and draws exactly what a plain loop would draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray
from scipy.stats import pearsonr
from sklearn.metrics import mean_absolute_error, r2_score

from score import metrics
from score.metrics import METRICS, Moments, moments, percentile_interval, resample_weights


def test_equals_a_plain_loop_over_resampled_clusters() -> None:
    rng = np.random.default_rng(3)
    truth, prediction = rng.uniform(0, 1, (30, 2)), rng.uniform(0, 1, (30, 2))
    prediction[4] = np.nan
    sources = rng.integers(0, 9, 30)
    sources[:9] = range(9)
    constant = np.array([0.4, 0.6])

    by_source = moments(truth, prediction, constant).grouped(sources, 9)
    fast = np.concatenate([METRICS["accuracy"](by_source.weighted(w)) for w in resample_weights(9, 40, 7)])
    fast_ccc = np.concatenate([METRICS["ccc"](by_source.weighted(w)) for w in resample_weights(9, 40, 7)])

    draws = np.random.default_rng(7)
    assert len(fast) == 40
    for row in range(40):
        chosen = np.concatenate([np.flatnonzero(sources == source) for source in draws.integers(0, 9, 9)])
        plain = moments(truth[chosen], prediction[chosen], constant)
        sums = plain.weighted(np.ones((1, len(chosen))))
        assert fast[row] == pytest.approx(METRICS["accuracy"](sums)[0])
        assert fast_ccc[row] == pytest.approx(METRICS["ccc"](sums)[0])


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resample_weights(5, 20, 1)))
    monkeypatch.setattr(metrics, "_CHUNK_BYTES", 8 * 5 * 3)
    parts = list(resample_weights(5, 20, 1))
    assert len(parts) == 7
    assert np.array_equal(np.concatenate(parts), whole)


def test_each_resample_has_as_many_sources_as_the_data() -> None:
    weights = np.concatenate(list(resample_weights(11, 100, 2)))
    assert (weights.sum(axis=1) == 11).all()
    assert weights.std() > 0.5


def test_percentiles_by_hand() -> None:
    # 0, 1, .. 100 with level .9: the 5th and the 95th percentile
    draws = np.arange(101.0)
    assert percentile_interval(draws, 0.9) == pytest.approx((5, 95))
    low, high = percentile_interval(np.stack((draws, 2 * draws), axis=1), 0.9)
    assert [*low, *high] == pytest.approx([5, 10, 95, 190])


def test_the_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for run in range(200):
        truth = rng.uniform(0.2, 0.8, (60, 1))
        error = np.repeat(rng.normal(0.08, 0.03, (20, 1)), 3, axis=0) + rng.normal(0, 0.01, (60, 1))
        rows = moments(truth, truth + np.abs(error), np.array([0.5])).grouped(np.repeat(range(20), 3), 20)
        draws = np.concatenate([METRICS["accuracy"](rows.weighted(w)) for w in resample_weights(20, 150, run)])
        low, high = percentile_interval(draws[:, 0], 0.95)
        hits += bool(low <= 1 - 0.08 <= high)
    # Three clips a source: resampling clips instead would give intervals that are about half as long, and some 75 %.
    assert 0.88 <= hits / 200 <= 0.99


Array = NDArray[np.float64]
UNIT = st.floats(0, 1, width=32).map(lambda value: round(value, 3))
PAIRS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(arrays(float, (n, 1), elements=UNIT), arrays(float, (n, 1), elements=UNIT))
)
# Failing a clip can never raise these; a correlation can be raised by removing a good clip, and is in no column.
MONOTONE = [name for name in METRICS if name != "pearson"]
CONSTANT = np.array([0.5])


def sums(truth: ArrayLike, prediction: ArrayLike, constant: Array = CONSTANT) -> Moments:
    t, p = np.array(truth, float), np.array(prediction, float)
    if t.ndim == 1:
        t, p = t[:, None], p[:, None]
    return moments(t, p, constant).weighted(np.ones((1, len(t))))


def value(name: str, truth: ArrayLike, prediction: ArrayLike, constant: Array = CONSTANT) -> float:
    return float(METRICS[name](sums(truth, prediction, constant))[0, 0])


def spread(values: Array) -> float:
    return float(np.ptp(values))


@given(pair=PAIRS, data=st.data())
def test_order_of_clips_changes_nothing(pair: tuple[Array, Array], data: st.DataObject) -> None:
    truth, prediction = pair
    order = data.draw(st.permutations(range(len(truth))))
    for name in METRICS:
        shuffled = value(name, truth[order], prediction[order])
        assert shuffled == pytest.approx(value(name, truth, prediction), abs=1e-9), name


@given(pair=PAIRS, data=st.data())
def test_a_resample_counts_as_the_clips_that_it_draws(pair: tuple[Array, Array], data: st.DataObject) -> None:
    """Labels are centred over all clips: only in a resample are their sums not 0."""
    truth, prediction = pair
    numbers = st.integers(0, len(truth) - 1)
    prediction[data.draw(st.lists(numbers, max_size=2))] = np.nan
    drawn = data.draw(st.lists(numbers, min_size=1, max_size=12))
    weights = np.bincount(drawn, minlength=len(truth))[None].astype(float)
    rows = moments(truth, prediction, CONSTANT).weighted(weights)
    for name, metric in METRICS.items():
        expected = value(name, truth[drawn], prediction[drawn])
        assert float(metric(rows)[0, 0]) == pytest.approx(expected, rel=1e-6, abs=1e-6), name


@given(pair=PAIRS)
def test_values_stay_in_bounds(pair: tuple[Array, Array]) -> None:
    for name in METRICS:
        low = {"accuracy": 0.0, "r2": -np.inf}.get(name, -1.0)
        assert low <= value(name, *pair) <= 1, name


@given(pair=PAIRS)
def test_perfect_is_best(pair: tuple[Array, Array]) -> None:
    truth, prediction = pair
    for name in METRICS:
        perfect = value(name, truth, truth)
        assert perfect >= value(name, truth, prediction) - 1e-9, name
        if spread(truth) > 0:
            assert perfect == pytest.approx(1), name


@given(pair=PAIRS, data=st.data())
def test_failing_one_more_clip_never_pays(pair: tuple[Array, Array], data: st.DataObject) -> None:
    truth, prediction = pair
    failed = data.draw(st.lists(st.integers(0, len(truth) - 1), min_size=1, unique=True))
    before, after = prediction.copy(), prediction.copy()
    before[failed[1:]] = np.nan
    after[failed] = np.nan
    for name in MONOTONE:
        assert value(name, truth, after) <= value(name, truth, before) + 1e-9, name


@given(pair=PAIRS)
def test_turning_the_scale_round_changes_nothing(pair: tuple[Array, Array]) -> None:
    truth, prediction = pair
    for name in METRICS:
        turned = value(name, 1 - truth, 1 - prediction, 1 - CONSTANT)
        assert turned == pytest.approx(value(name, truth, prediction), abs=1e-6), name


@given(pair=PAIRS, factor=st.floats(0.1, 1), shift=st.floats(0, 0.5))
def test_correlation_ignores_an_affine_change_of_the_prediction(
    pair: tuple[Array, Array], factor: float, shift: float
) -> None:
    truth, prediction = pair
    moved = value("pearson", truth, factor * prediction / 2 + shift)
    assert moved == pytest.approx(value("pearson", truth, prediction), abs=1e-6)


@given(pair=PAIRS)
def test_concordance_never_exceeds_correlation(pair: tuple[Array, Array]) -> None:
    truth, prediction = pair
    if spread(truth) > 0 and spread(prediction) > 0:
        assert abs(value("ccc", truth, prediction)) <= abs(value("pearson", truth, prediction)) + 1e-6


@given(pair=PAIRS, constant=UNIT)
def test_the_constant_has_no_skill(pair: tuple[Array, Array], constant: float) -> None:
    truth, _ = pair
    assert value("skill", truth, np.full_like(truth, constant), np.array([constant])) == pytest.approx(0, abs=1e-9)


@given(pair=PAIRS)
def test_agreement_with_scikit_learn_and_scipy(pair: tuple[Array, Array]) -> None:
    truth, prediction = pair
    assert value("accuracy", truth, prediction) == pytest.approx(1 - mean_absolute_error(truth, prediction))
    if spread(truth) > 0:  # with one truth for all, scikit-learn divides by its rounding error
        assert value("r2", truth, prediction) == pytest.approx(r2_score(truth, prediction), rel=1e-6, abs=1e-6)
    if spread(truth) > 0 and spread(prediction) > 0:
        expected = pearsonr(truth[:, 0], prediction[:, 0]).statistic
        assert value("pearson", truth, prediction) == pytest.approx(expected, abs=1e-6)


@given(pair=PAIRS)
def test_concordance_is_lins(pair: tuple[Array, Array]) -> None:
    t, p = (values[:, 0] for values in pair)
    denominator = t.var() + p.var() + (t.mean() - p.mean()) ** 2
    if denominator > 1e-9:
        lin = 2 * np.cov(t, p, bias=True)[0, 1] / denominator
        assert value("ccc", t, p) == pytest.approx(lin, abs=1e-6)


# truth, prediction, and by hand:
# 1. errors .1 .1 .1: MAE .1; sum e2 .03; mean t .5, sum (t-.5)^2 = .08; R2 = 1-.03/.08;
#    sum (p-.5)^2 = .01+.01+.01 = .03, so CCC = 1-.03/.11; constant .5 has MAE .4/3, so skill = 1-.1/(.4/3)
# 2. two clips, the second failed: |e| = .1 and 1; e2 = .01 and 1; sum (t-.5)^2 = .18; the first adds (p-.5)^2 = .16,
#    the second nothing; CCC = 1-1.01/.34 < -1, so -1; q of the failed clip is the far end 0: r(.2,.8; .1,0) = -1
TABLE = [
    ([0.3, 0.5, 0.7], [0.4, 0.4, 0.6], {"accuracy": 0.9, "r2": 0.625, "ccc": 8 / 11, "skill": 0.25}),
    (
        [0.2, 0.8],
        [0.1, np.nan],
        {"accuracy": 0.45, "r2": 1 - 1.01 / 0.18, "ccc": -1, "pearson": -1, "skill": 1 - 1.1 / 0.6},
    ),
    # Below 0.5, the far end is 1: t - .5 = -.3 0 .3 and q - .6 = .4 -.1 -.3; from 0.5 on, 0: q - .2 = -.1 -.2 .3.
    ([0.2, 0.5, 0.8], [np.nan, 0.5, 0.3], {"pearson": -0.21 / np.sqrt(0.18 * 0.26)}),
    ([0.2, 0.5, 0.8], [0.1, np.nan, 0.5], {"pearson": 0.12 / np.sqrt(0.18 * 0.14)}),
    ([0.2, 0.8], [np.nan, np.nan], {"accuracy": 0, "ccc": -1, "skill": -1}),
    ([0.4, 0.4], [0.4, 0.4], {"accuracy": 1, "r2": 1, "ccc": 1, "pearson": 0, "skill": 1}),
    ([0.4, 0.4], [0.5, 0.3], {"accuracy": 0.9, "r2": 0, "ccc": 0, "pearson": 0, "skill": 0}),
    ([0.4, 0.4], [np.nan, np.nan], {"accuracy": 0, "r2": 0, "ccc": -1}),
    ([0.5, 0.5], [0.5, 0.5], {"skill": 0}),
    ([0.5, 0.5], [0.5, 0.6], {"skill": -1}),
]


@pytest.mark.parametrize(("truth", "prediction", "expected"), TABLE)
def test_worked_numbers(truth: list[float], prediction: list[float], expected: dict[str, float]) -> None:
    found = {name: value(name, truth, prediction) for name in expected}
    assert found == pytest.approx(expected, abs=1e-9)
