"""Alters the frames of one request while they are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.probes import operators
from ingest.probes.material import HEIGHT, WIDTH

if TYPE_CHECKING:
    from ingest.probes.alteration import Alteration
    from ingest.video import Frame


class Painter:
    """One request's alteration, prepared for one size of frames; used by one decoder."""

    def __init__(self, alteration: Alteration, shape: tuple[int, int, int]) -> None:
        self._alteration = alteration
        self._levels = _levels(alteration)
        self._mask = None if alteration.region is None else alteration.region.mask(*shape[:2])
        self._stretched: tuple[int, Frame] | None = None
        self._imputation: operators.Imputation | None = None
        self._noise: operators.Pixels | float = 0.0
        if alteration.region is None:
            return
        small = alteration.region.mask(HEIGHT, WIDTH)
        if small.all():
            self._mask = None  # nothing would be left to see
        elif alteration.operator == "imputation":
            self._imputation = operators.Imputation(small)
            noise = np.random.default_rng(alteration.seed).normal(0, 255 * operators.NOISE, (int(small.sum()), 3))
            self._noise = noise

    def place(self, frame: Frame) -> Frame:
        """Return a decoded frame, in whatever order its colours are, moved and zoomed as the alteration says."""
        frame = self._alteration.jitter.move(frame)
        if self._alteration.zoom > 1:
            height, width = frame.shape[:2]
            down, right = (round(side * (1 - 1 / self._alteration.zoom) / 2) for side in (height, width))
            frame = frame[down : height - down, right : width - right]
        return frame

    def finish(self, index: int, frame: Frame) -> None:
        """Alter frame `index`, already RGB and scaled, in place."""
        cv2.LUT(frame, self._levels, dst=frame)
        if self._mask is not None:
            operators.paste(frame, self._replacement(index, frame), self._mask)

    def _replacement(self, index: int, frame: Frame) -> Frame:
        match self._alteration.operator:
            case "imputation" if self._imputation is not None:
                small = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
                return operators.impute(np.asarray(small, np.uint8), self._imputation, self._noise)
            case "median":
                return self._stretch(0, self._alteration.material.median, frame)
            case "moment":
                material = self._alteration.material
                pictures = material.thumbnails
                number = operators.other_moment(index / len(material.facts.times), len(pictures))
                return self._stretch(number, pictures[number], frame)
            case _:
                return operators.blur(frame)

    def _stretch(self, key: int, small: Frame, like: Frame) -> Frame:
        """Return a small picture in the size of the frames; the last one is kept, for it serves many frames."""
        if self._stretched is None or self._stretched[0] != key:
            size = (like.shape[1], like.shape[0])
            large = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_LINEAR), np.uint8)
            self._stretched = (key, np.asarray(cv2.LUT(large, self._levels), np.uint8))
        return self._stretched[1]


def _levels(alteration: Alteration) -> Frame:
    """Return what becomes of each of the 256 levels: the jitter's gain, and for lighting a curve to another mean."""
    levels = np.arange(256) / 255
    if alteration.brightness is not None:
        mean = min(max(alteration.material.brightness, 0.01), 0.99)
        # The power that moves the mean there; unlike a factor it clips nothing.
        levels = levels ** (np.log(alteration.brightness) / np.log(mean))
    return np.clip(np.rint(255 * levels * alteration.jitter.brightness), 0, 255).astype(np.uint8)
