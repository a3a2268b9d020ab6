"""Draw the intensities of a whole set: evenly spread, similar within a person, and related as the split requires."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cues import CAUSAL, CUE_NAMES, WORD_STEPS, Cues
from bundle_tools.synthetic.people.labels import MAIN_TARGET, TARGETS, LabelRule
from bundle_tools.synthetic.seeds import stream

SPLITS = ("independent", "stress", "spurious")
"""``stress``: causal cues are correlated. ``spurious``: clothes correlate with the main target without causing it."""

_PERSON_SHARE = 0.3
"""Correlation of one cue between two clips of the same person, before ranks are taken."""
_STRESS = 0.5
"""Correlation of two causal cues in the stress split, before ranks are taken."""
_SPURIOUS = 0.8
"""Correlation of the clothes with the main target's logit in the spurious split, before ranks are taken."""


def draw_set(seed: int, phase: str, people: Sequence[int], split: str, rule: LabelRule) -> list[Cues]:
    """Draw the intensities of all clips of a set.

    Every cue is a Latin hypercube sample (McKay, Beckman and Conover 1979): one clip in each of n equal parts of
    [0, 1], so that small sets have the means of large ones. The parts are assigned by the ranks of Gaussian
    numbers, which are correlated between the two clips of a person.

    `split`: one of ``SPLITS``. `rule`: the rule of the labels: the spurious split follows its main target.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: expected one of {', '.join(SPLITS)}")
    normal = np.array([_normals(seed, phase, clip, person) for clip, person in enumerate(people)])
    causal = [CUE_NAMES.index(cue) for cue in CAUSAL]
    if split == "stress":
        shared = stream(seed, phase, "stress").standard_normal((len(people), 1))
        normal[:, causal] = math.sqrt(_STRESS) * shared + math.sqrt(1 - _STRESS) * normal[:, causal]
    within = stream(seed, phase, "strata").uniform(size=normal.shape)
    values = _spread(normal, within)
    if split == "spurious":
        logits = rule.logits(values[:, causal])[:, TARGETS.index(MAIN_TARGET)]
        told = (logits - logits.mean()) / max(float(logits.std()), 1e-9)
        clothes = CUE_NAMES.index("clothing")
        normal[:, clothes] = _SPURIOUS * told + math.sqrt(1 - _SPURIOUS**2) * normal[:, clothes]
        values = _spread(normal, within)
    return [Cues(*(float(value) for value in row)) for row in values]


def _normals(seed: int, phase: str, clip: int, person: int) -> NDArray[np.float64]:
    of_person = stream(seed, phase, "person", person, "cues").standard_normal(len(CUE_NAMES))
    of_clip = stream(seed, phase, "clip", clip, "cues").standard_normal(len(CUE_NAMES))
    mixed: NDArray[np.float64] = math.sqrt(_PERSON_SHARE) * of_person + math.sqrt(1 - _PERSON_SHARE) * of_clip
    return mixed


def _spread(normal: NDArray[np.float64], within: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each column's ranks as parts of [0, 1], at a place within the part; words keep to their steps."""
    ranks = normal.argsort(axis=0).argsort(axis=0)
    values: NDArray[np.float64] = (ranks + within) / len(normal)
    words = CUE_NAMES.index("words")
    values[:, words] = np.round(values[:, words] * WORD_STEPS) / WORD_STEPS
    return values
