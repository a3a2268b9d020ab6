"""Cue edits of clips without rendered copies: other draws of brightness, size and loudness.

Every call on such a clip shows a draw of all three around the clip's own values. An edit of a cue is another draw,
around the value of another clip. So an edit leaves no trace that a plain call lacks, and over the draws its cue says
nothing about the clip.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ingest.media.alteration import Levels
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, UnreadableClip

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.media.alteration import ClipSource

COPY, DRAW = "copy", "draw"
"""Operators of cue edits: a rendered copy, and another draw."""
POWERS = np.geomspace(1 / 3, 3, 65)
"""Powers to which the brightness of pixels may be raised, before the draw."""
POWER_SPREAD = 0.2
"""Largest logarithm of the power that is drawn."""
ZOOMS = (1.05, 1.2)
"""Smallest and largest enlargement that is drawn."""
LARGEST_ZOOM = 1.5
GAIN_SPREAD_DB = 2.0
"""Largest gain or loss that is drawn."""
DARKEST, BRIGHTEST = 0.02, 0.98
"""Means between which a picture can get another brightness, as shares of the full range."""
QUIETEST = 1e-3
"""Least level of a sound that can get another one, of a full scale of 1."""
_LEVELS = np.arange(256) / 255
_RATE = 8_000


@dataclass(frozen=True, eq=False)
class Traits:
    """What the draws of a clip start from."""

    means: np.ndarray[tuple[int], np.dtype[np.float64]]
    """Mean of its first frame with each of `POWERS`, as shares of the full range, descending; empty if unreadable."""
    rms: float = 0.0
    """Level of its sound, of a full scale of 1; 0 without sound."""
    peak: float = 0.0
    """Largest value of its sound; 0 without sound."""
    face: float = 0.0
    """Height of its face, as a share of the picture's; 0 if it is not known."""

    @property
    def mean(self) -> float:
        """Mean of its first frame, as a share of the full range; 0 if it cannot be read."""
        return float(self.means[len(POWERS) // 2]) if len(self.means) else 0.0


def traits_of(clip: ClipSource, face: float | None) -> Traits:
    """Measure a clip; `face`: height of its face, as a share of the picture's."""
    try:
        duration_s = clip.facts.duration_s
        with closing(FrameReader(clip.path, threads=1)) as reader:
            shares = np.bincount(reader.decode(0).ravel(), minlength=256)
    except UnreadableClip:
        return Traits(np.empty(0))
    means = _LEVELS[None] ** POWERS[:, None] @ (shares / shares.sum())
    sound = read_sound(clip.path, _RATE, duration_s)
    if sound is None:
        return Traits(means, face=face or 0.0)
    return Traits(means, float(np.sqrt(np.mean(sound**2))), float(np.abs(sound).max()), face or 0.0)


def _power(own: Traits, shown: Traits, random: np.random.Generator) -> float:
    centre = 0.0 if shown is own else float(np.interp(-shown.mean, -own.means, np.log(POWERS)))
    return float(np.exp(centre + random.uniform(-POWER_SPREAD, POWER_SPREAD)))


def _zoom(own: Traits, shown: Traits, random: np.random.Generator) -> float:
    ratio = 1.0 if shown is own else shown.face / own.face
    return float(np.clip(random.uniform(*ZOOMS) * ratio, ZOOMS[0], LARGEST_ZOOM))


def _gain(own: Traits, shown: Traits, random: np.random.Generator) -> float:
    ratio = 1.0 if shown is own else shown.rms / own.rms
    # Nothing is clipped: flat peaks would reveal a gain.
    return float(min(ratio * 10 ** (random.uniform(-GAIN_SPREAD_DB, GAIN_SPREAD_DB) / 20), 1 / max(own.peak, 1e-3)))


def plain_levels(own: Traits, random: np.random.Generator) -> Levels:
    """Return the draw that all calls on a clip share, but its edits."""
    return Levels(**{edit.field: edit.draw(own, own, random) for edit in EDITS.values()})


class Edit(NamedTuple):
    """How one cue of a clip without rendered copies is edited."""

    field: str
    """The field of `Levels` that is drawn."""
    known: Callable[[Traits], bool]
    """Whether a clip has the trait: an edit takes two that have."""
    draw: Callable[[Traits, Traits, np.random.Generator], float]
    """Returns a value from the clip's traits and those of the clip whose value it is shown with."""


EDITS = {
    "lighting": Edit("power", lambda traits: DARKEST < traits.mean < BRIGHTEST, _power),
    "framing": Edit("zoom", lambda traits: traits.face > 0, _zoom),
    "voice": Edit("gain", lambda traits: traits.rms > QUIETEST, _gain),
}
"""The cues that can be edited without rendered copies; words and motion cannot."""
