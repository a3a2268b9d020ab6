"""What every frame of an altered call goes through, so that only its content distinguishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.blend import Blend, Composite, weights_of
from ingest.media.video import FrameReader, Reader, scale_to_rgb

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.media.alteration import Alteration, Jitter, Levels
    from ingest.media.blend import Affine
    from ingest.media.cache import Grain
    from ingest.media.exchange import Exchange
    from ingest.media.video import Frame


class FrameTransform:
    """Makes frames bright, large and noisy as an alteration says, moves them, and scales them; used by one thread."""

    def __init__(self, jitter: Jitter, levels: Levels | None, grain: Callable[[int, int], Grain]) -> None:
        """Prepare; `grain` returns the noise for frames of a height and width."""
        self._jitter, self._levels, self._grain = jitter, levels, grain
        self._curve: Frame | None = None
        if self._levels is not None:
            # A power changes the mean without clipping, unlike a factor.
            self._curve = np.rint(255 * (np.arange(256) / 255) ** self._levels.power).astype(np.uint8)
        self._canvas: tuple[Frame, Frame] | None = None

    def write(self, index: int, frame: Frame, out: Frame) -> None:
        """Write frame `index` of a file, BGR, into `out` as RGB, scaled to its size."""
        if self._canvas is None:
            self._canvas = np.empty_like(frame), np.empty_like(frame)
        canvas, moved = self._canvas
        # Before the grain, which is then the same in every call, however bright or enlarged its picture is.
        if self._curve is not None:
            frame = np.asarray(cv2.LUT(frame, self._curve), np.uint8)
        if self._levels is not None:
            height, width = frame.shape[:2]
            down, right = self._cut(height, width)
            middle = frame[down : height - down, right : width - right]
            frame = np.asarray(cv2.resize(middle, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
        if self._jitter.grain:
            frame = self._grain(*frame.shape[:2]).add(index, frame, canvas)
        scale_to_rgb(self._jitter.move(frame, moved), out)
        cv2.convertScaleAbs(out, dst=out, alpha=self._jitter.brightness)

    def place(self, size: tuple[int, int], shown: tuple[int, int]) -> Affine:
        """Return where pixels of the file's frames lie in what is shown; both sizes are (height, width)."""
        down, right = self._cut(*size)
        rows = []
        for side, cut, moved, out in zip(
            size[::-1], (right, down), (self._jitter.right, self._jitter.down), shown[::-1], strict=True
        ):
            larger, scale = side / (side - 2 * cut), out / side
            # The middle of the first pixel is at 0.
            rows.append((larger * scale, ((0.5 - cut) * larger + moved) * scale - 0.5))
        return np.array([[rows[0][0], 0, rows[0][1]], [0, rows[1][0], rows[1][1]]])

    def _cut(self, height: int, width: int) -> tuple[int, int]:
        zoom = 1.0 if self._levels is None else self._levels.zoom
        return round(height * (1 - 1 / zoom) / 2), round(width * (1 - 1 / zoom) / 2)


def exchanged_by(exchange: Exchange, height: int, width: int) -> Callable[[Frame, Frame], Frame]:
    """Return what makes a frame with all parts exchanged from the clip's own and that of its second version, BGR."""
    if exchange.first is not None:
        return lambda _, second: second
    return Blend(weights_of(exchange.parts, height, width)).mix


class AlteredReader(Reader):
    """Decodes and alters the frames of one call."""

    def __init__(self, alteration: Alteration, *, threads: int) -> None:
        self._alteration, self._transform = alteration, alteration.transform
        self._reader = FrameReader(alteration.files[0], threads=threads)
        exchange = alteration.exchange
        # Even if nothing is exchanged, so that timing reveals nothing.
        self._second = None if exchange is None else FrameReader(exchange.path, threads=1)
        self._parts: tuple[Callable[[Frame, Frame], Frame], Composite] | None = None

    def read_into(self, index: int, out: Frame) -> None:
        """See `Reader.read_into`."""
        frame, alteration = self._reader.decode(index), self._alteration
        if self._second is not None and alteration.exchange is not None:
            other = self._second.decode(index)
            if self._parts is None:
                size = frame.shape[:2]
                composite = Composite(alteration.exchange, alteration.exchanged, alteration.span_s, size)
                self._parts = exchanged_by(alteration.exchange, *size), composite
            exchanged, composite = self._parts
            frame = composite.mix(frame, exchanged(frame, other), float(alteration.facts.times[index]))
        self._transform.write(index, frame, out)

    def close(self) -> None:
        """See `Reader.close`."""
        self._reader.close()
        if self._second is not None:
            self._second.close()
