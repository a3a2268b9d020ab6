"""What repeats: explanations that were asked again, in a fresh process and another order, against the first ones.

An explanation must be a pure function of the clip. What depends on chance, or on what the model was asked before, does
not repeat, and what does not repeat does not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from score.axes.effects import Effects
from score.axes.faithfulness import marks
from score.axes.text import distance
from score.read.outcomes import Outcomes
from score.settings import Settings
from score.text.reading import claim_set, read_claims, vocabulary_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Repeatability:
    """Share of each part of the explanations that repeats, in [0, 1]; 1 if no clip was asked again."""

    space: float = 1.0
    """Mean agreement of the orders in which two maps of a clip put its units."""
    time: float = 1.0
    """The same for timelines."""
    claims: float = 1.0
    """Mean cosine of the claims of two explanations."""
    text: float = 1.0
    """Mean Jaccard index of the claims of two texts."""
    clips: int = 0
    """Clips whose explanation was asked again."""


def repeatability(outcomes: Outcomes, effects: Effects, settings: Settings) -> Repeatability:
    """Compare both explanations of every clip that was asked again; one that failed agrees with nothing."""
    asked = [clip for clip, repeat in enumerate(outcomes.repeats) if repeat is not None]
    if not asked:
        return Repeatability()
    first = [outcomes.explanations[clip] for clip in asked]
    again = [repeat.explanation for repeat in outcomes.repeats if repeat is not None]
    orders: dict[str, float] = {}
    for kind in ("space", "time"):
        units = [effects.of(clip, kind) for clip in asked]
        pairs = zip(first, again, units, strict=True)
        orders[kind] = _mean(
            [
                _order(marks(before, kind, clip_units), marks(after, kind, clip_units))
                for before, after, clip_units in pairs
            ]
        )
    claims = [read_claims(explanations, settings).claims.reshape(len(asked), -1) for explanations in (first, again)]
    vocabulary = vocabulary_of(settings)
    claim_sets = [
        [claim_set(before.text, vocabulary) if before.text_ok else frozenset() for before in each]
        for each in (first, again)
    ]
    return Repeatability(
        **orders,
        claims=_mean([_cosine(*both) for both in zip(*claims, strict=True)]),
        text=_mean([1 - distance(before, after) if before else 1.0 for before, after in zip(*claim_sets, strict=True)]),
        clips=len(asked),
    )


def counted(terms: Array, share: float) -> Array:
    """Return addends whose first column, where it is above 0, counts only as far as it repeats."""
    result = terms.copy()
    result[:, 0] = np.where(terms[:, 0] > 0, terms[:, 0] * share, terms[:, 0])
    return result


def _order(first: Array | None, again: Array | None) -> float:
    """Return how far two maps put units into one order, in [-1, 1]; 1 if there is nothing to repeat."""
    if first is None:
        return 1.0
    if again is None:
        return 0.0
    signs = [
        (np.sign(first[left] - first[right]), np.sign(again[left] - again[right]))
        for left, right in combinations(range(len(first)), 2)
    ]
    ordered = [(mine, theirs) for mine, theirs in signs if mine]
    return float(np.mean([mine * theirs for mine, theirs in ordered])) if ordered else 1.0


def _cosine(first: Array, again: Array) -> float:
    if not first.any():
        return 1.0
    lengths = float(np.sqrt((first @ first) * (again @ again)))
    return float(first @ again) / lengths if lengths > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return float(np.clip(np.mean(values), 0, 1))
