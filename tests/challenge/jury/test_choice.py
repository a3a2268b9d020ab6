"""Which clips a jury sees: levels of the labels first, then what is explained, then groups; no person twice."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.challenge.jury.design import Final, Finalist, balance_of, choose_clips
from score.read.answers import Explanation
from score.read.known import Known
from score.read.outcomes import Outcomes
from score.read.reference import Attribute
from score.settings import Settings, read_settings
from tests.scoring.factory import make_case, make_input

CLIPS = 60
SEEDS = st.integers(0, 10_000)
SAID = replace(Explanation(), text="A broad smile raised the interview score.", text_ok=True)
HALVES = np.arange(CLIPS) % 2


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return read_settings(make_input(tmp_path_factory.mktemp("phase"), make_case(clips=4)) / "ref" / "task.yaml")


def final_of(settings: Settings, seed: int, attributes: dict[str, tuple[str, ...]], silent: int = 0) -> Final:
    """Two finalists over 60 clips of 60 persons; half of them in each group; one says nothing of some clips."""
    random = np.random.default_rng(seed)
    shape = CLIPS, len(settings.names)
    groups = tuple(Attribute(name, values, random.permutation(HALVES)) for name, values in attributes.items())
    outcomes = Outcomes(
        clip_ids=tuple(f"c{number:02}" for number in range(CLIPS)),
        statuses=("ok",) * CLIPS,
        explanations=(SAID,) * CLIPS,
        prediction=random.uniform(size=shape),
        span=np.ones(shape[1]),
        truth=random.uniform(size=shape),
        sources=np.arange(CLIPS),
        probes=((),) * CLIPS,
        repeats=(None,) * CLIPS,
        known=replace(Known(), groups=groups),
        warnings=(),
        exchanged=np.ones(CLIPS, bool),
        edited=np.ones(CLIPS, bool),
    )
    quiet = set(random.permutation(CLIPS)[:silent].tolist())
    said: list[Explanation] = [Explanation() if number in quiet else SAID for number in range(CLIPS)]
    other = replace(outcomes, prediction=random.uniform(size=shape), explanations=tuple(said))
    finalists = tuple(
        Finalist(name, 50.0, 1, name, Path(), one)
        for name, one in (("one", outcomes), ("two", outcomes), ("three", other))
    )
    return Final(settings, finalists, {})


@given(seed=SEEDS, count=st.integers(10, 20))
def test_groups_are_even_and_labels_stay_first(settings: Settings, seed: int, count: int) -> None:
    final = final_of(settings, seed, {"voice": ("high", "low")})
    found = balance_of(final, choose_clips(final, count, str(seed)))
    assert sum(found.levels) == sum(found.groups["voice"].values()) == count
    assert max(found.levels) - min(found.levels) <= 1
    assert abs(found.groups["voice"]["high"] - found.groups["voice"]["low"]) <= 1


@given(seed=SEEDS)
def test_two_attributes_with_groups_of_one_name_are_kept_apart(settings: Settings, seed: int) -> None:
    final = final_of(settings, seed, {"voice": ("high", "unknown"), "age": ("old", "unknown")})
    found = balance_of(final, choose_clips(final, 16, str(seed)))
    for counts in found.groups.values():
        assert max(counts.values()) - min(counts.values()) <= 2


@given(seed=SEEDS)
def test_what_all_explained_comes_before_groups(settings: Settings, seed: int) -> None:
    final = final_of(settings, seed, {"voice": ("high", "low")}, silent=20)
    said = final.finalists[2].outcomes.explanations
    chosen = choose_clips(final, 10, str(seed))
    there = Counter(said[final.clip_ids.index(clip_id)].text_ok for clip_id in chosen)
    assert there[False] <= 2  # those on which the predictions differ most


def test_a_phase_without_groups_has_levels_alone(settings: Settings) -> None:
    found = balance_of(final := final_of(settings, 1, {}), choose_clips(final, 15, "x"))
    assert (found.levels, found.groups) == ((3, 3, 3, 3, 3), {})
