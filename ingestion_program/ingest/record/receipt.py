"""Check determinism: some clips are asked again, in a fresh process and in a different order.

Different predictions are reported, never penalised. They also reveal a model that keeps state between clips.
Explanations are only recorded here. Altered copies have their own check (`probes/plan.py`).
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.media.clip import ClipSource

SHARE = 0.05
FEWEST = 4
MOST = 20


@dataclass
class Determinism:
    """Result of asking clips, or altered copies, again."""

    clips: int = 0
    """Clips that were asked a second time."""
    identical: int = 0
    """Clips whose second answer was the same in every bit."""
    largest_difference: float | None = None
    """Largest difference in any target, over clips with two valid answers, >= 0; None without such a clip."""

    def add(self, first: dict[str, float], second: dict[str, float] | None) -> None:
        """Compare the two predictions of one clip; None means that the second call failed."""
        self.clips += 1
        if second is None:
            return
        self.identical += first == second
        difference = max(abs(first[name] - second[name]) for name in first)
        self.largest_difference = max(self.largest_difference or 0.0, difference)

    def problems(self) -> list[Problem]:
        """Return a warning where answers to clips differ."""
        fix = "fix seeds and the number of threads, and carry nothing over from one clip to the next"
        return self._problems("answers_differ", "clips", fix)

    def problems_of_copies(self) -> list[Problem]:
        """Return a warning where answers to altered copies differ."""
        fix = "carry nothing over from one call to the next, and fix seeds and the number of threads"
        return self._problems("answers_depend", "altered copies", fix)

    def _problems(self, code: str, asked: str, fix: str) -> list[Problem]:
        differ = self.clips - self.identical
        if not differ:
            return []
        largest = "" if self.largest_difference is None else f", by up to {self.largest_difference:.2g}"
        found = f"different answers to {differ} of {self.clips} {asked} asked twice{largest}"
        return [Problem(code, "run", "predict", found, "the same answer both times", fix, severity="warning")]


def choose(clips: Sequence[ClipSource], seed: int) -> list[ClipSource]:
    """Return the clips to ask again, in an order that does not depend on that of `clips`.

    These are 5 % of the clips, at least 4 and at most 20, drawn by a keyed hash, so that a model cannot know them.
    """
    count = min(len(clips), MOST, max(FEWEST, math.ceil(SHARE * len(clips))))
    chosen = sorted(clips, key=lambda clip: _rank(seed, clip.clip_id))[:count]
    positions = {clip.clip_id: position for position, clip in enumerate(clips)}
    order = [positions[clip.clip_id] for clip in chosen]
    return chosen[::-1] if order == sorted(order) else chosen


def _rank(seed: int, clip_id: str) -> bytes:
    return hmac.new(str(seed).encode(), clip_id.encode(), hashlib.sha256).digest()
