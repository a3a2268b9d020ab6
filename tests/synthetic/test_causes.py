"""Contributions are exact Shapley values; the causes file says what they are, where and when."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.synthetic.causes import choose_edits, contributions, occupancy_hex, shapley
from bundle_tools.synthetic.person import (
    CAUSAL,
    CUE_NAMES,
    MAIN_TARGET,
    NEUTRAL,
    TARGETS,
    Cues,
    LabelRule,
    rule_of,
    stream,
)
from tests.synthetic.test_cues import INTENSITIES

RULES = st.builds(rule_of, st.sampled_from(("practice", "final")), st.integers(0, 1000))


def label_of(rule: LabelRule, cues: Cues) -> np.ndarray:
    """Return the noiseless labels, shape (6,)."""
    return np.asarray(1 / (1 + np.exp(-rule.logits(cues.causal()))))


def neutral_but(**levels: float) -> Cues:
    return Cues(**dict.fromkeys(CUE_NAMES, NEUTRAL) | levels)


@given(rule=RULES, cues=INTENSITIES)
def test_contributions_add_up_to_the_label(rule: LabelRule, cues: Cues) -> None:
    assert shapley(rule, cues).sum(axis=1) == pytest.approx(label_of(rule, cues) - label_of(rule, neutral_but()))


@given(rule=RULES, cues=INTENSITIES, cue=st.sampled_from(CAUSAL))
def test_a_neutral_cue_contributes_nothing(rule: LabelRule, cues: Cues, cue: str) -> None:
    assert np.array_equal(shapley(rule, cues.without(cue))[:, CAUSAL.index(cue)], np.zeros(len(TARGETS)))


@given(cues=INTENSITIES)
def test_a_cue_without_a_weight_is_a_null_player(cues: Cues) -> None:
    # Posture has no weight and no pair for agreeableness.
    found = shapley(rule_of("practice", 0), cues)[TARGETS.index("agreeableness"), CAUSAL.index("posture")]
    assert found == pytest.approx(0, abs=1e-15)


@given(level=st.floats(0, 1), cues=INTENSITIES)
def test_equal_cues_contribute_equally(level: float, cues: Cues) -> None:
    # Posture and motion with the same weights, no pairs, and the same intensity.
    base = rule_of("practice", 0)
    weights = np.array(base.weights)
    weights[:, CAUSAL.index("motion")] = weights[:, CAUSAL.index("posture")]
    rule = LabelRule(base.intercepts, tuple(tuple(float(w) for w in row) for row in weights), ())
    same = Cues(**{name: getattr(cues, name) for name in CUE_NAMES} | {"posture": level, "motion": level})
    found = shapley(rule, same)
    assert found[:, CAUSAL.index("posture")] == pytest.approx(found[:, CAUSAL.index("motion")])


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_the_mean_over_all_orders(seed: int) -> None:
    # The definition: the mean gain of a cue over all orders in which cues are added. Five cues, the rest neutral.
    rule, players = rule_of("final", seed), ("smile", "gaze", "motion", "lighting", "words")
    levels = dict(zip(players, stream(seed, "levels").uniform(size=len(players)), strict=True))
    expected = np.zeros((len(TARGETS), len(CAUSAL)))
    orders = list(permutations(players))
    for order in orders:
        present: dict[str, float] = {}
        for cue in order:
            before = label_of(rule, neutral_but(**present))
            present[cue] = levels[cue]
            expected[:, CAUSAL.index(cue)] += label_of(rule, neutral_but(**present)) - before
    assert shapley(rule, neutral_but(**levels)) == pytest.approx(expected / len(orders), abs=1e-12)


def test_a_worked_number() -> None:
    # Only smile and light: extraversion has no pair of them, so in either order
    # y(-0.08) = 0.480011, y(-0.08 + 0.65) = 0.638763, y(-0.08 + 0.15) = 0.517493, y(-0.08 + 0.80) = 0.672607;
    # smile: ((0.638763 - 0.480011) + (0.672607 - 0.517493)) / 2 = 0.156933.
    found = contributions(rule_of("practice", 0), neutral_but(smile=1.0, lighting=1.0))["extraversion"]
    assert found["smile"] == pytest.approx(0.156933, abs=2e-6)
    assert found["gaze"] == 0


@given(rule=RULES, cues=INTENSITIES, seed=st.integers(0, 2**32))
def test_edits_are_two_causes_and_a_distractor(rule: LabelRule, cues: Cues, seed: int) -> None:
    first, second, other = choose_edits(rule, cues, MAIN_TARGET, stream(seed, "edits"))
    assert first != second
    assert {first, second} <= set(CAUSAL)
    assert other in ("background", "clothing")


def test_the_largest_contributions_are_drawn_most_often() -> None:
    cues = neutral_but(smile=1.0, gaze=0.0, framing=0.6)
    drawn = [choose_edits(rule_of("practice", 0), cues, MAIN_TARGET, stream(3, i))[:2] for i in range(200)]
    assert sum(set(pair) == {"smile", "gaze"} for pair in drawn) > 180


def test_cells_are_bits_from_the_upper_left() -> None:
    occupied = np.zeros((2, 9, 16), bool)
    occupied[0, 0, 0] = occupied[0, 8, 15] = True
    occupied[1, 0, 3:5] = True
    assert occupancy_hex(occupied) == ["8" + "0" * 34 + "1", "18" + "0" * 34]
