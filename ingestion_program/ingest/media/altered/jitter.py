"""Changes too small to see, the same in every call on a clip.

They keep a model from recognising a clip by its bytes, and show how much its answers vary anyway.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from ingest.media.altered.draws import Draws
from ingest.media.video import Frame
from ingest.settings import JitterRange

GRAIN = 1.3
"""As much grain as the drawn clips have before compression; too little to see."""
_ROOM = 64


@dataclass(frozen=True)
class Jitter:
    """The small changes of one clip."""

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


class Grain:
    """Noise like a camera's, different on each frame.

    Compression leaves still areas exactly unchanged from frame to frame. Without noise, these would reveal where two
    drawings were mixed.
    """

    def __init__(self, deviation: float, seed: int, height: int, width: int) -> None:
        self._seed, self._size = seed, (height, width)
        # One large sheet of noise, cut differently for each frame: fresh noise would take longer than decoding.
        random = np.random.default_rng(seed)
        sheet = random.standard_normal((height + _ROOM, width + _ROOM), np.float32) * np.float32(deviation)
        rounded = np.rint(sheet)
        self._lighter, self._darker = (
            cv2.merge([np.clip(one, 0, 255).astype(np.uint8)] * 3) for one in (rounded, -rounded)
        )

    def add(self, index: int, frame: Frame, out: Frame) -> Frame:
        """Write frame `index` with noise into `out`, and return it.

        The noise is the same at each request; otherwise a model could average it out.
        """
        height, width = self._size
        down, right = np.random.default_rng((self._seed, index)).integers(_ROOM, size=2)
        cut = np.s_[down : down + height, right : right + width]
        cv2.add(frame, self._lighter[cut], dst=out)
        cv2.subtract(out, self._darker[cut], dst=out)
        return out


def draw_jitter(limits: JitterRange, draws: Draws, clip_id: str) -> Jitter:
    """Return the jitter of a clip."""
    generator = draws.generator("jitter", clip_id)
    brightness, loudness = 1 + limits.gain * generator.uniform(-1, 1, 2)
    right, down = generator.integers(-limits.shift_px, limits.shift_px, 2, endpoint=True)
    later = generator.integers(-limits.frames, limits.frames, endpoint=True)
    return Jitter(float(brightness), float(loudness), int(right), int(down), int(later), GRAIN)
