"""How much a phase reveals of its hidden labels, and how much submitting variants can gain."""

from collections.abc import Iterable, Mapping
from math import ceil, log2, sqrt
from typing import Any

SKILL_BEFORE = 0.4
"""Skill over the constant of the entry that is varied: a good one with room left."""
GAIN_ALLOWED = 0.02
"""Of skill. At a total of 50 points it is worth about 1.5, less than half of what counts with 120 clips."""


def bits_of(columns: Iterable[Mapping[str, Any]]) -> float:
    """Return how many bits of labels a closed report holds at most: log2 of the values that each number can take.

    Parameters
    ----------
    columns
        Score columns that depend on labels; the interval of the first one is shown, too.
    """
    bits = 0.0
    for number, column in enumerate(columns):
        span = column["maximum"] - column["minimum"]
        bits += log2(span * 10 ** column["decimals"] + 1)
        bits += 0 if number else 2 * log2(span * 10 ** column["closed_spread"] + 1)
    return bits


def gain(scores: int, labels: int, submissions: float) -> float:
    """Return how much skill the last of some submissions can owe to the scores of the others.

    Each score is taken for one exact linear equation about the residuals t - p. If these are independent and normal,
    q equations in directions that do not depend on them leave 1 - q/N of their variance (the mean of a projection),
    and so sqrt(1 - q/N) of the absolute error. Least squares from released answers: Dinur & Nissim, *Revealing
    information while preserving privacy*, PODS 2003.

    Parameters
    ----------
    scores
        Of a submission that depend on labels.
    labels
        N, clips times targets, >= 1.
    submissions
        That one participant may make, >= 1; inf for any number.
    """
    return (1 - SKILL_BEFORE) * (1 - sqrt(max(0.0, 1 - scores * (submissions - 1) / labels)))


def labels_needed(scores: int, submissions: float) -> int:
    """Return the fewest labels with which `gain` is `GAIN_ALLOWED` at most; submissions are finite."""
    return ceil(scores * (submissions - 1) / _share_allowed())


def submissions_allowed(scores: int, labels: int) -> int:
    """Return the most submissions with which `gain` is `GAIN_ALLOWED` at most."""
    return 1 + int(labels * _share_allowed() / scores)


def _share_allowed() -> float:
    return 1 - (1 - GAIN_ALLOWED / (1 - SKILL_BEFORE)) ** 2
