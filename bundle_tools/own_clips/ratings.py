"""Ratings of several people for one clip: their mean, how far the raters agree, and how far off the mean is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bundle_tools.phase_data.settings import Target

LEVELS = 100
"""Ratings are compared in steps of this share of the range, so that a scale without steps takes no more time."""


@dataclass(frozen=True)
class Ratings:
    """How clips were rated, if the table says who rated them."""

    raters: int
    each: str
    """How many ratings a clip has, such as 3, or 2 to 5."""
    agreement: Mapping[str, float]
    """Krippendorff's alpha by target, at most 1; 0 is chance. NaN if no clip has two ratings, or all are equal."""
    noise: Mapping[str, float]
    """Standard deviation of the error of a clip's mean rating by target, on its scale; without targets of which no clip
    has two ratings."""


def agreement(rated: Sequence[tuple[str, str, tuple[float, ...]]], targets: Sequence[Target]) -> Ratings:
    """Return how far raters agree.

    `rated`: clip, rater, and one rating per target, NaN where there is none.
    """
    # Imports a jury's rules, which few need here.
    from bundle_tools.challenge.jury.result import krippendorff_alpha  # noqa: PLC0415

    clips, of_clip = np.unique([clip for clip, _, _ in rated], return_inverse=True)
    raters, of_rater = np.unique([rater for _, rater, _ in rated], return_inverse=True)
    values = np.full((len(targets), len(raters), len(clips)), math.nan)
    values[:, of_rater, of_clip] = np.array([ratings for _, _, ratings in rated]).T
    counts = np.bincount(of_clip)
    alphas, noise = {}, {}
    for target, own in zip(targets, values, strict=True):
        steps = np.round((own - target.minimum) / (target.maximum - target.minimum) * LEVELS)
        alphas[target.name] = krippendorff_alpha(steps)
        finite = np.isfinite(own)
        many, freedom = finite.sum(axis=0), finite.sum() - finite.any(axis=0).sum()
        if freedom:  # raters differ alike everywhere; the mean of n ratings has an nth of their variance
            means = np.nansum(own, axis=0) / np.maximum(many, 1)
            within = np.nansum((own - means) ** 2) / freedom
            noise[target.name] = round(float(np.sqrt(within * (1 / many[many > 0]).mean())), 4)
    each = " to ".join(map(str, sorted({counts.min(), counts.max()})))
    return Ratings(len(raters), each, alphas, noise)
