"""How far jurors agree: Krippendorff's alpha, intraclass correlations, Kendall's W."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Two-way random effects, absolute agreement."""

    single: float
    """ICC(2,1): of one juror's rating."""
    mean: float
    """ICC(2,k): of the mean over all k jurors."""


def krippendorff_alpha(ratings: Array) -> float:
    """Agreement beyond chance of ordinal ratings, some of which may be missing.

    ``alpha = 1 - D_o / D_e`` over the coincidence matrix, with the squared ordinal distance
    ``(sum of n_g from i to j - (n_i + n_j) / 2)^2``. Source: K. Krippendorff, *Computing Krippendorff's
    Alpha-Reliability*, University of Pennsylvania, 2011.

    Parameters
    ----------
    ratings
        (jurors, items); NaN where a juror did not rate.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN when no item has two ratings, or all ratings are the same.
    """
    ratings = np.asarray(ratings, dtype=float)
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = np.stack([(ratings == value).sum(axis=0) for value in values]) if values.size else np.zeros((0, 0))
    counts = counts[:, counts.sum(axis=0) > 1].astype(float) if counts.size else counts
    if not counts.size:
        return float("nan")
    raters = counts.sum(axis=0)
    coincidence = (counts / (raters - 1)) @ counts.T - np.diag((counts / (raters - 1)).sum(axis=1))
    totals = coincidence.sum(axis=1)
    middles = np.cumsum(totals) - totals / 2
    distance = (middles[:, None] - middles[None, :]) ** 2
    expected = (np.outer(totals, totals) * distance).sum() / (totals.sum() - 1)
    return float(1 - (coincidence * distance).sum() / expected) if expected > 0 else float("nan")


def intraclass_correlation(ratings: Array) -> IntraclassCorrelation:
    """ICC(2,1) and ICC(2,k) from the mean squares of items, jurors and error.

    Source: P. E. Shrout and J. L. Fleiss, *Intraclass correlations: uses in assessing rater reliability*,
    Psychological Bulletin 86, 1979.

    Parameters
    ----------
    ratings
        (jurors, items), complete; at least two of each, else NaN.
    """
    ratings = np.asarray(ratings, dtype=float)
    jurors, items = ratings.shape
    if jurors < 2 or items < 2:
        return IntraclassCorrelation(float("nan"), float("nan"))
    mean = ratings.mean()
    by_item, by_juror = ratings.mean(axis=0), ratings.mean(axis=1)
    between_items = jurors * ((by_item - mean) ** 2).sum() / (items - 1)
    between_jurors = items * ((by_juror - mean) ** 2).sum() / (jurors - 1)
    rest = ratings - by_item[None, :] - by_juror[:, None] + mean
    error = (rest**2).sum() / ((jurors - 1) * (items - 1))
    single = between_items + (jurors - 1) * error + jurors * (between_jurors - error) / items
    several = between_items + (between_jurors - error) / items
    return IntraclassCorrelation(_ratio(between_items - error, single), _ratio(between_items - error, several))


def kendall_w(scores: Array) -> float:
    """Concordance of rankings, corrected for ties: ``12 S / (m^2 (n^3 - n) - m sum T)``.

    Source: M. G. Kendall and B. Babington Smith, *The problem of m rankings*, Annals of Mathematical Statistics 10,
    1939.

    Parameters
    ----------
    scores
        (jurors, teams) higher is better.

    Returns
    -------
    float
        In [0, 1]; NaN with fewer than two teams or jurors, or where every juror ties all teams.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    scores = np.asarray(scores, dtype=float)
    jurors, teams = scores.shape
    if jurors < 2 or teams < 2:
        return float("nan")
    ranks = rankdata(scores, axis=1)
    spread = ((ranks.sum(axis=0) - jurors * (teams + 1) / 2) ** 2).sum()
    ties = sum(float((counts**3 - counts).sum()) for row in ranks for _, counts in [np.unique(row, return_counts=True)])
    return _ratio(12 * spread, jurors**2 * (teams**3 - teams) - jurors * ties)


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below > 0 else float("nan")
