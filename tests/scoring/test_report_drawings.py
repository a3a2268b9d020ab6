"""Drawings of the report: outlines are exact, seconds in their place, texts cut and marked without losing a sign."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score.report.drawings import bars, lane, outline, runs, spoken, ticks, whereabouts
from score.report.explanations import choose
from score.report.words import cut_place, highlight
from score.text import Vocabulary, cue_mentions
from score.visible import visible
from tests import there

WORDS = Vocabulary(("smile", "gaze", "lighting", "words"), ("interview", "openness"), "interview")
TITLES = {"interview": "Interview", "openness": "Openness"}
GRIDS = st.tuples(st.integers(1, 12), st.integers(1, 12)).flatmap(
    lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size[0] * size[1] - 1)))
)
ANY_TEXT = st.text(st.sampled_from("aé. ,\n\u0301\u200d👩smile gaze-–\"'İ\u202e<&"), max_size=80)


def loops(path: str) -> Iterator[list[tuple[int, int]]]:
    """Read path data made of M, h, v and z."""
    for part in path.split("z")[:-1]:
        x, y = (int(number) for number in re.match(r"M(\d+) (\d+)", part).groups())  # type: ignore[union-attr]
        corners = [(x, y)]
        for letter, number in re.findall(r"([hv])(-?\d+)", part):
            x, y = (x + int(number), y) if letter == "h" else (x, y + int(number))
            corners.append((x, y))
        yield corners


def area(corners: list[tuple[int, int]]) -> float:
    """Signed area by the shoelace formula; positive clockwise on a screen."""
    x, y = np.array(corners).T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


@settings(max_examples=150)
@given(GRIDS)
def test_the_outlined_area_is_exactly_that_of_the_cells(grid: tuple[tuple[int, int], set[int]]) -> None:
    (rows, columns), places = grid
    path = there(outline(places, rows, columns))
    assert sum(map(area, loops(path))) == len(places)
    for corners in loops(path):
        assert len(corners) % 2 == 0  # sides alternate, the last one is drawn by closing
        assert corners[-1][0] == corners[0][0] or corners[-1][1] == corners[0][1]


@settings(max_examples=60)
@given(GRIDS)
def test_a_cell_is_inside_where_it_is_marked(grid: tuple[tuple[int, int], set[int]]) -> None:
    (rows, columns), places = grid
    path = outline(places, rows, columns) or ""
    for place in range(rows * columns):
        y, x = place // columns + 0.5, place % columns + 0.5
        winding = 0
        for corners in loops(path):
            for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
                if x1 == x2 and x1 > x and min(y1, y2) < y < max(y1, y2):
                    winding += 1 if y2 > y1 else -1
        assert winding == (place in places)


def test_outlines_by_hand() -> None:
    assert outline([], 9, 16) == ""
    assert outline([0], 1, 1) == "M0 0h1v1h-1z"
    assert outline([0, 1, 4, 5], 3, 4) == "M0 0h2v2h-2z"
    # Two cells that touch at a corner are two loops; a ring has a hole that runs the other way.
    assert outline([0, 3], 2, 2) == "M0 0h1v1h-1zM1 1h1v1h-1z"
    assert outline([0, 1, 2, 3, 5, 6, 7, 8], 3, 3) == "M0 0h3v3h-3zM1 1v1h1v-1z"


def test_what_is_too_scattered_is_not_outlined() -> None:
    checkers = [place for place in range(64 * 64) if (place // 64 + place) % 2]
    assert outline(checkers, 64, 64) is None
    assert outline(range(64 * 64), 64, 64) == "M0 0h64v64h-64z"


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([0], "upper left"),
        ([8], "lower right"),
        ([4], "middle"),
        ([1], "upper middle"),
        (range(9), "middle"),
        ([], "nowhere"),
    ],
)
def test_whereabouts(places: list[int], words: str) -> None:
    assert whereabouts(places, 3, 3) == words


@settings(max_examples=80)
@given(st.sets(st.integers(0, 200)))
def test_runs_hold_each_place_once(places: set[int]) -> None:
    found = runs(sorted(places))
    assert [place for start, end in found for place in range(start, end)] == sorted(places)
    assert all(before[1] < after[0] for before, after in pairwise(found))
    widths = [int(width) for width in re.findall(r"h(\d+)v1", lane(sorted(places)))]
    assert sum(widths) == len(places)


def test_seconds_in_words() -> None:
    assert spoken([], 1.0) == ""
    assert spoken([2], 1.0) == "2 to 3 s"
    assert spoken([0, 1, 4], 1.0) == "0 to 2 s and 4 to 5 s"
    assert spoken([1, 2], 0.25) == "0.25 to 0.75 s"
    assert spoken(range(0, 40, 2), 1.0).endswith("8 to 9 s and 15 more intervals")


def test_bars_are_as_high_as_their_weights() -> None:
    assert bars(np.array([1.0, 0.0, 0.5])) == "M0 100v-100h1v100zM2 100v-50h1v50z"


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=900).filter(any))
def test_many_bars_are_drawn_as_few(weights: list[float]) -> None:
    drawn = [(int(x), int(h), int(w)) for x, h, w in re.findall(r"M(\d+) 100v-(\d+)h(\d+)", bars(np.array(weights)))]
    assert 1 <= len(drawn) <= 240
    assert max(height for _, height, _ in drawn) == 100
    assert all(x + width <= len(weights) for x, _, width in drawn)


@settings(max_examples=80)
@given(st.integers(1, 5000), st.sampled_from([0.04, 0.25, 1.0, 1.5, 10.0]))
def test_ticks_are_few_and_in_their_place(bins: int, bin_s: float) -> None:
    found = ticks(bins, bin_s)
    assert found[0] == (0.0, "0")
    assert 1 <= len(found) <= 9
    assert len(found) >= 3 or not 2 <= bins * bin_s <= 8 * 3600
    for place, seconds in found:
        assert place == pytest.approx(100 * float(seconds) / (bins * bin_s), abs=0.01 * 100 / (bins * bin_s) + 1e-3)
        assert place <= 100


@settings(max_examples=150)
@given(ANY_TEXT, st.integers(1, 40))
def test_a_cut_is_short_and_never_inside_a_character(text: str, length: int) -> None:
    place = cut_place(text, length)
    assert 0 <= place <= 1.25 * length
    assert (place > 0) == bool(text)
    if 0 < place < len(text) and length > 3:
        assert text[place] not in "\u0301\u200d" or all(sign in "\u0301\u200d👩" for sign in text[1:place])


def test_a_cut_prefers_the_end_of_a_sentence_then_of_a_word() -> None:
    text = "A smile helped. The gaze wandered off and away to the left of the frame."
    assert text[: cut_place(text, 20)] == "A smile helped."
    assert text[: cut_place(text, 40)] == "A smile helped. The gaze wandered off"
    assert cut_place(text, 60) == len(text)  # hardly more than allowed
    assert cut_place("x" * 100, 20) == 20
    assert cut_place("e\u0301" * 50, 21) == 20  # not between a letter and its accent
    assert cut_place("👩\u200d" * 50, 20) == 20


def everything(text: dict[str, Any]) -> str:
    return "".join(piece["text"] for piece in (*text["shown"], *text["rest"]))


@settings(max_examples=150)
@given(ANY_TEXT)
def test_marking_loses_nothing(text: str) -> None:
    marked = highlight(text, WORDS, (), TITLES)
    assert everything(marked) == visible(text.strip())
    assert all(piece["text"] for piece in (*marked["shown"], *marked["rest"]))


@settings(max_examples=150)
@given(ANY_TEXT)
def test_mentions_stand_in_order_and_apart(text: str) -> None:
    found = cue_mentions(text, WORDS)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("Her smile - e.g. the SMILE’s width - didn't help.", [("smile", "smile"), ("SMILE’s", "smile")]),
        ("İ mean “a very long quotation with a smile in it”, not the gaze.", [("gaze", "gaze")]),
        ("Bright words, and bright light.", [("words", "words"), ("bright", "lighting"), ("light", "lighting")]),
        ("Eye contact–or looking away–counts.", [("Eye contact", "gaze"), ("looking away", "gaze")]),
        ("Nothing at all.", []),
    ],
)
def test_cues_are_found_where_they_stand(text: str, cues: list[tuple[str, str]]) -> None:
    assert [(text[one.start : one.end], one.cue) for one in cue_mentions(text, WORDS)] == cues


def test_what_is_said_of_a_cue() -> None:
    told = {("smile", "interview", 1), ("gaze", "interview", 1), ("gaze", "openness", -1)}
    pieces = highlight("The smile, the gaze and the words.", WORDS, told, TITLES)["shown"]
    assert [(piece["cue"], piece["sign"], piece["claims"]) for piece in pieces if piece["cue"]] == [
        ("smile", 1, "said to have raised Interview"),
        ("gaze", 0, "said to have raised Interview; said to have lowered Openness"),
        ("words", 0, ""),
    ]


def test_words_side_by_side_are_marked_as_one() -> None:
    pieces = highlight("Bright words, and bright  light.", WORDS, (), TITLES)["shown"]
    assert [piece["text"] for piece in pieces if piece["cue"]] == ["words", "bright  light"]


def test_a_long_text_waits_behind_a_click_and_no_marked_word_is_torn() -> None:
    marked = highlight("The gaze counts for much. " * 200 + "eye contact", WORDS, (), TITLES)
    assert len("".join(piece["text"] for piece in marked["shown"])) <= 540
    assert marked["rest"]
    assert marked["cut_off"]
    assert len(everything(marked)) == 5000
    torn = highlight("x " * 207 + "eye contact " + "y " * 300, WORDS, (), TITLES)
    assert [piece["text"] for piece in (*torn["shown"], *torn["rest"]) if piece["cue"]] == ["eye contact"]


@settings(max_examples=100)
@given(st.lists(st.none() | st.floats(-1, 1), max_size=30), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_choice_does_not_hang_on_the_order(held: list[float | None], count: int, random: object) -> None:
    ids = [f"c{number:02d}" for number in range(len(held))]
    chosen = choose(ids, held, count, seed=1)
    every = [clip for part in chosen for clip in part]
    assert len(every) == len(set(every)) == min(count, sum(one is not None for one in held))
    order = sorted(range(len(ids)), key=lambda _: random.random())  # type: ignore[attr-defined]
    again = choose([ids[clip] for clip in order], [held[clip] for clip in order], count, seed=1)
    for part, same in zip(chosen, again, strict=True):
        assert [ids[clip] for clip in part] == [ids[order[clip]] for clip in same]
    able = [value for value in held if value is not None]
    best, worst, _ = chosen
    assert [held[clip] for clip in best[:1]] == sorted(able, reverse=True)[: len(best[:1])]
    assert [held[clip] for clip in worst[:1]] == sorted(able)[: len(worst[:1])]


def test_another_seed_draws_other_clips() -> None:
    ids, held = [f"c{number:03d}" for number in range(200)], [number / 200 for number in range(200)]
    best, _, drawn = zip(*(map(tuple, choose(ids, held, 30, seed)) for seed in range(3)), strict=True)
    assert (len(set(best)), len(set(drawn))) == (1, 3)
