"""Dealing clips out: no person in two parts, sizes are kept, and every part spans the labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.adapt.split import off_size, split_by_source
from bundle_tools.errors import BundleError

from .sets import make_set


@given(st.lists(st.integers(1, 6), min_size=12, max_size=60), st.integers(0, 2**32))
def test_every_clip_goes_somewhere_and_no_source_to_two_parts(families: list[int], seed: int) -> None:
    dataset = make_set({f"v{number}": count for number, count in enumerate(families)})
    wanted = len(dataset.clips) // 5
    parts = split_by_source(dataset, {"practice": wanted, "final": wanted}, "training", seed=seed)
    assert sorted(clip.name for clips in parts.values() for clip in clips) == sorted(
        clip.name for clip in dataset.clips
    )
    sources = [{clip.source for clip in clips} for clips in parts.values()]
    assert sum(map(len, sources)) == len(families)
    for name in ("practice", "final"):
        assert abs(len(parts[name]) - wanted) <= 6


def test_parts_span_the_labels_alike_and_depend_on_the_seed() -> None:
    dataset = make_set({f"v{number}": 1 + number % 6 for number in range(300)})
    picks = []
    for seed in (1, 2):
        parts = split_by_source(dataset, {"practice": 150, "final": 150}, "training", seed=seed)
        means = [np.mean([clip.labels[1] for clip in clips]) for clips in parts.values()]
        # Drawn without strata the means of 150 clips of some 45 people differ by 0.18 on average.
        assert np.ptp(means) < 0.1
        spreads = [np.std([clip.labels[1] for clip in clips]) for clips in parts.values()]
        assert np.ptp(spreads) < 0.1
        assert parts == split_by_source(dataset, {"practice": 150, "final": 150}, "training", seed=seed)
        picks.append({clip.source for clip in parts["final"]})
    assert len(picks[0] & picks[1]) < 0.5 * len(picks[0])


def test_a_part_that_is_smaller_than_a_family_gets_one() -> None:
    dataset = make_set({f"v{number}": 2 for number in range(5)})
    parts = split_by_source(dataset, {"practice": 1, "final": 1}, "training", seed=1)
    assert {name: len(clips) for name, clips in parts.items()} == {"practice": 2, "final": 2, "training": 6}


def test_one_persons_many_clips_stay_in_training_and_sizes_are_kept() -> None:
    dataset = make_set({"much": 60} | {f"v{number}": 2 for number in range(20)})
    for seed in range(8):
        parts = split_by_source(dataset, {"practice": 10, "final": 10}, "training", seed=seed)
        assert {name: len(clips) for name, clips in parts.items()} == {"practice": 10, "final": 10, "training": 80}


def test_parts_that_are_far_from_what_was_asked_for_are_told() -> None:
    assert not list(off_size({"practice": 12, "final": 8}, {"practice": 10, "final": 10}))
    (line,) = off_size({"practice": 12, "final": 60}, {"practice": 10, "final": 10})
    assert "final has 60 clips instead of 10" in line


def test_the_order_of_the_set_does_not_matter() -> None:
    dataset = make_set({f"v{number}": 2 for number in range(30)})
    turned = type(dataset)(dataset.name, dataset.targets, dataset.main_target, dataset.clips[::-1])
    parts, again = (split_by_source(one, {"final": 20}, "training", seed=3) for one in (dataset, turned))
    assert {clip.name for clip in parts["final"]} == {clip.name for clip in again["final"]}


@pytest.mark.parametrize(("families", "size"), [({"a": 30}, 5), ({"a": 1, "b": 1, "c": 1}, 3), ({"a": 2, "b": 2}, 1)])
def test_too_few_clips_or_people_are_named(families: dict[str, int], size: int) -> None:
    with pytest.raises(BundleError, match="people or source videos"):
        split_by_source(make_set(families), {"practice": size, "final": size}, "training", seed=1)
