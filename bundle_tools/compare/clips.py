"""The clips on which runs differ most."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bundle_tools.compare.field import Entry, Field

if TYPE_CHECKING:
    from score.axes.table import AxisSums

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


def explained(field: Field, weights: dict[str, float]) -> Array:
    """Give (runs, clips) how well each clip is explained: the mean of its axes, each cut to [0, 1].

    It is no score, and only puts clips in order.

    Parameters
    ----------
    field
        The runs.
    weights
        What each axis is worth; the mean is over these.
    """
    return np.stack([_explained(entry, weights) for entry in field.entries])


def _explained(entry: Entry, weights: dict[str, float]) -> Array:
    axes: AxisSums = entry.scores.axes
    parts = {name: np.clip(getattr(axes, name)[:, 0], 0, 1) for name in weights if name != "known_causes"}
    if "known_causes" in weights:
        defined = axes.cause_defined.sum(axis=1)
        parts["known_causes"] = np.clip(axes.cause_value.sum(axis=1) / np.where(defined > 0, defined, 1), 0, 1)
    whole = sum(weights.values()) or 1.0
    return np.asarray(sum(weight * parts[name] for name, weight in weights.items()) / whole)
