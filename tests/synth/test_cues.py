"""Cues are uniform, independent, alike within a person, and removable one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.synth.cues import CUE_NAMES, NEUTRAL, Cues, draw_cues
from bundle_tools.synth.seeds import opaque_id, stream

INTENSITIES = st.builds(Cues, **{name: st.floats(0, 1) for name in CUE_NAMES})


@given(cues=INTENSITIES, cue=st.sampled_from(CUE_NAMES))
def test_without_changes_one_cue_only(cues: Cues, cue: str) -> None:
    changed = cues.without(cue)
    assert getattr(changed, cue) == NEUTRAL
    assert all(getattr(changed, name) == getattr(cues, name) for name in CUE_NAMES if name != cue)


def test_an_unknown_cue_is_named() -> None:
    with pytest.raises(ValueError, match="unknown cue 'shoes'"):
        Cues(*[0.5] * len(CUE_NAMES)).without("shoes")


def test_cues_are_uniform_independent_and_alike_within_a_person() -> None:
    first = np.array([draw_cues(stream(1, "p", i), stream(1, "c", i, 0)).vector() for i in range(3000)])
    second = np.array([draw_cues(stream(1, "p", i), stream(1, "c", i, 1)).vector() for i in range(3000)])
    # The standard error of a mean of 3000 uniform numbers is 0.0053, of a correlation 0.018.
    assert np.abs(first.mean(axis=0) - 0.5).max() < 0.022
    assert np.abs(first.std(axis=0) - np.sqrt(1 / 12)).max() < 0.012
    between = np.corrcoef(first.T) - np.eye(len(CUE_NAMES))
    assert np.abs(between).max() < 0.08
    within = [np.corrcoef(first[:, k], second[:, k])[0, 1] for k in range(len(CUE_NAMES))]
    assert 0.2 < min(within) <= max(within) < 0.4


@given(st.integers(0, 2**128), st.integers(0, 10**6))
def test_ids_are_opaque_and_depend_on_the_seed(seed: int, number: int) -> None:
    name = opaque_id("c", seed, "clip", number)
    assert len(name) == 10
    assert set(name[1:]) <= set("0123456789abcdef")
    assert name != opaque_id("c", seed + 1, "clip", number)
