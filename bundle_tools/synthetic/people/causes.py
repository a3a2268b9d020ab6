"""Why a clip has its labels: exact Shapley values of the rule, and the file that holds them."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from math import factorial

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cues import CAUSAL, NEUTRAL, Cues
from bundle_tools.synthetic.people.labels import TARGETS, LabelRule


def shapley(rule: LabelRule, cues: Cues) -> NDArray[np.float64]:
    """Return what each causal cue contributes to each label, shape (6, 8), on the label's scale.

    The exact Shapley value (Shapley 1953) of the game whose players are the causal cues: a coalition is worth the
    noiseless label of the clip in which all other cues are neutral. All 256 coalitions are enumerated; the values of
    a target add up to its noiseless label minus the label of a clip in which every cue is neutral.
    """
    coalitions = _coalitions()
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
    said: NDArray[np.bool_],
    texts: list[str],
) -> dict[str, object]:
    """Return a clip's entry of ``causes.json``.

    `places`: by cue with a place: the cells that it occupies, shape (seconds, rows, columns). `said`: seconds in which
    telling words are said, shape (seconds,).
    """
    times = {cue: occupied.reshape(len(occupied), -1).any(axis=1) for cue, occupied in places.items()}
    return {
        "contributions": contributions(rule, cues),
        "space": {cue: occupancy_hex(occupied) for cue, occupied in places.items()},
        "time": {cue: seconds.astype(int).tolist() for cue, seconds in {**times, "words": said}.items()},
        "texts": texts,
    }


@lru_cache(maxsize=1)
def _coalitions() -> NDArray[np.bool_]:
    """Return all coalitions, shape (256, 8); row i holds the binary digits of i."""
    return np.array(list(product((False, True), repeat=len(CAUSAL))))
