"""A clip as it is served to a model, and how it differs from its file.

Every call of the second pass goes through here, including the unaltered original, so that only content distinguishes
copies: facts are always those of the original clip, and every frame takes the same path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ingest.media.sound import exchange, with_hiss
from ingest.media.video import read_facts

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.draws import KeyedRandom
    from ingest.media.cache import ClipCache, Indices
    from ingest.media.exchange import Exchange
    from ingest.media.sound import Sound
    from ingest.media.transform import FrameTransform
    from ingest.media.video import ClipFacts, Frame
    from ingest.settings import JitterRange


GRAIN = 1.3
"""As much grain as the drawn clips have before compression; too little to see."""


@dataclass(frozen=True)
class Jitter:
    """Changes of one clip too small to see, the same in every call on it.

    They keep a model from recognising a clip by its bytes, and show how much its answers vary anyway.
    """

    brightness: float
    """Factor of all pixels, near 1."""
    loudness: float
    """Factor of the sound, near 1."""
    right: int
    """Pixels of the clip's own frames by which the picture moves to the right."""
    down: int
    """Pixels by which it moves down."""
    later: int
    """Frames by which the picture is taken from later in the file."""
    grain: float = 0.0
    """Standard deviation of the noise of each frame, levels of 255."""

    def move(self, frame: Frame, out: Frame) -> Frame:
        """Return the moved picture, in `out` if it moves; border pixels are repeated to fill the gap."""
        if not self.right and not self.down:
            return frame
        height, width = frame.shape[:2]
        kept = frame[max(0, -self.down) : height - max(0, self.down), max(0, -self.right) : width - max(0, self.right)]
        top, bottom = max(0, self.down), max(0, -self.down)
        left, right = max(0, self.right), max(0, -self.right)
        return np.asarray(cv2.copyMakeBorder(kept, top, bottom, left, right, cv2.BORDER_REPLICATE, dst=out), np.uint8)


def draw_jitter(limits: JitterRange, draws: KeyedRandom, clip_id: str) -> Jitter:
    """Return the jitter of a clip."""
    generator = draws.generator("jitter", clip_id)
    brightness, loudness = 1 + limits.gain * generator.uniform(-1, 1, 2)
    right, down = generator.integers(-limits.shift_px, limits.shift_px, 2, endpoint=True)
    later = generator.integers(-limits.frames, limits.frames, endpoint=True)
    return Jitter(float(brightness), float(loudness), int(right), int(down), int(later), GRAIN)


@dataclass(frozen=True)
class ClipSource:
    """One clip on disk, or what a model is shown instead."""

    clip_id: str
    """Opaque id."""
    path: Path
    transcript: str
    """What is said; may be empty."""
    sha256: str = ""
    """Hash of the file when the run began."""
    alteration: Alteration | None = None
    """Changes made while it is served; None shows the file as it is."""

    @cached_property
    def facts(self) -> ClipFacts:
        """Facts of the file, or of the clip whose copy it is, read once; raises UnreadableClip."""
        return read_facts(self.path) if self.alteration is None else self.alteration.facts


@dataclass(frozen=True)
class Levels:
    """Brightness, size and loudness of a clip without rendered copies.

    Every call goes through the same curve, enlargement and gain, so that an edit of a cue leaves no trace of its own.
    """

    power: float = 1.0
    """Power to which the brightness of each pixel is raised, as a share of the full range; > 0."""
    zoom: float = 1.0
    """Factor by which the middle of the picture is enlarged, >= 1."""
    gain: float = 1.0
    """Factor of the sound, > 0."""


@dataclass(frozen=True, eq=False)
class Alteration:
    """How one call's clip differs from its file."""

    cache: ClipCache
    """Of the original clip."""
    jitter: Jitter
    """Small changes, the same in all calls on the clip."""
    seed: int
    """Seed of all noise in picture and sound."""
    copy: Path | None = None
    """A rendered copy that is shown instead of the clip's own file."""
    exchange: Exchange | None = None
    """The clip's second drawing. It is always decoded with the first, so that timing does not reveal what is shown."""
    exchanged: tuple[str, ...] = ()
    """Names of the parts that are taken from the second drawing."""
    span_s: tuple[float, float] | None = None
    """Begin and end of the time in which they are, seconds; None for the whole clip."""
    levels: Levels | None = None
    """How bright, large and loud it is; None for a clip with rendered copies."""

    @property
    def facts(self) -> ClipFacts:
        """Facts of the original clip; raises UnreadableClip."""
        return self.cache.facts

    @property
    def look(self) -> Levels | None:
        """Its levels without that of the sound: calls that differ by it alone show the same frames."""
        return None if self.levels is None else replace(self.levels, gain=1.0)

    @property
    def transform(self) -> FrameTransform:
        """What its frames go through, once more for each thread."""
        return self.cache.transform(self.levels, self.jitter, self.seed)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are decoded: what is shown, and the second drawing."""
        shown = self.copy or self.cache.path
        return (shown,) if self.exchange is None else (shown, self.exchange.path)

    @property
    def audible(self) -> tuple[Path, ...]:
        """Files whose sound is decoded: what is heard, then the second drawing if a part of it can be heard."""
        shown = self.copy or self.cache.path
        return (shown,) if self.exchange is None or not self.exchange.heard else (shown, self.exchange.path)

    def shown(self, wanted: Indices) -> Indices:
        """Return which frames of the file are shown instead of `wanted`; the order stays ascending."""
        return np.clip(wanted + self.jitter.later, 0, len(self.facts.times) - 1)

    def sound(self, rate: int) -> Sound | None:
        """Return the altered sound at `rate` samples a second, None where there is none; raises UnreadableClip."""
        heard, *second = (self.cache.sound(path, rate) for path in self.audible)
        if heard is None:
            return None
        for other in second:
            if other is not None and self.exchange is not None:
                # Even if nothing is exchanged, so that timing reveals nothing.
                heard = exchange(heard, other, rate, self.exchange.heard_s(self.exchanged))
        if self.levels is not None:
            # The noise comes last: the step between two values would reveal the gain.
            heard = with_hiss(heard * np.float32(self.levels.gain), self.seed)
        louder: Sound = np.clip(heard * np.float32(self.jitter.loudness), -1.0, 1.0)
        return louder
