"""Agreement and preferences of jurors: alpha, intraclass correlations, W, and strengths from paired comparisons."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST_STEPS = 10_000
_CLOSE = 1e-12


def krippendorff_alpha(ratings: Array) -> float:
    """Agreement beyond chance of ordinal ratings, some of which may be missing.

    ``alpha = 1 - D_o / D_e`` over the coincidence matrix, with the squared ordinal distance
    ``(sum of n_g from i to j - (n_i + n_j) / 2)^2``. Source: K. Krippendorff, *Computing Krippendorff's
    Alpha-Reliability*, University of Pennsylvania, 2011.

    `ratings`: (jurors, items); NaN where a juror did not rate. Returns at most 1; 0 is chance. NaN if no item has two
    ratings, or all ratings are equal.
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


def intraclass_correlation(ratings: Array) -> tuple[float, float]:
    """ICC(2,1) of one juror's rating and ICC(2,k) of the mean over all k: two-way random effects, absolute agreement.

    Source: P. E. Shrout and J. L. Fleiss, *Intraclass correlations: uses in assessing rater reliability*,
    Psychological Bulletin 86, 1979.

    `ratings`: (jurors, items), complete; at least two of each, else NaN.
    """
    ratings = np.asarray(ratings, dtype=float)
    jurors, items = ratings.shape
    if jurors < 2 or items < 2:
        return float("nan"), float("nan")
    mean = ratings.mean()
    by_item, by_juror = ratings.mean(axis=0), ratings.mean(axis=1)
    between_items = jurors * ((by_item - mean) ** 2).sum() / (items - 1)
    between_jurors = items * ((by_juror - mean) ** 2).sum() / (jurors - 1)
    rest = ratings - by_item[None, :] - by_juror[:, None] + mean
    error = (rest**2).sum() / ((jurors - 1) * (items - 1))
    single = between_items + (jurors - 1) * error + jurors * (between_jurors - error) / items
    several = between_items + (between_jurors - error) / items
    return _ratio(between_items - error, single), _ratio(between_items - error, several)


def kendall_w(scores: Array) -> float:
    """Concordance of rankings, corrected for ties: ``12 S / (m^2 (n^3 - n) - m sum T)``.

    Source: M. G. Kendall and B. Babington Smith, *The problem of m rankings*, Annals of Mathematical Statistics 10,
    1939.

    `scores`: (jurors, teams) higher is better. Returns a value in [0, 1]; NaN with fewer than two teams or jurors, or
    if every juror ties all teams.
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


def comparisons(ratings: Array) -> Array:
    """Count who was rated higher by the same juror on the same clip; a tie is half a win for each.

    `ratings`: (jurors, clips, teams); NaN without a rating. Returns (teams, teams): how often the team of the row was
    above that of the column.
    """
    difference = ratings[..., :, None] - ratings[..., None, :]
    wins = np.where(np.isnan(difference), 0.0, np.where(difference > 0, 1.0, np.where(difference == 0, 0.5, 0.0)))
    total = wins.sum(axis=(0, 1))
    np.fill_diagonal(total, 0.0)
    return np.asarray(total)


def bradley_terry(wins: Array, prior: float = 0.5) -> Array:
    """Find the strengths that make the comparisons likeliest, by minorisation and maximisation.

    Source: D. R. Hunter, *MM algorithms for generalized Bradley-Terry models*, Annals of Statistics 32, 2004.

    `wins`: (teams, teams) wins of the row over the column, >= 0.
    `prior`: wins added to every ordered pair, so that the strength of a team that won or lost everything stays finite.
    Returns (teams,) logarithms of the strengths, with mean 0. ``1 / (1 + exp(b - a))`` is the probability that a is
    preferred to b.
    """
    wins = np.asarray(wins, dtype=float) + prior * (1 - np.eye(len(wins)))
    games = wins + wins.T
    strengths = np.ones(len(wins))
    for _ in range(_MOST_STEPS):
        updated = wins.sum(axis=1) / (games / (strengths[:, None] + strengths[None, :])).sum(axis=1)
        updated /= np.exp(np.log(updated).mean())
        done = np.abs(np.log(updated / strengths)).max() < _CLOSE
        strengths = updated
        if done:
            break
    return np.asarray(np.log(strengths))


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below > 0 else float("nan")
