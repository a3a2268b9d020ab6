"""How many clips a ranking needs, and how much a phase reveals of its hidden labels."""

from collections.abc import Iterable, Mapping
from math import ceil, log2, sqrt
from typing import Any

SD_PER_CLIP = 22.0
"""Standard deviation of the difference between the totals of two entries, points, as if there were one clip.

Measured by paired bootstrap over people on sets of 24 drawn clips: pairs of different models had 3.8 to 5.3 points, so
19 to 26 times 1/sqrt(24); variants of one model had 1.5 to 3.8.
"""
CLIPS_TO_RANK = 120
"""With this many, differences of four points count; more clips help little and take time."""


def points_apart(clips: int) -> float:
    """Return how far the totals of two entries must lie apart to be told apart, points: 2 * SD / sqrt(clips).

    Two standard errors of the difference, about its 95 % interval if it is normal.
    """
    if clips < 1:
        raise ValueError(f"expected at least one clip, found {clips}")
    return 2 * SD_PER_CLIP / sqrt(clips)


LEAST_SKILL = 0.1
"""Least share of the training mean's error that a skill reference removes, at the low end of its interval."""
SKILL_BEFORE = 0.4
"""Skill over the constant of the varied entry: good, but with room left."""
GAIN_ALLOWED = 0.02
"""Allowed gain in skill: about 1.5 points at a total of 50, less than half of what counts with 120 clips."""


def bits_of(columns: Iterable[Mapping[str, Any]]) -> float:
    """Return the most bits about labels in a closed report: log2 of the number of values that each score can take.

    `columns`: score columns that depend on labels; the interval of the first one is shown, too.
    """
    bits = 0.0
    for number, column in enumerate(columns):
        span = column["maximum"] - column["minimum"]
        bits += log2(span * 10 ** column["decimals"] + 1)
        bits += 0 if number else 2 * log2(span * 10 ** column["closed_spread"] + 1)
    return bits


def gain(scores: int, labels: int, submissions: float) -> float:
    """Return how much skill the last submission can gain from the scores of the earlier ones.

    Each score is treated as one exact linear equation about the residuals t - p. If these are independent and normal,
    q equations in directions that do not depend on them leave 1 - q/N of their variance (the mean of a projection),
    and so sqrt(1 - q/N) of the absolute error. Least squares from released answers: Dinur & Nissim, *Revealing
    information while preserving privacy*, PODS 2003.

    `labels`: N, clips times targets, >= 1. `submissions`: submissions allowed to one participant, >= 1; inf for any
    number.
    """
    return (1 - SKILL_BEFORE) * (1 - sqrt(max(0.0, 1 - scores * (submissions - 1) / labels)))


def labels_needed(scores: int, submissions: float) -> int:
    """Return the fewest labels for which `gain` is at most `GAIN_ALLOWED`; submissions must be finite."""
    return ceil(scores * (submissions - 1) / _share_allowed())


def submissions_allowed(scores: int, labels: int) -> int:
    """Return the most submissions for which `gain` is at most `GAIN_ALLOWED`."""
    return 1 + int(labels * _share_allowed() / scores)


def _share_allowed() -> float:
    return 1 - (1 - GAIN_ALLOWED / (1 - SKILL_BEFORE)) ** 2
