"""Labels are a function of the causal cues and of nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

from bundle_tools.synthetic.dataset import Member, plan
from bundle_tools.synthetic.person import (
    CAUSAL,
    COLLARS,
    CUE_NAMES,
    HAIR_STYLES,
    NEUTRAL,
    TARGETS,
    Cues,
    LabelRule,
    rule_of,
    stream,
)
from tests.synthetic.test_cues import INTENSITIES

Matrix = NDArray[np.float64]


@pytest.fixture(scope="module")
def members() -> list[Member]:
    return plan("practice", clips=600, seed=3)


def labels_of(members: list[Member]) -> Matrix:
    return np.array([list(member.spec.labels().values()) for member in members])


def logits_of(rule: LabelRule, cues: Cues) -> Matrix:
    return rule.logits(cues.causal())


def cues_of(members: list[Member]) -> Matrix:
    return np.array([member.spec.cues.causal() for member in members])


def explained(features: Matrix, labels: Matrix) -> Matrix:
    """Return the cross-validated R2 of a linear regression for every target."""
    predicted: Matrix = cross_val_predict(LinearRegression(), features, labels, cv=10)
    shares: Matrix = 1 - ((labels - predicted) ** 2).sum(axis=0) / ((labels - labels.mean(axis=0)) ** 2).sum(axis=0)
    return shares


@given(cues=INTENSITIES)
def test_labels_lie_between_0_and_1(cues: Cues) -> None:
    labels = rule_of("final", 9).labels(cues, stream(1, "noise"))
    assert tuple(labels) == TARGETS
    assert all(0 < value < 1 for value in labels.values())


@given(cues=INTENSITIES)
def test_distractors_move_nothing(cues: Cues) -> None:
    rule = rule_of("practice", 0)
    for cue in ("background", "clothing", "logo"):
        assert np.array_equal(logits_of(rule, cues), logits_of(rule, cues.without(cue)))


def test_a_worked_number() -> None:
    # Everything neutral leaves the intercept: 0.02. A full smile adds 1.30 x 0.5 to extraversion's -0.08: 0.57.
    neutral = Cues(*[NEUTRAL] * len(CUE_NAMES))
    rule = rule_of("practice", 0)
    assert logits_of(rule, neutral)[TARGETS.index("interview")] == pytest.approx(0.02)
    smiling = Cues(1.0, *[NEUTRAL] * (len(CUE_NAMES) - 1))
    assert logits_of(rule, smiling)[TARGETS.index("extraversion")] == pytest.approx(0.57)
    # A full smile in full light: 0.18 + (1.40 + 0.00) x 0.5 + 1.2 x 0.25 = 1.18 for agreeableness.
    bright = Cues(**{name: 1.0 if name in ("smile", "lighting") else NEUTRAL for name in CUE_NAMES})
    assert logits_of(rule, bright)[TARGETS.index("agreeableness")] == pytest.approx(1.18)


def test_light_is_a_suppressor_for_agreeableness() -> None:
    # Alone it does nothing; a full smile counts 0.7 + 0.3 in full light, 0.7 - 0.3 in none: 1.2 x 0.5 x 0.5 = 0.3.
    rule, at = rule_of("practice", 0), TARGETS.index("agreeableness")
    worth = {
        (smile, light): logits_of(
            rule, Cues(**dict.fromkeys(CUE_NAMES, NEUTRAL) | {"smile": smile, "lighting": light})
        )[at]
        for smile in (NEUTRAL, 1.0)
        for light in (0.0, NEUTRAL, 1.0)
    }
    assert worth[NEUTRAL, 0.0] == worth[NEUTRAL, NEUTRAL] == worth[NEUTRAL, 1.0] == pytest.approx(0.18)
    assert [worth[1.0, light] - 0.18 for light in (0.0, NEUTRAL, 1.0)] == pytest.approx([0.4, 0.7, 1.0])


def test_a_line_through_the_cues_explains_the_labels(members: list[Member]) -> None:
    labels = labels_of(members)
    assert explained(cues_of(members), np.log(labels / (1 - labels))).min() >= 0.95
    assert explained(cues_of(members), labels).min() >= 0.95


def test_taking_a_cue_out_moves_the_label_as_its_weight_says(members: list[Member]) -> None:
    for cue, column in zip(CAUSAL, np.array(rule_of("practice", 3).weights).T, strict=True):
        amounts = np.array([getattr(member.spec.cues, cue) - NEUTRAL for member in members])
        effects = np.array(
            [
                logits_of(member.spec.rule, member.spec.cues)
                - logits_of(member.spec.rule, member.spec.without(cue).cues)
                for member in members
            ]
        )
        slopes = amounts @ effects / (amounts @ amounts)
        # Pairs add at most 1.2 x 0.5 for a single clip; over 600 independent clips they average out.
        assert np.abs(slopes - column).max() < 0.06, cue
        assert np.array_equal(np.sign(slopes[np.abs(column) >= 0.1]), np.sign(column[np.abs(column) >= 0.1]))


def test_shuffled_cues_explain_nothing(members: list[Member]) -> None:
    shuffled = cues_of(members)[stream(4, "shuffle").permutation(len(members))]
    assert explained(shuffled, labels_of(members)).max() < 0.05


def test_looks_clothes_room_and_voice_explain_nothing(members: list[Member]) -> None:
    rows = []
    for member in members:
        cast, cues = member.spec.cast, member.spec.cues
        rows.append(
            [
                *cast.skin, *cast.hair, *cast.iris, *cast.lips, cast.face_width, cast.jaw, cast.brow, cast.eye_size,
                cast.clothing_hue, cast.wall_hue, cast.wall_light, cast.pitch_hz, cast.tract,
                cues.background, cues.clothing, cues.logo,
                *(cast.hair_style == style for style in HAIR_STYLES), *(cast.collar == collar for collar in COLLARS),
            ]
        )  # fmt: skip
    assert explained(np.array(rows, dtype=float), labels_of(members)).max() < 0.05


def test_labels_spread_as_real_ones_do(members: list[Member]) -> None:
    labels = labels_of(members)
    assert np.all((labels.std(axis=0) > 0.10) & (labels.std(axis=0) < 0.18))
    assert np.all(np.abs(labels.mean(axis=0) - 0.52) < 0.08)


def test_the_final_rule_is_close_to_the_training_rule_but_not_equal() -> None:
    training = np.array(rule_of("training", 1).weights)
    assert np.array_equal(training, np.array(rule_of("practice", 2).weights))
    final = np.array(rule_of("final", 2).weights)
    assert not np.allclose(final, training)
    assert np.corrcoef(final.ravel(), training.ravel())[0, 1] > 0.98
    assert final.shape == (len(TARGETS), len(CAUSAL))


def test_an_unknown_phase_is_named() -> None:
    with pytest.raises(ValueError, match="unknown phase 'semifinal'"):
        rule_of("semifinal", 1)


def test_noise_is_small(members: list[Member]) -> None:
    for member in members[:50]:
        noiseless = 1 / (1 + np.exp(-logits_of(member.spec.rule, member.spec.cues)))
        # Six standard deviations of 0.05 on the logit scale, at most a quarter of it on the label's.
        assert np.abs(noiseless - list(member.spec.labels().values())).max() < math.ceil(100 * 6 * 0.05 / 4) / 100
