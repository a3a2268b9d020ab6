"""What takes a hidden place: worked numbers, properties, and numbers of another implementation."""

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.media import operators
from ingest.media.exchange import Box, Cells, Outside, Region
from ingest.media.operators import HalvedImputation, Imputation, imputation_of

Mask = npt.NDArray[np.bool_]


def random_mask(rng: np.random.Generator, height: int, width: int, share: float) -> Mask:
    mask = rng.random((height, width)) < share
    mask[rng.integers(height), rng.integers(width)] = False
    return mask


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("x...", ".xx.", "..x.", "...."), "0.369192 0.461344 0.559305 0.586791"),
        (
            ("xxxx.", "xxx..", "...xx", ".x.xx"),
            "0.547941 0.526961 0.464173 0.398644 0.557226 0.571329 "
            "0.491577 0.440773 0.520686 0.394231 0.383933 0.450002",
        ),
    ],
)
def test_numbers_of_quantus(rows: tuple[str, ...], expected: str) -> None:
    """What `noisy_linear_imputation` of Quantus 0.6.0 puts into hidden places (x), without noise."""
    mask = np.array([[letter == "x" for letter in row] for row in rows])
    picture = (np.arange(mask.size) * 7 % 13 / 13).reshape(*mask.shape, 1)
    assert Imputation(mask).fill(picture)[mask].ravel() == pytest.approx(
        [float(one) for one in expected.split()], abs=1e-6
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 20), st.integers(2, 20), st.floats(0, 1))
def test_imputation_keeps_what_is_visible_and_stays_between_it(
    seed: int, height: int, width: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    mask, picture = random_mask(rng, height, width, share), rng.random((height, width, 2))
    filled = Imputation(mask).fill(picture)
    assert np.array_equal(filled[~mask], picture[~mask])
    for channel in range(2):
        visible = picture[~mask][:, channel]
        assert filled[:, :, channel].min() >= visible.min() - 1e-9
        assert filled[:, :, channel].max() <= visible.max() + 1e-9


def test_a_picture_without_a_visible_pixel_cannot_be_imputed() -> None:
    with pytest.raises(ValueError, match="at least one that is visible"):
        Imputation(np.ones((3, 3), bool))


LARGE: dict[str, Region] = {
    "all but a box": Outside(Box(0.35, 0.15, 0.65, 0.75)),
    "all but a box between pixels": Outside(Box(0.333, 0.111, 0.667, 0.777)),
    "all but some cells": Cells(9, 16, tuple(cell for cell in range(144) if cell % 5)),
    "all but one cell": Cells(9, 16, tuple(range(143))),
}


def textured(seed: int) -> npt.NDArray[np.uint8]:
    """A picture with detail of about a cell's size, like a face or a room."""
    noise = np.random.default_rng(seed).integers(0, 256, (90, 160, 3), np.uint8)
    smooth = cv2.GaussianBlur(noise, (0, 0), 4)
    return np.asarray(cv2.normalize(smooth, None, 0, 255, cv2.NORM_MINMAX), np.uint8)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", LARGE)
def test_a_large_mask_is_imputed_at_half_the_size_and_looks_the_same(name: str) -> None:
    mask, picture = LARGE[name].mask(90, 160), textured(1)
    large = imputation_of(mask)
    assert isinstance(large, HalvedImputation)
    filled, full = large.fill(picture), Imputation(mask).fill(picture)
    assert np.array_equal(filled[~mask], picture[~mask])
    difference = np.abs(filled - full)[mask]
    assert difference.mean() < 5  # of 255 levels
    assert np.quantile(difference, 0.99) < 25


def test_half_the_size_does_not_look_at_what_it_hides_either() -> None:
    mask, picture = LARGE["all but some cells"].mask(90, 160), textured(2)
    other = np.where(mask[:, :, None], textured(3), picture)
    assert np.array_equal(HalvedImputation(mask).fill(picture), HalvedImputation(mask).fill(other))


def test_noise_at_half_the_size_lies_on_hidden_pixels_alone() -> None:
    mask, picture = LARGE["all but a box"].mask(90, 160), textured(4)
    noise = np.random.default_rng(1).normal(0, 3, (int(mask.sum()), 3))
    added = HalvedImputation(mask).fill(picture, noise) - HalvedImputation(mask).fill(picture)
    assert np.allclose(added[mask], noise)
    assert not added[~mask].any()


def test_small_masks_and_slivers_are_imputed_at_full_size() -> None:
    assert isinstance(imputation_of(Cells(9, 16, tuple(range(79))).mask(90, 160)), Imputation)  # 54.9 %
    assert isinstance(imputation_of(Cells(9, 16, tuple(range(80))).mask(90, 160)), HalvedImputation)  # 55.6 %
    sliver = np.ones((90, 160), bool)
    sliver[:, 7] = False
    assert isinstance(imputation_of(sliver), Imputation)


def test_blur_leaves_no_detail() -> None:
    board = (np.indices((90, 160)).sum(axis=0) // 3 % 2 * 255).astype(np.uint8)
    blurred = operators.blur(np.repeat(board[:, :, None], 3, axis=2))
    assert np.ptp(blurred[1:-1, 1:-1].astype(int)) < 16
    assert abs(blurred.mean() - board.mean()) < 4


def test_the_median_does_not_see_what_moves() -> None:
    pictures = np.full((9, 4, 4, 3), 100, np.uint8)
    pictures[3:6, 2, 2] = 255
    assert (operators.median(pictures) == 100).all()


@pytest.mark.parametrize(("number", "other"), [(0, 8), (4, 12), (8, 0), (15, 7)])
def test_another_moment_is_half_a_clip_away(number: int, other: int) -> None:
    assert operators.other_moment(number, 16) == other


@pytest.mark.parametrize("size", [(90, 160), (360, 640), (37, 53), (9, 16)])
def test_a_patch_stays_inside_its_mask(size: tuple[int, int]) -> None:
    mask = Cells(9, 16, (3, 17, 143)).mask(*size)
    frame = np.zeros((*size, 3), np.uint8)
    operators.paste(frame, np.full((9, 16, 3), 200, np.uint8), mask)
    assert (frame[mask] == 200).all()
    assert (frame[~mask] == 0).all()


@given(st.integers(1, 200), st.integers(1, 200))
def test_every_pixel_lies_in_one_cell(height: int, width: int) -> None:
    counted = sum(Cells(3, 4, (cell,)).mask(height, width).astype(int) for cell in range(12))
    assert np.array_equal(counted, np.ones((height, width), int))


def test_cells_are_where_their_numbers_say() -> None:
    for cell in range(144):
        row, column = divmod(cell, 16)
        mask = Cells(9, 16, (cell,)).mask(90, 160)
        assert mask[10 * row : 10 * row + 10, 10 * column : 10 * column + 10].all()
        assert mask.sum() == 100


def test_a_box_and_its_outside() -> None:
    box = Box(0.25, 0.5, 0.75, 1.0)
    mask = box.mask(4, 8)
    assert mask[2:, 2:6].all()
    assert mask.sum() == 8
    assert np.array_equal(Outside(box).mask(4, 8), ~mask)
