"""Which explanations are shown whole: the best, the worst, and some drawn by lot."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """Numbers of clips; no clip is in two of the parts."""

    best: tuple[int, ...]
    """Best first."""
    worst: tuple[int, ...]
    """Worst first."""
    drawn: tuple[int, ...]
    """In a drawn order."""


def choose(clip_ids: Sequence[str], held: Sequence[float | None], count: int, seed: int) -> Choice:
    """Choose a third each; what cannot be shared out evenly goes to the best, then to the worst.

    The choice must not hang on labels: which clips are shown would tell something about them. It does not hang on the
    order in which clips are listed either.

    Parameters
    ----------
    clip_ids
        n ids.
    held
        n values of how well the explanations held up; None for a clip that cannot be shown.
    count
        How many are shown at most, >= 0.
    seed
        Of the lot.
    """
    able = [(value, clip_ids[clip], clip) for clip, value in enumerate(held) if value is not None]
    ranked = [clip for _, _, clip in sorted(able, key=lambda one: (-one[0], one[1]))]
    count = min(count, len(ranked))
    best, worst = (count + 2) // 3, (count + 1) // 3
    between = ranked[best : len(ranked) - worst]
    between.sort(key=lambda clip: hashlib.sha256(f"{seed} {clip_ids[clip]}".encode()).digest())
    return Choice(
        best=tuple(ranked[:best]),
        worst=tuple(reversed(ranked[len(ranked) - worst :])),
        drawn=tuple(between[: count - best - worst]),
    )
