"""The bootstrap draws whole sources, and draws exactly what a plain loop would draw."""

import numpy as np
import pytest

from score import metrics
from score.metrics import METRICS, moments, percentile_interval, resample_weights


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
    assert percentile_interval(np.arange(101.0), 0.9) == pytest.approx((5, 95))


def test_the_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for run in range(200):
        truth = rng.uniform(0.2, 0.8, (60, 1))
        error = np.repeat(rng.normal(0.08, 0.03, (20, 1)), 3, axis=0) + rng.normal(0, 0.01, (60, 1))
        rows = moments(truth, truth + np.abs(error), np.array([0.5])).grouped(np.repeat(range(20), 3), 20)
        draws = np.concatenate([METRICS["accuracy"](rows.weighted(w)) for w in resample_weights(20, 300, run)])
        low, high = percentile_interval(draws[:, 0], 0.95)
        hits += bool(low <= 1 - 0.08 <= high)
    # Three clips a source: resampling clips instead would give intervals that are about half as long, and some 75 %.
    assert 0.88 <= hits / 200 <= 0.99
