"""The result of a jury: values with intervals, agreement (alpha), and preferences from paired comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.bands import Contender, bands, middle_ranks, places
from bundle_tools.challenge.jury.criteria import Key, Rules
from bundle_tools.challenge.jury.panel import Panel
from bundle_tools.errors import BundleError

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


_SAME = 1e-9


@dataclass(frozen=True)
class Agreement:
    """How far the counting jurors agree on one criterion; NaN if it cannot be computed."""

    criterion: str
    alpha: float
    interval: tuple[float, float]
    """Interval of alpha, over resampled clips."""


@dataclass(frozen=True)
class Placed:
    """One finalist."""

    letter: str
    name: str
    value: float
    """Mean rating on the scale of the criteria, corrected for each juror's level and spread."""
    interval: tuple[float, float]
    """Over resampled clips and jurors."""
    by_criterion: dict[str, float]
    z: float
    """Standardised mean, 0 for the average finalist."""
    band: int
    preference: float
    """Probability of being preferred to the average finalist, by the Bradley-Terry model."""
    measured_band: int
    mean_rank: float
    """Mean of the ranks by measured band and by the jury."""
    place: int
    """Final place; shared if only an extra juror could decide."""
    passed: int
    """How often counting jurors could not judge it. These give no rating, so read the texts if there are many."""


@dataclass(frozen=True)
class JuryResult:
    """The result of a jury."""

    placed: tuple[Placed, ...]
    """Best first."""
    agreement: tuple[Agreement, ...]
    extra_juror: tuple[str, ...]
    """Names of finalists between whom an extra juror has to decide."""


def evaluate(panel: Panel, key: Key, rules: Rules) -> JuryResult:
    """Compute the result from the jurors who count.

    Each juror's ratings are standardised over the genuine items, criterion by criterion. A team's value is its effect
    in the additive model ``rating = team + clip + juror``, which is its mean for a complete jury, and stays fair if
    a juror skipped an item. Intervals resample clips and jurors.

    Raises BundleError if no juror counts, or a team has no rating by a counting juror.
    """
    counting = panel.counting()
    if not counting.jurors:
        why = "; ".join(f"juror {juror.number} {' and '.join(juror.reasons)}" for juror in panel.jurors)
        raise BundleError(f"No juror counts, so there is no result: {why}.")
    ratings = counting.ratings
    rated = np.asarray(~np.isnan(ratings).any(axis=3))
    unrated = [team.name for at, team in enumerate(key.teams) if not rated[:, :, at].any()]
    if unrated:
        raise BundleError(f"{', '.join(unrated)}: no juror who counts rated them. Wait for more ratings.")
    weights = np.array([criterion.weight for criterion in rules.criteria])
    scores = standardised(ratings)
    effects = _by_criterion(scores, np.ones(ratings.shape[0]), np.ones(ratings.shape[1]))
    # Of each criterion, over all counting jurors.
    level, spread = np.nanmean(ratings, axis=(0, 1, 2)), np.nanmean(np.nanstd(ratings, axis=(1, 2)), axis=0)

    def on_scale(effects: Array) -> Array:
        return np.asarray(np.clip(level + spread * effects, rules.lowest, rules.highest))

    z, by_criterion = effects @ weights, on_scale(effects)
    values = by_criterion @ weights
    draws = np.stack([on_scale(drawn) @ weights for drawn in resampled_effects(scores, rules)])
    ends = np.quantile(draws, [(1 - rules.level) / 2, (1 + rules.level) / 2], axis=0)
    band_of = bands([Contender(team.letter, values[at], draws[:, at]) for at, team in enumerate(key.teams)])
    strengths = bradley_terry(comparisons((scores * weights).sum(axis=3).round(9)))
    measured = middle_ranks([-float(team.band) for team in key.teams])
    mean_ranks = (measured + middle_ranks(values.round(9))) / 2
    order = _final(mean_ranks, strengths)
    placed = [
        Placed(
            letter=team.letter,
            name=team.name,
            value=float(values[at]),
            interval=(float(ends[0, at]), float(ends[1, at])),
            by_criterion={
                criterion.name: float(value) for criterion, value in zip(rules.criteria, by_criterion[at], strict=True)
            },
            z=float(z[at]),
            band=band_of[team.letter],
            preference=float(1 / (1 + np.exp(-strengths[at]))),
            measured_band=team.band,
            mean_rank=float(mean_ranks[at]),
            place=order[at],
            passed=int(counting.passed[:, :, at].sum()),
        )
        for at, team in enumerate(key.teams)
    ]
    tied = tuple(team.name for at, team in enumerate(key.teams) if order.count(order[at]) > 1)
    ranked = tuple(sorted(placed, key=lambda team_placed: (team_placed.place, team_placed.letter)))
    seen = np.where(counting.missing[None, :, :, None], np.nan, ratings)  # jurors were not asked about these
    return JuryResult(ranked, _agreement(seen, rules), tied)


def standardised(ratings: Array) -> Array:
    """Correct ratings for each juror's own level and spread, criterion by criterion.

    `ratings`: (jurors, clips, teams, criteria), NaN where there is none. Returns the same shape; for each juror and
    criterion mean 0 and standard deviation 1, or all 0.
    """
    mean = np.nanmean(ratings, axis=(1, 2), keepdims=True)
    spread = np.nanstd(ratings, axis=(1, 2), keepdims=True)
    return np.asarray((ratings - mean) / np.where(spread > 0, spread, 1.0))


def team_effects(scores: Array, jurors: Array, clips: Array) -> Array:
    """Fit ``score = team + clip + juror`` by weighted least squares.

    The jurors' term matters if they skipped items: the standardised ratings of a juror who rated only weaker teams have
    mean 0, too.

    `scores`: (jurors, clips, teams), NaN where there is none. `jurors` and `clips`: weight of each, >= 0. Returns
    (teams,) effects with mean 0.
    """
    weight = (jurors[:, None, None] * clips[None, :, None] * ~np.isnan(scores)).transpose(2, 1, 0)
    total = weight * np.nan_to_num(scores).transpose(2, 1, 0)
    by_clip, by_juror, between = weight.sum(axis=2), weight.sum(axis=1), weight.sum(axis=0)
    normal = np.block(
        [
            [np.diag(by_clip.sum(axis=1)), by_clip, by_juror],
            [by_clip.T, np.diag(by_clip.sum(axis=0)), between],
            [by_juror.T, between.T, np.diag(by_juror.sum(axis=0))],
        ]
    )
    right = np.concatenate([total.sum(axis=(1, 2)), total.sum(axis=(0, 2)), total.sum(axis=(0, 1))])
    effects = np.linalg.lstsq(normal, right, rcond=None)[0][: len(by_clip)]
    return np.asarray(effects - effects.mean())


def _by_criterion(scores: Array, jurors: Array, clips: Array) -> Array:
    return np.stack([team_effects(scores[..., number], jurors, clips) for number in range(scores.shape[3])], axis=1)


def resampled_effects(scores: Array, rules: Rules) -> Sequence[Array]:
    """Fit every resample of jurors and clips in which each team has a rating.

    With few jurors, the mean of k drawn out of k varies too little by (k - 1) / k, so one fewer is drawn. Source:
    J. N. K. Rao and C. F. J. Wu, *Resampling inference with complex survey data*, Journal of the American Statistical
    Association 83, 1988. With one juror, only clips are resampled.

    `scores`: (jurors, clips, teams, criteria), NaN where there is none. Returns (teams, criteria) effects of each
    resample.
    """
    random = np.random.default_rng(rules.seed)
    jurors, clips = scores.shape[:2]
    rated = ~np.isnan(scores).any(axis=3)
    draws = []
    for _ in range(rules.resamples):
        weights = (
            random.multinomial(max(1, jurors - 1), np.full(jurors, 1 / jurors)).astype(float),
            random.multinomial(clips, np.full(clips, 1 / clips)).astype(float),
        )
        drawn = weights[0][:, None, None] * weights[1][None, :, None] * rated
        if (drawn.sum(axis=(0, 1)) > 0).all():
            draws.append(_by_criterion(scores, *weights))
    return draws or [_by_criterion(scores, np.ones(jurors), np.ones(clips))]


def _final(mean_ranks: Array, strengths: Array) -> list[int]:
    """Place teams by mean rank, then by preference; the rest stay tied."""
    ranks = places((-mean_ranks).round(9))
    result = list(ranks)
    for rank in set(ranks):
        tied = [at for at, other in enumerate(ranks) if other == rank]
        inner = places([round(strengths[at] / _SAME) * _SAME for at in tied])
        for at, within in zip(tied, inner, strict=True):
            result[at] = rank + within - 1
    return result


def _agreement(ratings: Array, rules: Rules) -> tuple[Agreement, ...]:
    jurors, clips, _, _ = ratings.shape
    drawn = np.random.default_rng(rules.seed).integers(0, clips, (rules.resamples, clips))
    tails = [(1 - rules.level) / 2, (1 + rules.level) / 2]
    result = []
    for number, criterion in enumerate(rules.criteria):
        rated = ratings[..., number]
        alphas = np.array([krippendorff_alpha(rated[:, chosen].reshape(jurors, -1)) for chosen in drawn])
        known = alphas[~np.isnan(alphas)]
        low, high = np.quantile(known, tails) if known.size else (np.nan, np.nan)
        alpha = krippendorff_alpha(rated.reshape(jurors, -1))
        result.append(Agreement(criterion.name, alpha, (float(low), float(high))))
    return tuple(result)
