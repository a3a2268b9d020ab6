"""Cue claims against measured effects: without a cue claimed to raise the target, the prediction should fall."""

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects

Array = NDArray[np.float64]
WORST = -1.25
"""Lowest value of a clip: own cosine -1, mean cosine of other clips 1, and size -1, so ``(-1.5 - 1) / 2``."""
_ROWS = 256


def clip_claims(claims: Array, effects: Effects, target: NDArray[np.int64]) -> Array:
    """Judge each clip's claims by direction, ``1/2 a(own) + 1/2 (a(own) - mean a(other clips'))``, and by size.

    ``a`` is the cosine of claims and measured effects over the cues that were edited; an effect below the clip's
    epsilon is 0. The second half tests whether the claims are about this clip: claims that are the same for all clips
    get 0. The mean over all other clips with claims about the target replaces one random clip, which
    has the same expectation but adds chance. The size is ``1 - sum |b s - d| / sum |d|``, at least -1, of claims s and
    effects d. The factor b >= 0 is the one that fits all clips of the run best, so claims may have any unit.

    `claims`: (n, k, v) claims.
    `target`: (n,) each clip's evaluated target.
    Returns (n,) in [-1.25, 1.25]: 1 for exact claims if those of other clips are unrelated; 0 if no edit was reached;
    -1.25 if the model failed on an edit, so that failing never pays. Without claims, only those of other clips count,
    so that silence on some clips wins nothing.
    """
    tested = ~np.isnan(effects.edited)
    change = np.where(tested & (np.abs(effects.edited) >= effects.epsilon[:, None]), effects.edited, 0.0)
    result = np.zeros(len(claims))
    for number in np.unique(target):
        here = np.flatnonzero(target == number)
        about = claims[:, number]
        speak = (about != 0).any(axis=1)
        own = _cosine(np.einsum("nv,nv->n", about[here], change[here]), (about[here] ** 2), tested[here], change[here])
        result[here] = own - _foreign(about, speak, here, tested, change) / 2
    own = np.where(tested, claims[np.arange(len(claims)), target], 0.0)
    return np.where(effects.edit_failed, WORST, (result + _size(own, change)) / 2)


def _size(claimed: Array, change: Array) -> Array:
    """Return how well the sizes of (n, v) claims fit those of the effects: (n,) in [-1, 1]; 0 without an effect."""
    squares = float((claimed**2).sum())
    unit = max(0.0, float((claimed * change).sum()) / squares) if squares > 0 else 0.0
    there = np.abs(change).sum(axis=1)
    off = np.abs(unit * claimed - change).sum(axis=1)
    return np.maximum(-1.0, np.where(there > 0, 1 - off / np.where(there > 0, there, 1.0), 0.0))


def _cosine(dot: Array, squares: Array, tested: NDArray[np.bool_], change: Array) -> Array:
    below = np.sqrt((squares * tested).sum(axis=1) * (change**2).sum(axis=1))
    return np.where(below > 0, dot / np.where(below > 0, below, 1.0), 0.0)


def _foreign(
    about: Array, speak: NDArray[np.bool_], here: NDArray[np.int64], tested: NDArray[np.bool_], change: Array
) -> Array:
    """Return the mean cosine of other clips' claims, where they make any, with the effects of the clips ``here``."""
    means = np.zeros(len(here))
    partners = about[speak]
    for start in range(0, len(here), _ROWS):
        rows = here[start : start + _ROWS]
        dot = change[rows] @ partners.T
        size = (tested[rows].astype(np.float64) @ (partners**2).T) * (change[rows] ** 2).sum(axis=1, keepdims=True)
        below = np.sqrt(size)
        cosines = np.where(below > 0, dot / np.where(below > 0, below, 1.0), 0.0)
        itself = np.zeros(len(about))
        total = cosines.sum(axis=1)
        place = np.cumsum(speak) - 1
        for row, clip in enumerate(rows):
            if speak[clip]:
                total[row] -= cosines[row, place[clip]]
                itself[clip] = 1
        others = speak.sum() - itself[rows]
        means[start : start + _ROWS] = np.where(others > 0, total / np.maximum(1, others), 0.0)
    return means
