"""Agreement with known causes: claims and maps against the causes of the label, on clips predicted well."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from score.axes.ranks import above_chance_auc, above_chance_precision, spearman
from score.read.output.explanation_record import Explanation
from score.read.reference.known import ClipCauses

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MAIN_SHARE = 0.8
"""The main causes are the fewest cues with at least this share of the sum of |contribution|."""
PARTS = ("cue", "space", "time")
PART_WEIGHTS = np.array([0.5, 0.25, 0.25])


def main_causes(contributions: Array) -> Mask:
    """Pick the fewest cues that make up 80 % of the sum of |contribution|; none if all are 0."""
    size = np.abs(contributions)
    order = np.argsort(-size, kind="stable")
    before = np.cumsum(size[order]) - size[order]
    chosen = np.zeros(len(size), dtype=bool)
    chosen[order] = (before < MAIN_SHARE * size.sum() * (1 - 1e-12)) & (size[order] > 0)
    return chosen


def clip_known_causes(
    explanations: Sequence[Explanation],
    claims: Array,
    causes: Sequence[ClipCauses],
    grid: tuple[int, int],
    target: NDArray[np.int64],
    vocabulary: Sequence[str],
) -> tuple[Array, Array]:
    """Compare each explanation with the causes of its clip's label.

    `claims`: (n, k, v) claims.
    `grid`: rows and columns of their masks; a map of another grid counts as none.
    `target`: (n,) each clip's evaluated target.
    Returns (n, 3) values for cues, space and time in [-1, 1], 0 for chance or a missing part; and (n, 3) 1 if the clip
    has causes of that kind, else 0.
    """
    values, defined = np.zeros((len(explanations), 3)), np.zeros((len(explanations), 3))
    for clip, (explanation, cause) in enumerate(zip(explanations, causes, strict=True)):
        contributions = cause.contributions[target[clip]]
        chosen = main_causes(contributions)
        if not chosen.any():
            continue
        said = claims[clip, target[clip]]
        defined[clip, 0] = 1
        if said.any():
            precision = above_chance_precision(np.abs(said), chosen)
            values[clip, 0] = (spearman(said, contributions) + precision) / 2
        names = [cue for cue, main in zip(vocabulary, chosen, strict=True) if main]
        space = explanation.space if explanation.space is not None and explanation.space.shape == grid else None
        for part, masks, weights in ((1, cause.space, space), (2, cause.time, explanation.time)):
            mask = union([masks[cue] for cue in names if cue in masks])
            if mask is None:
                continue
            defined[clip, part] = 1
            if weights is not None:
                values[clip, part] = map_agreement(weights.ravel(), mask)
    return values, defined


def union(masks: Sequence[Mask]) -> Mask | None:
    """Join masks; None if the result is the same everywhere."""
    if not masks:
        return None
    joined = np.zeros(max(len(mask) for mask in masks), dtype=bool)
    for mask in masks:
        joined[: len(mask)] |= mask
    return joined if 0 < joined.sum() < len(joined) else None


def map_agreement(weights: Array, mask: Mask) -> float:
    """Compare a map with a mask by ``2 AUC - 1``; missing seconds of the map weigh 0, extra ones are cut."""
    fitted = np.zeros(len(mask))
    size = min(len(weights), len(mask))
    fitted[:size] = weights[:size]
    return above_chance_auc(fitted, mask)
