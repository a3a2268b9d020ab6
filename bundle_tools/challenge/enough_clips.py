"""How many clips a ranking needs: which differences between explanation totals are more than chance."""

from math import sqrt

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
