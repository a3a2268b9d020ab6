"""Draw the intensities of a whole set: evenly spread, similar within a person, and related as the split requires."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from math import factorial

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.person import (
    CAUSAL,
    CUE_NAMES,
    MAIN_TARGET,
    NEUTRAL,
    TARGETS,
    WORD_STEPS,
    Cues,
    LabelRule,
    stream,
)

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
        standardised = (logits - logits.mean()) / max(float(logits.std()), 1e-9)
        clothes = CUE_NAMES.index("clothing")
        normal[:, clothes] = _SPURIOUS * standardised + math.sqrt(1 - _SPURIOUS**2) * normal[:, clothes]
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


def shapley(rule: LabelRule, cues: Cues) -> NDArray[np.float64]:
    """Return what each causal cue contributes to each label, shape (6, 8), on the label's scale.

    The exact Shapley value (Shapley 1953) of the game whose players are the causal cues: a coalition is worth the
    noiseless label of the clip in which all other cues are neutral. All 256 coalitions are enumerated; the values of
    a target add up to its noiseless label minus the label of a clip in which every cue is neutral.
    """
    coalitions = np.array(list(product((False, True), repeat=len(CAUSAL))))  # row i holds the binary digits of i
    worth = 1 / (1 + np.exp(-rule.logits(np.where(coalitions, cues.causal(), NEUTRAL))))
    sizes, players = coalitions.sum(axis=1), len(CAUSAL)
    chance = np.array([factorial(s) * factorial(players - s - 1) for s in range(players)]) / factorial(players)
    values = np.empty((len(TARGETS), players))
    for player in range(players):
        inside = np.flatnonzero(coalitions[:, player])
        outside = inside - (1 << (players - 1 - player))
        values[:, player] = chance[sizes[outside]] @ (worth[inside] - worth[outside])
    return values


def contributions(rule: LabelRule, cues: Cues) -> dict[str, dict[str, float]]:
    """Return the Shapley values by target and cue, rounded to six decimals."""
    return {
        target: {cue: round(float(value), 6) for cue, value in zip(CAUSAL, row, strict=True)}
        for target, row in zip(TARGETS, shapley(rule, cues), strict=True)
    }


def choose_edits(rule: LabelRule, cues: Cues, target: str, random: np.random.Generator) -> tuple[str, ...]:
    """Return the cues that get edits: two that cause the target's label and one that does not.

    The larger a contribution, the likelier the cue is drawn (in proportion to its square); nothing is certain, so that
    the edits of a clip do not reveal which cues matter most or which one is a distractor.
    """
    weights = shapley(rule, cues)[TARGETS.index(target)] ** 2 + 1e-9
    causal = random.choice(len(CAUSAL), size=2, replace=False, p=weights / weights.sum())
    chosen = [CAUSAL[index] for index in sorted(causal)]
    return (*chosen, str(random.choice(("background", "clothing"))))


def occupancy_hex(occupied: NDArray[np.bool_]) -> list[str]:
    """Return one hexadecimal number per second, with cell 0 in the most significant bit.

    `occupied`: shape (seconds, rows, columns); rows times columns is a multiple of 8.
    """
    return [np.packbits(second.ravel()).tobytes().hex() for second in occupied]


def as_entry(
    rule: LabelRule,
    cues: Cues,
    places: Mapping[str, NDArray[np.bool_]],
    spoken: NDArray[np.bool_],
    texts: list[str],
) -> dict[str, object]:
    """Return a clip's entry of ``causes.json``.

    `places`: by cue with a place: the cells that it occupies, shape (seconds, rows, columns). `spoken`: seconds in
    which telling words are said, shape (seconds,).
    """
    times = {cue: occupied.reshape(len(occupied), -1).any(axis=1) for cue, occupied in places.items()}
    return {
        "contributions": contributions(rule, cues),
        "space": {cue: occupancy_hex(occupied) for cue, occupied in places.items()},
        "time": {cue: seconds.astype(int).tolist() for cue, seconds in {**times, "words": spoken}.items()},
        "texts": texts,
    }
