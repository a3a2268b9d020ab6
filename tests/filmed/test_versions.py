"""Both versions of a clip: what they share, where they differ, and what is never shown."""

from dataclasses import replace
from itertools import pairwise, product

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.canonical import differences as differences_of_form
from bundle_tools.decoding import OpenClip, Pixels, open_clip
from bundle_tools.filmed import moments
from bundle_tools.filmed.face import EYES, MOUTH
from bundle_tools.filmed.footage import MOVED_S
from bundle_tools.filmed.moments import GUARD_S, HOLD, JUMP, cheapest, costs, ways
from bundle_tools.filmed.versions import ANCHOR, OTHER, OUTLINE, SHAM, Versions
from tests.filmed.conftest import Made, read
from tests.filmed.drawn import FPS, HEIGHT, WIDTH, draw

NOISE = 1.5
"""Largest mean difference of encoder noise, of 255."""


def test_the_same_clip_gives_the_same_bytes(made: Made) -> None:
    again = Versions(read(made.drawn), 1)
    assert again.write(made.drawn.content, SHAM, {}) == made.sham
    assert made.sham != made.other


def test_the_moments_of_b_in_place_of_those_of_a_are_b(made: Made) -> None:
    versions = Versions(made.footage, 1)
    for part in versions.parts:
        versions._searches[part] = [
            replace(search, ways=replace(search.ways, sham=search.ways.other)) for search in versions.searches(part)
        ]
    assert versions.write(made.drawn.content, SHAM, {}) == made.other


def test_both_are_canonical_and_last_as_long(made: Made) -> None:
    for content in (made.sham, made.other):
        assert differences_of_form(content) == []
        with open_clip(content) as source:
            clip = OpenClip(source)
            assert (clip.picture.width, clip.picture.height, len(clip.times())) == (WIDTH, HEIGHT, 9 * FPS)


def test_both_jump_at_the_same_frames_and_stay_as_often(made: Made) -> None:
    for part in made.versions.parts:
        for search in made.versions.searches(part):
            steps = [np.diff(search.moments(version)) for version in (SHAM, OTHER)]
            jumps = [(step < 0) | (step > 2) for step in steps]
            for of_version in jumps:
                np.testing.assert_array_equal(of_version, search.ways.jumps[1:])
            assert abs(search.ways.holds[0] - search.ways.holds[1]) <= 0.1


def test_no_moment_is_near_its_frame_or_of_another_shot(made: Made) -> None:
    guard = int(GUARD_S * FPS)
    for search in (search for part in made.versions.parts for search in made.versions.searches(part)):
        frames, shown = np.arange(len(search.own)), search.own < 1
        for version in (SHAM, OTHER):
            way = search.moments(version)
            assert ((way >= 0) & (way < len(search.own))).all()
            assert (np.abs(way - frames)[shown] >= guard).all()


def test_b_is_further_from_the_clip_than_a(made: Made) -> None:
    assert made.versions.parts == (MOUTH, EYES)
    assert all(made.versions.figures[part]["apart"] >= moments.APART for part in made.versions.parts)


def outside(made: Made, frame: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Return which pixels of a frame lie outside of the grown outlines of all parts."""
    mask = np.ones((HEIGHT, WIDTH), np.uint8)
    for part in made.versions.parts:
        corners = made.versions.searches(part)[0].patcher.outline(frame, OUTLINE)
        cv2.fillPoly(mask, [np.rint(corners).astype(np.int32)], 0)
    return mask > 0


def test_outside_of_the_parts_only_the_encoder_differs(made: Made) -> None:
    for frame, (one, two) in enumerate(zip(made.frames(made.sham), made.frames(made.other), strict=True)):
        assert np.abs(one - two)[outside(made, frame)].mean() < NOISE


def test_at_joins_and_outside_of_the_parts_both_are_painted_alike(made: Made) -> None:
    beside = [frame for join in made.footage.joins for frame in range(join - ANCHOR, join + ANCHOR)]
    others = [15, 40, 65, 95]
    painted: dict[int, list[Pixels]] = {frame: [] for frame in (*beside, *others)}
    for version in (SHAM, OTHER):
        made.versions.write(made.drawn.content, version, painted)
    assert all((painted[frame][0] == painted[frame][1]).all() for frame in beside)
    for frame in others:
        difference = np.abs(painted[frame][0].astype(int) - painted[frame][1])
        assert difference[outside(made, frame)].max() <= 3
        assert difference.max() > 60


def test_outlines_follow_the_face_five_times_a_second(made: Made) -> None:
    for part in made.versions.parts:
        keys = made.versions.outlines(part)
        times = [time for time, _ in keys]
        assert times[0] == 0
        assert times[-1] == pytest.approx(made.footage.times[-1], abs=1e-3)
        assert max(np.diff(times)) <= 0.26
        assert len({len(corners) for _, corners in keys}) == 1
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for _, corners in keys for x, y in corners)


def test_joins_lie_evenly_and_in_pauses(made: Made) -> None:
    spans = np.diff([0, *made.footage.times[made.footage.joins], made.footage.times[-1]])
    assert len(spans) == 4
    assert np.abs(spans - 9 / 4).max() <= 2 * MOVED_S + 0.1


def test_a_face_of_one_side_of_a_cut_is_never_shown_on_the_other() -> None:
    drawn = draw(3, seconds=18, cut_s=9.0)
    footage = read(drawn)
    assert [(shot.start, shot.stop) for shot in footage.shots] == [(0, 108), (108, 216)]
    versions = Versions(footage, -1)
    for part in versions.parts:
        assert [len(search.own) for search in versions.searches(part)] == [108, 108]


def search_all(cost: np.ndarray[tuple[int, ...], np.dtype[np.float64]], leap: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:  # fmt: skip  # noqa: E501
    """Return the price of the cheapest way, by looking at every one."""
    frames, count = cost.shape
    best = np.inf
    for way in product(range(count), repeat=frames):
        price = sum(cost[frame, moment] for frame, moment in enumerate(way))
        for before, after in pairwise(way):
            price += min({0: HOLD, 1: 0.0, 2: HOLD}.get(after - before, np.inf), JUMP + leap[before, after])
        best = min(best, price)
    return best


@given(st.integers(0, 10_000))
def test_the_way_found_is_the_cheapest(seed: int) -> None:
    random = np.random.default_rng(seed)
    cost, leap = random.uniform(0, 12, (5, 4)), random.uniform(0, 6, (4, 4))
    leap[np.abs(np.arange(4)[:, None] + 1 - np.arange(4)) < 2] = np.inf
    way = cheapest(cost, leap).tolist()
    price = sum(cost[frame, moment] for frame, moment in enumerate(way))
    for before, after in pairwise(way):
        price += min({0: HOLD, 1: 0.0, 2: HOLD}.get(after - before, np.inf), JUMP + leap[before, after])
    assert price == pytest.approx(search_all(cost, leap))


@given(st.integers(0, 10_000), st.sampled_from([MOUTH, EYES]))
def test_any_shot_has_two_ways_with_common_jumps(seed: int, part: str) -> None:
    random = np.random.default_rng(seed)
    count, guard = 60, 5
    expression = np.cumsum(random.normal(0, 0.4, (count, 3)), axis=0)
    poses = np.cumsum(random.normal(0, 0.2, (count, 4)), axis=0) * (1, 1, 1, 0.01)
    covered = np.zeros((count, count), np.float32)
    covered[20:24] = covered[:, 20:24] = 200  # a hand in four frames
    calm = (np.abs(np.arange(count) - 30) < 4).astype(float)
    own = (np.abs(np.arange(count) - 30) < 2) | (np.abs(np.arange(count) - 21.5) < 2)
    prices = costs(part, poses, expression, covered, calm, guard)
    found = ways(part, prices, expression, 1.0 - own, calm, guard)
    frames = np.arange(count)
    for way in (found.sham, found.other):
        steps = np.diff(way)
        np.testing.assert_array_equal((steps < 0) | (steps > 2), found.jumps[1:])
        assert (np.abs(way - frames)[~own] >= guard).all()
        assert not set(way[~own].tolist()) & {20, 21, 22, 23}
    assert prices.rest[frames, found.other][~own].mean() >= prices.rest[frames, found.sham][~own].mean() - 0.5
