"""Dealing clips out: no person in two parts, sizes are kept, and every part spans the labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet, Split, off_size, split_by_source

from .sets import make_set


def dealt(dataset: LabelledSet, practice: int, final: int, *, seed: int = 1) -> dict[str, tuple[LabelledClip, ...]]:
    parts = split_by_source(dataset, {"practice": practice, "final": final}, seed=seed)
    return {part.name: part.clips for part in parts}


@given(st.lists(st.integers(1, 6), min_size=12, max_size=60), st.integers(0, 2**32))
def test_every_clip_goes_somewhere_and_no_source_to_two_parts(families: list[int], seed: int) -> None:
    dataset = make_set({f"v{number}": count for number, count in enumerate(families)})
    wanted = len(dataset.clips) // 5
    parts = dealt(dataset, wanted, wanted, seed=seed)
    names = [clip.name for clips in parts.values() for clip in clips]
    assert sorted(names) == sorted(clip.name for clip in dataset.clips)
    assert sum(len({clip.source for clip in clips}) for clips in parts.values()) == len(families)
    for name in ("practice", "final"):
        assert abs(len(parts[name]) - wanted) <= 6


def test_parts_span_the_labels_alike_and_depend_on_the_seed_alone() -> None:
    dataset = make_set({f"v{number}": 1 + number % 6 for number in range(300)})
    picks = []
    for seed in (1, 2):
        parts = dealt(dataset, 150, 150, seed=seed)
        labels = [[clip.labels[1] for clip in clips] for clips in parts.values()]
        # Drawn without strata the means of 150 clips of some 45 people differ by 0.18 on average.
        assert np.ptp([np.mean(values) for values in labels]) < 0.1
        assert np.ptp([np.std(values) for values in labels]) < 0.1
        again = dealt(replace(dataset, clips=dataset.clips[::-1]), 150, 150, seed=seed)
        assert {name: set(map(id, clips)) for name, clips in again.items()} == {
            name: set(map(id, clips)) for name, clips in parts.items()
        }
        picks.append({clip.source for clip in parts["final"]})
    assert len(picks[0] & picks[1]) < 0.5 * len(picks[0])


@pytest.mark.parametrize(
    ("families", "wanted", "sizes"),
    [
        # A part that is smaller than a family gets one; one person's many clips stay in training.
        ({f"v{number}": 2 for number in range(5)}, 1, (2, 2, 6)),
        ({"much": 60} | {f"v{number}": 2 for number in range(20)}, 10, (10, 10, 80)),
    ],
)
def test_sizes_are_kept(families: dict[str, int], wanted: int, sizes: tuple[int, ...]) -> None:
    for seed in range(8):
        parts = dealt(make_set(families), wanted, wanted, seed=seed)
        assert tuple(len(parts[name]) for name in ("practice", "final", "training")) == sizes


def test_parts_that_are_far_from_what_was_asked_for_are_told() -> None:
    clips = make_set({"a": 60}).clips
    parts = [Split("practice", clips[:12]), Split("final", clips[:8]), Split("training", clips)]
    assert not list(off_size(parts, {"practice": 10, "final": 10}))
    (line,) = off_size(parts, {"practice": 10, "final": 60})
    assert "final has 8 clips instead of 60" in line


@pytest.mark.parametrize(("families", "size"), [({"a": 30}, 5), ({"a": 1, "b": 1, "c": 1}, 3), ({"a": 2, "b": 2}, 1)])
def test_too_few_clips_or_people_are_named(families: dict[str, int], size: int) -> None:
    with pytest.raises(BundleError, match="people or source videos"):
        dealt(make_set(families), size, size)
