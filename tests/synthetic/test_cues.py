"""Cues are evenly spread, independent, alike within a person, and removable one by one."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.cli.data import SPLITS as OFFERED
from bundle_tools.synthetic.causes import SPLITS, draw_set
from bundle_tools.synthetic.person import (
    CAUSAL,
    CUE_NAMES,
    MAIN_TARGET,
    NEUTRAL,
    TARGETS,
    WORD_STEPS,
    Cues,
    opaque_id,
    rule_of,
)

INTENSITIES = st.builds(Cues, **{name: st.floats(0, 1) for name in CUE_NAMES})
RULE = rule_of("training", 1)
CLOTHES = CUE_NAMES.index("clothing")
CAUSES = [CUE_NAMES.index(cue) for cue in CAUSAL]


def drawn(clips: int, *, split: str = "independent", seed: int = 1) -> np.ndarray:
    """Return the intensities of a set, shape (clips, cues); two clips of each person."""
    people = [index // 2 for index in range(clips)]
    return np.array([astuple(cues) for cues in draw_set(seed, "training", people, split, RULE)])


@given(cues=INTENSITIES, cue=st.sampled_from(CUE_NAMES))
def test_without_changes_one_cue_only(cues: Cues, cue: str) -> None:
    changed = cues.without(cue)
    assert getattr(changed, cue) == NEUTRAL
    assert all(getattr(changed, name) == getattr(cues, name) for name in CUE_NAMES if name != cue)


def test_an_unknown_cue_is_named() -> None:
    with pytest.raises(ValueError, match="unknown cue 'shoes'"):
        Cues(*[0.5] * len(CUE_NAMES)).without("shoes")


def test_cues_are_independent_and_alike_within_a_person() -> None:
    values = drawn(4000)
    # The standard error of a correlation of 4000 pairs is 0.016, of 2000 pairs 0.022.
    between = np.corrcoef(values.T) - np.eye(len(CUE_NAMES))
    assert np.abs(between).max() < 0.08
    within = [np.corrcoef(values[0::2, k], values[1::2, k])[0, 1] for k in range(len(CUE_NAMES))]
    assert 0.2 < min(within) <= max(within) < 0.4


@given(clips=st.integers(1, 40), seed=st.integers(0, 2**64), split=st.sampled_from(SPLITS))
def test_every_part_of_the_range_has_one_clip(clips: int, seed: int, split: str) -> None:
    values = drawn(clips, split=split, seed=seed)
    for name, column in zip(CUE_NAMES, values.T, strict=True):
        if name == "words":  # rounded to its steps
            assert np.array_equal(column * WORD_STEPS, np.round(column * WORD_STEPS))
        else:
            assert sorted(np.floor(column * clips).astype(int)) == list(range(clips))


def test_in_the_stress_split_causes_go_together_and_nothing_else_does() -> None:
    related = np.corrcoef(drawn(3000, split="stress").T)
    # Gaussian numbers with a correlation of 0.5 have ranks with 6 / pi asin(0.25) = 0.483.
    of_causes = related[np.ix_(CAUSES, CAUSES)][np.triu_indices(len(CAUSES), 1)]
    assert np.abs(of_causes - 0.483).max() < 0.06
    others = [index for index in range(len(CUE_NAMES)) if index not in CAUSES]
    assert np.abs(related[np.ix_(CAUSES, others)]).max() < 0.08


def test_in_the_spurious_split_clothes_tell_the_main_target_and_nothing_else_changes() -> None:
    plain, tied = drawn(3000), drawn(3000, split="spurious")
    logits = RULE.logits(tied[:, CAUSES])[:, TARGETS.index(MAIN_TARGET)]
    assert np.corrcoef(logits, tied[:, CLOTHES])[0, 1] == pytest.approx(0.8, abs=0.04)
    assert abs(np.corrcoef(logits, plain[:, CLOTHES])[0, 1]) < 0.08
    assert np.array_equal(np.delete(plain, CLOTHES, axis=1), np.delete(tied, CLOTHES, axis=1))


def test_the_command_offers_every_split() -> None:
    assert OFFERED == SPLITS
    with pytest.raises(ValueError, match="unknown split 'easy'"):
        draw_set(1, "training", [0], "easy", RULE)


@given(st.integers(0, 2**128), st.integers(0, 10**6))
def test_ids_are_opaque_and_depend_on_the_seed(seed: int, number: int) -> None:
    name = opaque_id("c", seed, "clip", number)
    assert len(name) == 10
    assert set(name[1:]) <= set("0123456789abcdef")
    assert name != opaque_id("c", seed + 1, "clip", number)
