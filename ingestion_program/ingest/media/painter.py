"""Alters the frames of one request while they are decoded.

If a clip has a second drawing, all its parts are mixed into the first, and the exchanged ones are taken from the
mixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.exchange import Blend, Composite, MovingComposite
from ingest.media.video import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ingest.media.alteration import Alteration
    from ingest.media.exchange import Exchange
    from ingest.media.video import Frame, Reader


class Painter:
    """One request's alteration; used by one decoder."""

    def __init__(self, alteration: Alteration, kept: Callable[[Path], Reader | None] | None = None) -> None:
        """Prepare; `kept` opens the kept frames of a file, see `ClipCache.frames`."""
        self._alteration = alteration
        self._curve: Frame | None = None
        if alteration.levels is not None:
            # A power changes the mean without clipping, unlike a factor.
            self._curve = np.rint(255 * (np.arange(256) / 255) ** alteration.levels.power).astype(np.uint8)
        self._mix: Callable[[Frame, Frame, int], Frame] | None = None
        self._canvas: tuple[Frame, Frame] | None = None
        exchange = alteration.exchange
        self._second: Reader | None = None
        self._mixed = False
        if exchange is not None:
            self._second = kept(exchange.path) if kept else None
            self._mixed = self._second is not None
            self._second = self._second or FrameReader(exchange.path, threads=1)

    def close(self) -> None:
        """Release the second drawing."""
        if self._second is not None:
            self._second.close()

    def place(self, index: int, frame: Frame) -> Frame:
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
        if self._alteration.levels is not None:
            frame = _enlarged(frame, self._alteration.levels.zoom)
        jitter = self._alteration.jitter
        if jitter.grain:
            grain = self._alteration.cache.grain(jitter.grain, self._alteration.seed, *frame.shape[:2])
            frame = grain.add(index, frame, canvas)
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

    def finish(self, frame: Frame) -> None:
        """Alter a frame that is already RGB and scaled, in place."""
        cv2.convertScaleAbs(frame, dst=frame, alpha=self._alteration.jitter.brightness)


def _enlarged(frame: Frame, zoom: float) -> Frame:
    """Return the middle of a frame, enlarged to the size of the whole frame."""
    height, width = frame.shape[:2]
    down, right = (round(side * (1 - 1 / zoom) / 2) for side in (height, width))
    middle = frame[down : height - down, right : width - right]
    return np.asarray(cv2.resize(middle, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
