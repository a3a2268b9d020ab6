"""Exchanges: any mixture of a clip and its second drawing, part by part, is a clip that could have been drawn."""

from itertools import combinations
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from bundle_tools.synthetic.clip import DURATION_S, FRAMES, HEIGHT, WIDTH, scene_of
from bundle_tools.synthetic.dataset import Member, plan
from bundle_tools.synthetic.drawing.acting import spells
from bundle_tools.synthetic.exchange import CALM, Part, as_entry, exchange_of, parts_of, with_others

CLIPS = plan("practice", clips=6, seed=31)


def inside(parts: list[Part], names: set[str]) -> NDArray[np.uint8]:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for part in parts:
        if part.name in names:
            cv2.fillConvexPoly(mask, np.rint(part.outline).astype(np.int32), 255)
    return mask


@pytest.mark.parametrize("member", CLIPS, ids=lambda member: member.clip_id)
def test_a_mixture_is_drawn_to_the_pixel(member: Member) -> None:
    parts = parts_of(member.spec)
    names = [part.name for part in parts]
    random = np.random.default_rng(len(names))
    mixed = set(random.permutation(names)[: len(names) // 2].tolist()) | {"mouth"}
    clip, exchange = scene_of(member.spec), scene_of(exchange_of(member.spec, parts))
    drawn, mask = scene_of(with_others(member.spec, mixed)), inside(parts, mixed)
    for index in range(5, FRAMES, 24):
        frame = clip.draw(index).copy()
        cv2.copyTo(exchange.draw(index), mask, frame)
        np.testing.assert_array_equal(frame, drawn.draw(index))


@pytest.mark.slow
def test_no_two_outlines_meet() -> None:
    for member in plan("final", clips=10, seed=5):
        for one, other in combinations(parts_of(member.spec), 2):
            area, _ = cv2.intersectConvexConvex(one.outline.astype(np.float32), other.outline.astype(np.float32))
            assert area == 0, (member.clip_id, one.name, other.name)


def test_what_is_exchanged_is_calm_and_the_rest_stays() -> None:
    spec = CLIPS[0].spec
    assert with_others(spec, []) == spec
    other = with_others(spec, ["mouth", "thing-3"])
    assert (other.cues.smile, other.cues.gaze, other.others) == (CALM["smile"], spec.cues.gaze, frozenset({3}))
    assert exchange_of(spec, parts_of(spec)).labels() != spec.labels()


def test_each_event_lies_mostly_in_a_second_of_its_own() -> None:
    for seed in range(200):
        seconds = []
        for start, end in spells(seed, DURATION_S).values():
            shares = [max(0.0, min(end, s + 1) - max(start, s)) / (min(end, 5) - max(start, 0)) for s in range(5)]
            assert max(shares) > 0.55
            seconds.append(int(np.argmax(shares)))
        assert len(set(seconds)) == 3


def test_the_list_holds_no_number_that_tells_a_label() -> None:
    entry = as_entry(parts_of(CLIPS[0].spec), "exchanges/x.mp4", "0" * 64)
    parts: Any = entry["parts"]
    assert [part["name"] for part in parts[:2]] == ["mouth", "eyes"]
    assert all(isinstance(value, int) for part in parts for corner in part["outline"] for value in corner)
    assert all(round(100 * time) == pytest.approx(100 * time) for part in parts for time in part.get("event_s", []))
