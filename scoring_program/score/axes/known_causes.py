"""Agreement with known causes: claims and maps against the causes of the label, on clips predicted well."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Axis, mean_of_parts
from score.axes.cue_claims import NO_CLAIMS
from score.axes.faithfulness import NO_MAP, NO_TIMELINE
from score.order import Region, clip_skill, order_skill, order_sums
from score.read.answers import Explanation
from score.read.known import ClipCauses

if TYPE_CHECKING:
    from score.axes.table import AxisSums

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
PARTS = ("cue", "space", "time")
PART_WEIGHTS = np.array([0.5, 0.25, 0.25])
REST = "elsewhere"
"""Kind of the cells, or seconds, in which no cause lies."""


def cause_sums(
    explanations: Sequence[Explanation],
    claims: Array,
    causes: Sequence[ClipCauses],
    grid: tuple[int, int],
    target: NDArray[np.int64],
    importance: Array,
    vocabulary: Sequence[str],
) -> dict[str, Array]:
    """Compare each explanation with the causes of its clip's labels, as `order_sums` compares it with effects.

    Claims are ordered with their signs, for the clip's target. Maps and timelines are compared with the sizes of the
    contributions, joint over the targets, of the cues that have a place or a time.

    `claims`: (n, k, v) claims. `grid`: rows and columns of the causes' masks; a map of another grid counts as none.
    `target`: (n,) each clip's evaluated target. `importance`: (k,) weight of each target in a joint contribution.
    Returns by part (n, 4 + p) addends.
    """
    clips: dict[str, list[list[Region]]] = {part: [] for part in PARTS}
    for clip, (explanation, cause) in enumerate(zip(explanations, causes, strict=True)):
        own = cause.contributions[target[clip]].tolist(), claims[clip, target[clip]].tolist()
        clips["cue"].append([Region(*each) for each in zip(vocabulary, *own, strict=True)])
        sizes = dict(zip(vocabulary, (importance @ np.abs(cause.contributions)).tolist(), strict=True))
        space = explanation.space if explanation.space is not None and explanation.space.shape == grid else None
        clips["space"].append(_regions(sizes, cause.space, None if space is None else space.ravel()))
        clips["time"].append(_regions(sizes, cause.time, explanation.time))
    return {part: order_sums(regions, np.zeros(len(regions))) for part, regions in clips.items()}


def _regions(sizes: dict[str, float], masks: dict[str, Mask], weights: Array | None) -> list[Region]:
    """Return the places or times of the causes, and what is left."""
    length = max((len(mask) for mask in masks.values()), default=0)
    joined = np.zeros(length, dtype=bool)
    fitted = np.zeros(length)  # missing seconds of a timeline weigh 0, extra ones are cut
    if weights is not None:
        fitted[: len(weights)] = weights[:length]
    regions = []
    for cue, mask in masks.items():
        joined[: len(mask)] |= mask
        if mask.any():
            regions.append(Region(cue, sizes[cue], float(fitted[: len(mask)][mask].mean())))
    if not joined.all():
        regions.append(Region(REST, 0.0, float(fitted[~joined].mean()), still=True))
    return regions


def _parts(sums: "AxisSums") -> list[Array]:
    return [getattr(sums, f"cause_{part}") for part in PARTS]


def _value(sums: "AxisSums") -> Array:
    """Agreement on well-predicted clips, times their share, so that the rule must be learnt first."""
    parts = _parts(sums)
    values = np.stack([order_skill(part) for part in parts], axis=1)
    defined = np.stack([part[:, 1] > 0 for part in parts], axis=1)
    return sums.predicted_well[:, 0] / sums.clips[:, 0] * mean_of_parts(values, defined, PART_WEIGHTS)


def _of_clips(sums: "AxisSums") -> Array:
    parts = _parts(sums)
    shares = PART_WEIGHTS * np.stack([part[:, 1] > 0 for part in parts], axis=1)
    whole = shares.sum(axis=1)
    values = np.stack([clip_skill(part) for part in parts], axis=1)
    return np.where(whole > 0, (shares * values).sum(axis=1) / np.where(whole > 0, whole, 1.0), np.nan)


KNOWN_CAUSES = Axis(
    key="known_causes",
    title="Known causes",
    meaning="Whether the explanation names what really caused the label, on clips predicted well.",
    shown="Causes",
    value=_value,
    of_clips=_of_clips,
    error_analysis=(NO_CLAIMS, NO_MAP, NO_TIMELINE),
    otherwise="Point to what actually causes the labels: claims and maps often name other cues.",
    of_causes=True,
)
