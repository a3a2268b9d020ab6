"""Parts of a second drawing in the first one, and the grain over both."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.media.blend import AROUND, Blend, Composite, Weights, box_of, weights_of
from ingest.media.cache import Grain
from ingest.media.exchange import Exchange, Part
from ingest.media.video import Frame

HEIGHT, WIDTH = 90, 160
PART = Part("mouth", ((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)), None)
MOVING = replace(PART, name="hand", event_s=(1.0, 2.0))
EVERYWHERE = Weights(np.ones((HEIGHT, WIDTH), np.float32), np.zeros((HEIGHT, WIDTH), np.float32))


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Exchange:
    return Exchange(tmp_path_factory.getbasetemp() / "none.mp4", "", (PART,))


def picture(seed: int) -> Frame:
    return np.random.default_rng(seed).integers(60, 190, (HEIGHT, WIDTH, 3)).astype(np.uint8)


def far(mask: npt.NDArray[np.bool_], pixels: int) -> npt.NDArray[np.bool_]:
    """Return what lies in a mask, and that far from all that does not."""
    kept = mask.copy()
    for _ in range(pixels):
        padded = np.pad(kept, 1, "edge")
        kept = kept & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return kept


@given(st.integers(0, 2**32 - 1))
def test_noise_is_the_first_drawings_and_a_part_the_seconds(seed: int) -> None:
    first, noise = picture(seed), np.random.default_rng(seed).integers(-1, 2, (HEIGHT, WIDTH, 3))
    second = (first + noise).astype(np.uint8)
    part = np.s_[30:60, 40:80]
    second[part] = np.where(first[part] < 128, first[part] + 50, first[part] - 50)
    shown = Blend(EVERYWHERE).mix(first, second)
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[part] = True
    assert (shown[far(inside, AROUND)] == second[far(inside, AROUND)]).all()
    assert (shown[far(~inside, AROUND)] == first[far(~inside, AROUND)]).all()


def test_only_what_is_exchanged_is_shown(exchange: Exchange) -> None:
    first, second = picture(1), 255 - picture(1)
    assert (Composite(exchange, [], None, (HEIGHT, WIDTH)).mix(first, second, 0.0) == first).all()
    assert not exchange.nearest([], HEIGHT, WIDTH).any()
    assert exchange.nearest(["mouth"], HEIGHT, WIDTH).all()
    mask, weights = PART.mask(HEIGHT, WIDTH), weights_of([PART], HEIGHT, WIDTH).most
    assert (weights[far(mask, 2)] == 1).all()
    assert (weights[far(~mask, 3)] == 0).all()
    slopes = [np.abs(np.diff(weights, axis=axis)).max() for axis in (0, 1)]
    assert 0 < max(slopes) < 1  # no hard edge


@given(st.permutations(range(4)), st.integers(0, 4))
def test_every_pixel_belongs_to_one_part_and_two_parts_that_nearly_touch_stay_apart(
    order: list[int], many: int
) -> None:
    names = ("left", "right", "low", "small")
    outlines = ((0.0, 0.0, 0.49, 0.49), (0.51, 0.0, 1.0, 0.49), (0.0, 0.51, 1.0, 1.0), (0.497, 0.1, 0.503, 0.3))
    parts = [
        Part(name, ((x0, y0), (x1, y0), (x1, y1), (x0, y1)), None)
        for name, (x0, y0, x1, y1) in zip(names, outlines, strict=True)
    ]
    exchange = Exchange(Path(), "", tuple(parts))
    chosen = [names[place] for place in order[:many]]
    near, rest = (
        exchange.nearest(some, HEIGHT, WIDTH) for some in (chosen, [name for name in names if name not in chosen])
    )
    assert not (near & rest).any()
    for part in parts:
        mask = part.mask(HEIGHT, WIDTH)
        assert near[mask].all() if part.name in chosen else not near[mask].any()


@pytest.mark.parametrize("span_s", [None, (1.0, 2.0)])
@pytest.mark.parametrize("time_s", [0.5, 1.0, 2.0])
def test_parts_come_from_the_second_picture_while_they_are_exchanged(
    exchange: Exchange, span_s: tuple[float, float] | None, time_s: float
) -> None:
    other = replace(PART, name="hand", outline=tuple((x / 3 + 0.66, y) for x, y in PART.outline))
    both = replace(exchange, parts=(PART, other))
    first, second = picture(1), 255 - picture(1)
    shown = Composite(both, ["hand"], span_s, (HEIGHT, WIDTH)).mix(first, second, time_s)
    chosen = both.nearest(["hand"], HEIGHT, WIDTH) & (span_s is None or span_s[0] <= time_s < span_s[1])
    assert np.array_equal(shown, np.where(chosen[..., None], second, first))


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.7), st.floats(0.05, 0.7), st.floats(0.1, 0.3))
def test_what_is_blended_in_a_box_is_what_would_be_blended_in_the_whole_picture(
    seed: int, left: float, top: float, side: float
) -> None:
    # Each row has another size of difference, around that from which the drawings differ.
    random = np.random.default_rng(seed)
    first = picture(seed)
    second = first + random.integers(0, random.integers(1, 20, (HEIGHT, 1, 1)), first.shape).astype(np.uint8)
    corners = ((left, top), (left + side, top), (left + side, top + side), (left, top + side))
    weights = weights_of([replace(MOVING, outline=corners)], HEIGHT, WIDTH)
    small = Blend(weights).mix(first, second).copy()
    # A weight in two corners makes the box the whole picture.
    whole = Weights(weights.most.copy(), weights.least)
    whole.most[[0, -1], [0, -1]] = np.maximum(whole.most[[0, -1], [0, -1]], np.float32(1e-30))
    assert np.array_equal(Blend(whole).mix(first, second), small)
    rows, columns = box_of([replace(MOVING, outline=corners)], (HEIGHT, WIDTH), np.eye(2, 3), (HEIGHT, WIDTH))
    outside = np.ones((HEIGHT, WIDTH), bool)
    outside[rows, columns] = False
    assert (small[outside] == first[outside]).all()


@pytest.mark.parametrize("part", [PART, MOVING], ids=["still", "moving"])
def test_what_moved_in_the_first_drawing_leaves_no_noise(part: Part) -> None:
    first, noise = picture(3), np.random.default_rng(3).integers(-1, 2, (HEIGHT, WIDTH, 3))
    second = (first + noise).astype(np.uint8)
    mask, weights = part.mask(HEIGHT, WIDTH), weights_of([part], HEIGHT, WIDTH)
    shown = Blend(weights).mix(first, second)
    middle = far(mask, 6)
    # The noise of what stands still is the same beside it, and a line within would tell.
    assert (shown[middle] == (first if part.event_s is None else second)[middle]).all()
    assert (shown[~mask] == first[~mask]).all()
    assert np.abs(np.diff(weights.least, axis=1)).max() < 0.5  # no hard edge


def test_grain_is_the_frames_own_and_leaves_the_mean() -> None:
    frame = picture(2)
    grain = Grain(1.3, 7, HEIGHT, WIDTH)
    first, second = (grain.add(index, frame, np.empty_like(frame)).astype(int) for index in (0, 1))
    assert (first == Grain(1.3, 7, HEIGHT, WIDTH).add(0, frame, np.empty_like(frame))).all()
    assert abs((first - frame).mean()) < 0.1
    assert 1.1 < (first - frame).std() < 1.5
    assert np.corrcoef((first - frame).ravel(), (second - frame).ravel())[0, 1] < 0.1
