"""Exchanges: any mixture of a clip and its second drawing, part by part, is a clip that could have been drawn."""

from collections import Counter
from itertools import combinations
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from bundle_tools.synthetic.body import spells
from bundle_tools.synthetic.clip import DURATION_S, FRAMES, HEIGHT, WIDTH, render, scene_of
from bundle_tools.synthetic.dataset import Member, plan
from bundle_tools.synthetic.exchange import DrawnPart, as_entry, exchange_of, parts_of, with_others
from bundle_tools.synthetic.person import WORD_STEPS
from bundle_tools.synthetic.script import ADJECTIVES, RATE, write_script

CLIPS = plan("practice", clips=6, seed=31)


def inside(parts: list[DrawnPart], names: set[str]) -> NDArray[np.uint8]:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for part in parts:
        if part.name in names and part.outline is not None:
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
        seen = [part.outline.astype(np.float32) for part in parts_of(member.spec) if part.outline is not None]
        for one, other in combinations(seen, 2):
            assert cv2.intersectConvexConvex(one, other)[0] == 0, member.clip_id


def test_what_is_exchanged_is_as_far_on_the_other_side_and_the_rest_stays() -> None:
    spec = CLIPS[0].spec
    assert with_others(spec, []) == spec
    other = with_others(spec, ["mouth", "thing-3"])
    assert (other.cues.smile, other.cues.gaze, other.others) == (1 - spec.cues.smile, spec.cues.gaze, frozenset({3}))
    assert with_others(other, ["mouth"]).cues.smile == pytest.approx(spec.cues.smile)
    assert exchange_of(spec, parts_of(spec)).labels() != spec.labels()


def test_one_adjective_is_exchanged_and_nothing_else_that_is_said_or_heard() -> None:
    for member in CLIPS:
        words = next(part for part in parts_of(member.spec) if part.name == "words")
        own, other = render(member.spec), render(with_others(member.spec, ["words"]))
        assert other.transcript == words.transcript
        pairs = zip(own.transcript.split(), other.transcript.split(), strict=True)
        assert sum(one != another for one, another in pairs) == 1
        assert words.event_s is not None
        begin, end = (round(time * RATE) for time in words.event_s)
        there = np.abs(own.sound / np.abs(own.sound).max() - other.sound / np.abs(other.sound).max())
        assert max(there[:begin].max(), there[end:].max(initial=0.0)) < 0.05 < there[begin:end].max()


def test_exchanged_words_are_distributed_like_all_words() -> None:
    """Whoever counts bright and gloomy words cannot tell which clips had one exchanged."""
    level_of = {word: level for level, words in ADJECTIVES.items() for word in words}

    def levels(seed: int, other: int | None) -> tuple[int, ...]:
        brightness = round(WORD_STEPS * np.random.default_rng(seed).random()) / WORD_STEPS
        script = write_script(seed, words=brightness, speech_rate=0.5, duration_s=DURATION_S, other=other)
        return tuple(level_of[one.word] for one in script.adjectives)

    seeds = range(1500)
    plain, exchanged = (Counter(levels(seed, other) for seed in seeds) for other in (None, 1))
    # Half of the sum of differences: the best detector is right in at most that much more than half of all cases.
    apart = sum(abs(plain[way] - exchanged[way]) for way in plain | exchanged) / (2 * len(seeds))
    again = Counter(levels(seed + len(seeds), None) for seed in seeds)
    chance = sum(abs(plain[way] - again[way]) for way in plain | again) / (2 * len(seeds))
    assert apart < 1.5 * chance


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
    outlined = [part for part in parts if "outline" in part]
    assert {part["name"] for part in parts} - {part["name"] for part in outlined} == {"words"}
    assert all(isinstance(value, int) for part in outlined for corner in part["outline"] for value in corner)
    assert all(round(100 * time) == pytest.approx(100 * time) for part in parts for time in part.get("event_s", []))
