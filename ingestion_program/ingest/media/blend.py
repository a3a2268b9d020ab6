"""Shows parts of a clip's second version in its first, without a seam.

In a second drawing every part is its counterpart. Outside the parts both drawings are the same, so every mixture is
like an ordinary clip and leaves no trace. But both were compressed separately. Even where they show the same, they
differ by compression noise, and a hard edge between them would be a visible line. So the first drawing's own pixels
stay wherever both show the same. The exception is the middle of a moving part: in the first drawing it leaves noise
wherever it passes, which would reveal it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.typing as npt

from ingest.media.exchange import mask_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.media.exchange import Exchange, Mask, Part
    from ingest.media.video import Frame

Shares = npt.NDArray[np.float32]
Affine = npt.NDArray[np.float64]
"""Shape (2, 3): takes (x, y, 1) in pixels of a file's frames to pixels of what is shown."""
INSIDE, OUTSIDE = 0.005, 0.01
"""How far the drawings are blended on the inner and outer side of an outline, as shares of the width.

Within this distance both drawings show the same, because every part keeps away from its outline.
"""
MIDDLE = 0.02
"""Distance from its outline at which a moving part is taken from the second drawing alone, as a share of the width.

Up to there the drawings are blended: what moves leaves compression noise wherever it passes, even where the
pictures look the same.
"""
SAME, OTHER = 2.0, 6.0
"""Mean local difference in luma, of 255, up to which both drawings show the same, and from which they certainly differ.

Between these values they are blended. H.264's noise rarely reaches 6."""
AROUND = 5
"""Side, in pixels, of the square over which the mean is taken."""
_STEPS = 16
"""Steps a level."""


@dataclass(frozen=True, eq=False)
class Weights:
    """How much of the second drawing is shown, 0 to 1, both of shape (height, width)."""

    most: Shares
    """Where the drawings differ."""
    least: Shares
    """Where they show the same."""


def weights_of(parts: Sequence[Part], height: int, width: int) -> Weights:
    """Return how much of the second drawing is shown where all parts are exchanged, see `Blend`.

    The drawings are blended along the outlines.
    """
    # Parts that are always there do not move, so they leave no noise around them.
    moving = [part for part in parts if part.event_s is not None]
    most = _slope(mask_of(parts, height, width), -OUTSIDE * width, INSIDE * width)
    return Weights(most, _slope(mask_of(moving, height, width), 0, MIDDLE * width))


def _slope(mask: Mask, start: float, end: float) -> Shares:
    """Return a smooth ramp from 0 to 1 between two distances from the edge of a mask, in pixels, inwards."""
    drawn = mask.view(np.uint8)
    if not mask.any() or mask.all():
        return drawn.astype(np.float32)
    inside, outside = (cv2.distanceTransform(mask, cv2.DIST_L2, 5) for mask in (drawn, 1 - drawn))
    ramp = np.clip((inside - outside - start) / (end - start), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


def _share_of_second() -> Shares:
    levels = np.arange(256) / _STEPS
    ramp = np.clip((levels - SAME) / (OTHER - SAME), 0, 1)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), np.float32)


_SHARES = _share_of_second()


class Blend:
    """Shows all parts of a second drawing in the first one; used by one thread.

    Its arrays are made once: fresh ones for every frame would cost as much as what is computed in them.
    """

    def __init__(self, weights: Weights) -> None:
        """Prepare for frames of one size; `weights`: how much of the second drawing is shown at each pixel."""
        shape = weights.most.shape
        across, down, width, height = cv2.boundingRect(((weights.most > 0) | (weights.least > 0)).view(np.uint8))
        # The mean of a pixel's surroundings takes in some pixels outside.
        self._box = box = np.s_[
            max(0, down - AROUND) : min(shape[0], down + height + AROUND),
            max(0, across - AROUND) : min(shape[1], across + width + AROUND),
        ]
        self._most, self._least = np.ascontiguousarray(weights.most[box]), np.ascontiguousarray(weights.least[box])
        self._mixed = np.empty((*shape, 3), np.uint8)
        size = self._most.shape
        self._difference, self._part = np.empty((*size, 3), np.uint8), np.empty((*size, 3), np.uint8)
        self._grey, self._around = np.empty(size, np.uint8), np.empty(size, np.uint8)
        self._share, self._rest = np.empty(size, np.float32), np.empty(size, np.float32)

    def mix(self, first: Frame, second: Frame) -> Frame:
        """Return the first drawing with the parts of the second, valid until the next call.

        `first` and `second`: the same frame of both drawings, BGR, shape (height, width, 3).
        """
        self._mixed[...] = first
        ours, other = first[self._box], second[self._box]
        cv2.absdiff(ours, other, dst=self._difference)
        cv2.cvtColor(self._difference, cv2.COLOR_BGR2GRAY, dst=self._grey)
        # The table treats all levels above 255 / _STEPS alike.
        cv2.convertScaleAbs(self._grey, dst=self._grey, alpha=_STEPS)
        cv2.blur(self._grey, (AROUND, AROUND), dst=self._around)
        cv2.LUT(self._around, _SHARES, dst=self._share)
        cv2.multiply(self._share, self._most, dst=self._share)
        cv2.max(self._share, self._least, dst=self._share)
        np.subtract(1, self._share, out=self._rest)
        self._mixed[self._box] = cv2.blendLinear(ours, other, self._rest, self._share, dst=self._part)
        return self._mixed


def box_of(parts: Sequence[Part], size: tuple[int, int], place: Affine, shown: tuple[int, int]) -> tuple[slice, slice]:
    """Return rows and columns of a shown picture outside of which no part changes anything.

    `size`: height and width of the files' frames. `place`: where their pixels lie in the picture. `shown`: its height
    and width.
    """
    corners = np.array([corner for part in parts for corner in part.outline]).reshape(-1, 2) * size[::-1]
    if not len(corners):
        return np.s_[0:1, 0:1]
    # Blended a little outside, and mixed with neighbours where the size changes.
    margin = OUTSIDE * size[1] + AROUND + 2 * max(1.0, size[1] / shown[1])
    low, high = (
        place[:, :2].diagonal() * corner + place[:, 2]
        for corner in (corners.min(axis=0) - margin, corners.max(axis=0) + margin)
    )
    left, top = np.clip(np.floor(low), 0, np.array(shown[::-1]) - 1).astype(int).tolist()
    right, bottom = np.clip(np.ceil(high) + 1, 1, shown[::-1]).astype(int).tolist()
    return np.s_[top:bottom, left:right]


class Composite:
    """Takes the exchanged parts from a second picture, and all else from a first; used by one thread.

    It takes as long whatever is exchanged. Its edge is hard: a mean of two encodings has less noise than either, which
    detectors notice.
    """

    def __init__(
        self,
        exchange: Exchange,
        taken: Sequence[str],
        span_s: tuple[float, float] | None,
        size: tuple[int, int],
        shown: tuple[Affine, tuple[int, int]] | None = None,
    ) -> None:
        """Prepare for pictures of one size.

        Parameters
        ----------
        taken
            Names of the parts from the second picture.
        span_s
            Begin and end of the time in which they are, seconds; None for the whole clip.
        size
            Height and width of the files' frames.
        shown
            Where their pixels lie in the pictures, and the pictures' height and width; None if they are such frames.
        """
        place, shape = shown or (np.eye(2, 3), size)
        self._taken, self._span_s = frozenset(taken), span_s
        self._none, self._chosen = np.zeros((*shape, 3), np.uint8), np.empty((*shape, 3), np.uint8)
        self._place = place @ np.diag((size[1], size[0], 1.0))
        self._moving: list[Part] = []
        if exchange.first is not None:
            # Those that are taken come last, so that no other one covers them.
            self._moving = sorted(
                (part for part in exchange.parts if part.outline), key=lambda part: part.name in taken
            )
        inside, border = exchange.nearest(taken, *size).view(np.uint8) * np.uint8(255), cv2.BORDER_REPLICATE
        warped = cv2.warpAffine(inside, place, shape[::-1], flags=cv2.INTER_NEAREST, borderMode=border)
        self._inside = np.asarray(warped, np.uint8)
        self._second = cv2.merge([self._inside] * 3)

    def mix(self, first: Frame, second: Frame, time_s: float) -> Frame:
        """Return parts of both pictures, valid until the next call.

        `first` and `second`: BGR or RGB, shape (height, width, 3). `time_s`: the moment that they show.
        """
        during = self._span_s is None or self._span_s[0] <= time_s < self._span_s[1]
        if self._moving:
            self._inside.fill(0)
            for part in self._moving:
                corners = part.corners_at(time_s) @ self._place[:, :2].T + self._place[:, 2]
                cv2.fillPoly(self._inside, [np.rint(corners).astype(np.int32)], 255 if part.name in self._taken else 0)
            cv2.merge([self._inside] * 3, dst=self._second)
        cv2.bitwise_xor(first, second, dst=self._chosen)
        cv2.bitwise_and(self._chosen, self._second if during else self._none, dst=self._chosen)
        cv2.bitwise_xor(first, self._chosen, dst=self._chosen)
        return self._chosen
