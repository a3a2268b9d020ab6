"""Replacements for hidden parts of the picture. They are public, so that models can be trained with them.

All work on small pictures; `paste` brings the result to any size inside the mask.
"""

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from ingest.media.exchange import Mask
from ingest.media.video import Frame

STRAIGHT, DIAGONAL = 1 / 6, 1 / 12
NEIGHBOURS = tuple(
    ((down, right), STRAIGHT if 0 in (down, right) else DIAGONAL)
    for down in (-1, 0, 1)
    for right in (-1, 0, 1)
    if (down, right) != (0, 0)
)
NOISE = 0.01
"""Standard deviation of the noise on imputed pixels, as a share of the full range."""
LARGEST_FULL = 0.55
"""Share of a picture up to which a mask is imputed at full size: the time to factorise grows faster than the share."""
BLUR_SIZE = (16, 9)
BLUR_SIGMA = 1.2
"""On a picture of that size: about 8 % of the frame's width."""

Pixels = npt.NDArray[np.float64]


class Imputation:
    """Noisy linear imputation of one mask: each hidden pixel is the weighted mean of its eight neighbours.

    Straight neighbours weigh 1/6, diagonal ones 1/12; at the picture's border the remaining weights are scaled to
    sum to one. One sparse factorisation of the mask serves every picture.

    Source: Rong, Leemann, Borisov, Kasneci, Kasneci, "A consistent and efficient evaluation strategy for attribution
    methods" (ROAD), ICML 2022, section 4.2.

    `mask`: hidden pixels, shape (height, width); at least one pixel must be visible. Raises ValueError when no pixel is
    visible.
    """

    def __init__(self, mask: Mask) -> None:
        from scipy.sparse import coo_array  # noqa: PLC0415 - takes a while, and most runs need no imputation
        from scipy.sparse.linalg import splu  # noqa: PLC0415

        if mask.all():
            raise ValueError("imputation: all pixels are hidden, expected at least one that is visible")
        self._mask = mask
        height, width = mask.shape
        number = np.full(mask.shape, -1)
        number[mask] = np.arange(mask.sum())
        down, right = np.nonzero(mask)
        here = number[mask]
        total = np.zeros(len(here))
        unknown: list[tuple[Any, Any, Any]] = []
        known: list[tuple[Any, Any, Any]] = []
        for (step_down, step_right), weight in NEIGHBOURS:
            y, x = down + step_down, right + step_right
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            total[inside] += weight
            y, x, row = y[inside], x[inside], here[inside]
            hidden = mask[y, x]
            unknown.append((np.full(hidden.sum(), -weight), row[hidden], number[y, x][hidden]))
            known.append((np.full((~hidden).sum(), weight), row[~hidden], (y * width + x)[~hidden]))
        unknown.append((total, here, here))
        self._factors = None
        if len(here):
            data, rows, columns = (np.concatenate(parts) for parts in zip(*unknown, strict=True))
            matrix = coo_array((data, (rows, columns)), (len(here), len(here))).tocsc()
            # The matrix is symmetric and diagonally dominant: pivoting would only cost fill-in. It is too sparse for
            # panels of several columns, which take twice the time.
            options = {"SymmetricMode": True}
            self._factors = splu(
                matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, panel_size=1, options=options
            )
        data, rows, columns = (np.concatenate(parts) for parts in zip(*known, strict=True))
        self._known = coo_array((data, (rows, columns)), (len(here), height * width)).tocsr()

    def fill(self, picture: npt.NDArray[Any], noise: Pixels | float = 0.0) -> Pixels:
        """Return the picture with the hidden pixels imputed, as float64.

        `picture`: shape (height, width, channels), any range. `noise`: added to the hidden pixels, shape (hidden
        pixels, channels) or one number, in the picture's range.
        """
        filled = picture.astype(np.float64)
        if self._factors is not None:
            flat = filled.reshape(-1, picture.shape[2])
            filled[self._mask] = self._factors.solve(self._known @ flat) + noise
        return filled


class HalvedImputation:
    """Imputation of a large mask, solved at half the size and stretched: a quarter of the unknowns.

    Imputed pixels are smooth except near visible ones: in pictures with detail of a cell's size, the result differs
    from `Imputation` by less than 2 % of the range on average. Visible pixels stay as they are.

    `mask`: hidden pixels, shape (height, width), both even; at least one block of 2 x 2 pixels must be visible. Raises
    ValueError when no such block is visible.
    """

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._imputation = Imputation(halved(mask))

    def fill(self, picture: npt.NDArray[Any], noise: Pixels | float = 0.0) -> Pixels:
        """Return the picture with the hidden pixels imputed, as `Imputation.fill` does."""
        height, width = self._mask.shape
        filled = picture.astype(np.float64)
        half = cv2.resize(filled, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
        smooth = cv2.resize(self._imputation.fill(half), (width, height), interpolation=cv2.INTER_LINEAR)
        filled[self._mask] = smooth[self._mask] + noise
        return filled


def halved(mask: Mask) -> Mask:
    """Return which blocks of 2 x 2 pixels have a hidden one; height and width must be even."""
    height, width = mask.shape
    return np.asarray(mask.reshape(height // 2, 2, width // 2, 2).any(axis=(1, 3)))


def imputation_of(mask: Mask) -> Imputation | HalvedImputation:
    """Return the imputation of a mask of even size: at half size if more than 55 % is hidden, else at full size."""
    large = mask.mean() > LARGEST_FULL and not halved(mask).all()  # thin visible strips may hold no whole block
    return HalvedImputation(mask) if large else Imputation(mask)


def impute(picture: Frame, imputation: Imputation | HalvedImputation, noise: Pixels | float = 0.0) -> Frame:
    """Return an RGB picture with its hidden part imputed; `noise` is on the scale of 0 to 255."""
    return np.clip(np.rint(imputation.fill(picture, noise)), 0, 255).astype(np.uint8)


def blur(picture: Frame) -> Frame:
    """Return the picture so heavily blurred that no face or gesture is left, RGB, 9 x 16 pixels."""
    small = cv2.resize(picture, BLUR_SIZE, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(small, (0, 0), BLUR_SIGMA), np.uint8)


def median(pictures: Frame) -> Frame:
    """Return the median over time of pictures of shape (moments, height, width, 3)."""
    middle: Frame = np.median(pictures, axis=0).astype(np.uint8)
    return middle


def other_moment(number: int, count: int) -> int:
    """Return which of `count` pictures, evenly spaced over a clip, is half a clip away from picture `number`."""
    return (number + count // 2) % count


def paste(frame: Frame, replacement: Frame, mask: Mask) -> None:
    """Write a replacement, of whatever size, into the hidden part of a frame, in place.

    `frame`: RGB, shape (height, width, 3).
    `replacement`: RGB, stretched over the whole frame.
    `mask`: hidden pixels, shape (height, width).
    """
    height, width = frame.shape[:2]
    if replacement.shape != frame.shape:
        replacement = np.asarray(cv2.resize(replacement, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)
    cv2.copyTo(replacement, mask.view(np.uint8), frame)
