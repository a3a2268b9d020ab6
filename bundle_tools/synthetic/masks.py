"""Where and when a cue is visible, exactly: from the difference between clips with and without it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.clip import DURATION_S, FPS, ClipSpec, scene_of

ROWS, COLUMNS = 9, 16
"""The grid of spatial evidence."""
PLACED = ("smile", "gaze", "motion")
"""Causal cues with a place and a time. A change of posture, light or framing moves the whole picture."""

PICTURES_PER_S = 5
"""Frames that are compared in each second."""
LEVELS = 5
"""A pixel differs if one of its colours differs by at least this much, of 255."""
LEAST_SHARE = 0.015
"""A cell differs in a frame when at least this share of its pixels does ..."""
RELATIVE_SHARE = 0.2
"""... and at least this share of the most different cell's: the faint rim of a change does not count."""
MOMENTS = 3
"""A cell is occupied in a second when it differs in at least this many of the frames compared."""


def occupied(spec: ClipSpec, cues: Sequence[str] = PLACED) -> dict[str, NDArray[np.bool_]]:
    """Return the cells that show each cue, shape (seconds, rows, columns).

    Both drawings share seed and grain, so all differences are due to the cue.

    `cues`: names of cues; one at its neutral intensity occupies nothing.
    """
    step = FPS // PICTURES_PER_S
    moments = range(step // 2, FPS * DURATION_S, step)
    scene, bare = scene_of(spec), {cue: scene_of(spec.without(cue)) for cue in cues}
    shares: dict[str, list[NDArray[np.float64]]] = {cue: [] for cue in cues}
    for index in moments:
        seen = scene.draw(index)
        for cue, other in bare.items():
            shares[cue].append(_shares(seen, other.draw(index)))
    return {cue: _cells(np.array(found)) for cue, found in shares.items()}


def _shares(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the share of pixels that differ in each cell, shape (rows, columns)."""
    differs = (np.maximum(one, other) - np.minimum(one, other) >= LEVELS).any(axis=-1)
    height, width = differs.shape
    shares: NDArray[np.float64] = differs.reshape(ROWS, height // ROWS, COLUMNS, width // COLUMNS).mean(axis=(1, 3))
    return shares


def _cells(shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    differs = shares >= max(LEAST_SHARE, RELATIVE_SHARE * float(shares.max()))
    cells: NDArray[np.bool_] = differs.reshape(-1, PICTURES_PER_S, ROWS, COLUMNS).sum(axis=1) >= MOMENTS
    return cells
