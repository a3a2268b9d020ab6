"""The clips on which runs differ most."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.compare.field import Field

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contrast:
    """One clip and one number of it, run by run."""

    clip: int
    """Its place among the clips that count."""
    values: tuple[float, ...]
    """The number, one a run."""


def widest(values: Array, most: int) -> list[Contrast]:
    """Choose the clips with the largest range of values over the runs.

    Parameters
    ----------
    values
        (runs, clips); NaN where a run has none, which counts in no range.
    most
        How many at most, >= 0.

    Returns
    -------
    list of Contrast
        Largest range first, equal ones in the order of the clips; a clip on which all runs agree is left out.
    """
    spread = np.fmax.reduce(values) - np.fmin.reduce(values)
    order = np.argsort(-np.nan_to_num(spread), kind="stable")[:most]
    return [Contrast(int(clip), tuple(values[:, clip].tolist())) for clip in order if spread[clip] > 0]


def errors(field: Field, target: int) -> Array:
    """Give (runs, clips) absolute errors of a target on the unit scale; a failed clip has 1."""
    return np.stack([entry.scores.moments.absolute_error[:, target] for entry in field.entries])


def held_up(field: Field) -> Array:
    """Give (runs, clips) how well each clip's explanation holds up, the number by which reports put clips in order."""
    from score.evaluation.clip_numbers import held_up as of_clips  # noqa: PLC0415 - the path is known only now

    weights = field.settings.explanation.weights
    return np.stack([of_clips(entry.scores.axes, weights) for entry in field.entries])
