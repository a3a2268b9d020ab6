"""Strengths from comparisons in pairs: the model of Bradley and Terry, as a second opinion on the means."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST_STEPS = 10_000
_CLOSE = 1e-12


def comparisons(ratings: Array) -> Array:
    """Count who was rated higher by the same juror on the same clip; a tie is half a win for each.

    Parameters
    ----------
    ratings
        (jurors, clips, teams); NaN where there is none.

    Returns
    -------
    NDArray
        (teams, teams): how often the team of the row was above that of the column.
    """
    difference = ratings[..., :, None] - ratings[..., None, :]
    wins = np.where(np.isnan(difference), 0.0, np.where(difference > 0, 1.0, np.where(difference == 0, 0.5, 0.0)))
    total = wins.sum(axis=(0, 1))
    np.fill_diagonal(total, 0.0)
    return np.asarray(total)


def bradley_terry(wins: Array, prior: float = 0.5) -> Array:
    """Find the strengths that make the comparisons likeliest, by minorisation and maximisation.

    Source: D. R. Hunter, *MM algorithms for generalized Bradley-Terry models*, Annals of Statistics 32, 2004.

    Parameters
    ----------
    wins
        (teams, teams) wins of the row over the column, >= 0.
    prior
        Wins added to every ordered pair: with some, the strength of a team that won or lost everything stays finite.

    Returns
    -------
    NDArray
        (teams,) logarithms of the strengths, with mean 0. ``1 / (1 + exp(b - a))`` is the probability that a is
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
