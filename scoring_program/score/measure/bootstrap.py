"""Cluster bootstrap: whole sources are drawn with replacement, because clips of one source are not independent."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_CHUNK_BYTES = 64 * 2**20


def resample_weights(sources: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each source was drawn, in chunks of at most 64 MB.

    Row j of all chunks together is ``bincount(rng.integers(0, sources, sources))`` of the j-th draw: exactly the
    resamples that a plain loop would draw, at the cost of one matrix product.

    `sources`: number of sources, >= 1. `resamples`: number of resamples, >= 0. Yields (chunk, sources) weights; every
    row sums to ``sources``.
    """
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_BYTES // (8 * sources))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        weights = np.empty((rows, sources))
        for row in weights:
            row[:] = np.bincount(rng.integers(0, sources, sources), minlength=sources)
        yield weights


def percentile_interval(draws: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval of resampled statistics.

    `draws`: (resamples, ...) statistics. `level`: nominal coverage, in (0, 1). Returns lower and upper ends, each of
    the shape of one statistic.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high
