"""Alters the frames of one request while they are decoded.

If a clip has a second drawing, all its parts are mixed into the first, and the exchanged ones are taken from the
mixture. Otherwise one replacement for the hidden parts is made from each thumbnail, and every frame gets that of the
nearest moment. So their cost does not grow with the number of frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media import operators
from ingest.media.cache import HEIGHT, MOMENTS, WIDTH
from ingest.media.exchange import Blend, Composite, MovingComposite
from ingest.media.video import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ingest.media.alteration import Alteration
    from ingest.media.exchange import Exchange
    from ingest.media.video import Frame, Reader


class Painter:
    """One request's alteration, prepared for one size of frames; used by one decoder."""

    def __init__(
        self,
        alteration: Alteration,
        shape: tuple[int, int, int],
        kept: Callable[[Path], Reader | None] | None = None,
    ) -> None:
        """Prepare for frames of this shape; `kept` opens the kept frames of a file, see `ClipCache.frames`."""
        self._alteration = alteration
        self._curve = _brightness_curve(alteration)
        self._size = (shape[1], shape[0])
        self._stretched: tuple[int, Frame] | None = None
        self._mix: Callable[[Frame, Frame, int], Frame] | None = None
        self._canvas: tuple[Frame, Frame] | None = None
        self._imputation: operators.Imputation | operators.HalvedImputation | None = None
        self._noise: operators.Pixels | float = 0.0
        self._mask = None
        exchange = alteration.exchange
        self._second: Reader | None = None
        self._mixed = False
        if exchange is not None:
            self._second = kept(exchange.path) if kept else None
            self._mixed = self._second is not None
            self._second = self._second or FrameReader(exchange.path, threads=1)
        if alteration.region is None:
            return
        small = alteration.region.mask(HEIGHT, WIDTH)
        if small.all():
            return  # nothing would be visible
        self._mask = alteration.region.mask(*shape[:2])
        if alteration.operator == "imputation":
            self._imputation = operators.imputation_of(small)
            deviation = 255 * operators.NOISE
            self._noise = np.random.default_rng(alteration.seed).normal(0, deviation, (int(small.sum()), 3))

    def close(self) -> None:
        """Release the second drawing."""
        if self._second is not None:
            self._second.close()

    def place(self, index: int, frame: Frame, asked: int) -> Frame:
        """Return a decoded frame, BGR, with its exchanged parts, lit, enlarged and moved as the alteration says."""
        if self._canvas is None:
            self._canvas = np.empty_like(frame), np.empty_like(frame)
        canvas, moved = self._canvas
        exchange = self._alteration.exchange
        if self._second is not None and exchange is not None:
            # Even if nothing is exchanged, so that timing reveals nothing.
            other = self._second.decode(index)
            if self._mix is None:
                self._mix = self._mixer(exchange, *frame.shape[:2])
            mixed, span = self._mix(frame, other, index), self._alteration.span_s
            # Mixed in any case, so that timing does not reveal the span.
            if span is None or span[0] <= self._alteration.facts.times[index] < span[1]:
                frame = mixed
        # Before the grain, which is then the same in every call, however bright or enlarged its picture is.
        if self._curve is not None:
            frame = np.asarray(cv2.LUT(frame, self._curve), np.uint8)
        if self._alteration.zoom > 1:
            frame = _enlarged(frame, self._alteration.zoom)
        jitter = self._alteration.jitter
        if jitter.grain:
            grain = self._alteration.cache.grain(jitter.grain, self._alteration.seed, *frame.shape[:2])
            # Otherwise a repeated frame would be identical to the last bit, which no camera produces.
            frame = grain.add(asked if self._alteration.repeats else index, frame, canvas)
        return jitter.move(frame, moved)

    def _mixer(self, exchange: Exchange, height: int, width: int) -> Callable[[Frame, Frame, int], Frame]:
        """Return what mixes frames of both files; it also gets the number of the frame."""
        taken, times = self._alteration.exchanged, self._alteration.facts.times
        if exchange.first is not None:
            moving = MovingComposite(exchange.parts, taken, height, width)
            return lambda first, second, index: moving.mix_at(first, second, float(times[index]))
        own = exchange.nearest(taken, height, width)
        blend = Composite(own) if self._mixed else Blend(exchange.weights(height, width).within(own))
        return lambda first, second, _: blend.mix(first, second)

    def finish(self, index: int, frame: Frame) -> None:
        """Alter frame `index` of the file, already RGB and scaled, in place."""
        if self._mask is not None:
            operators.paste(frame, self._replacement(index), self._mask)
        cv2.convertScaleAbs(frame, dst=frame, alpha=self._alteration.jitter.brightness)

    def _replacement(self, index: int) -> Frame:
        """Return the replacement for the hidden parts of frame `index`, in the size of the frames."""
        position = index / len(self._alteration.facts.times)
        number = int(position * MOMENTS)
        if self._stretched is None or self._stretched[0] != number:
            small = self._small_replacement(number)
            large = cv2.resize(small, self._size, interpolation=cv2.INTER_LINEAR)
            self._stretched = (number, np.asarray(large, np.uint8))
        return self._stretched[1]

    def _small_replacement(self, number: int) -> Frame:
        cache = self._alteration.cache
        match self._alteration.operator:
            case "median":
                return cache.median
            case "moment":
                return np.asarray(cache.thumbnails[operators.other_moment(number, MOMENTS)], np.uint8)
            case "imputation" if self._imputation is not None:
                return operators.impute(cache.thumbnails[number], self._imputation, self._noise)
            case _:
                return operators.blur(cache.thumbnails[number])


def _enlarged(frame: Frame, zoom: float) -> Frame:
    """Return the middle of a frame, enlarged to the size of the whole frame."""
    height, width = frame.shape[:2]
    down, right = (round(side * (1 - 1 / zoom) / 2) for side in (height, width))
    middle = frame[down : height - down, right : width - right]
    return np.asarray(cv2.resize(middle, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def _brightness_curve(alteration: Alteration) -> Frame | None:
    """Return the new value of each of the 256 levels when a clip gets another mean brightness."""
    if alteration.brightness is None:
        return None
    mean = min(max(alteration.cache.brightness, 0.01), 0.99)
    # A power moves the mean there without clipping, unlike a factor.
    power = np.log(alteration.brightness) / np.log(mean)
    curve: Frame = np.rint(255 * (np.arange(256) / 255) ** power).astype(np.uint8)
    return curve
