"""The cues of a clip and their intensities, from 0 to 1."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

NEUTRAL = 0.5
"""The intensity of a cue that neither raises nor lowers anything."""

CAUSAL = ("smile", "gaze", "motion", "posture", "lighting", "framing", "speech_rate", "words")
"""Cues that move the labels, in the order of the rows of every weight table."""

WORD_STEPS = 12
"""Steps from the gloomiest to the brightest words: the intensity of words is a multiple of their inverse."""


@dataclass(frozen=True)
class Cues:
    """Intensity of every cue, each in [0, 1]; 0.5 is neutral."""

    smile: float
    """0 mouth corners down, 0.5 straight, 1 a broad smile that shows teeth."""
    gaze: float
    """0 a glance aside, 0.5 nothing, 1 wide open eyes that look into the camera."""
    motion: float
    """0 a small gesture, 1 a large one."""
    posture: float
    """0 slouched and tilted, 1 upright and level."""
    lighting: float
    """0 dim, 1 bright."""
    framing: float
    """0 far from the camera, 1 close."""
    speech_rate: float
    """0 slow, 1 fast."""
    words: float
    """0 gloomy words, 1 bright words; a multiple of 1/12."""
    background: float
    """0 a bare wall, 1 a cluttered room with something moving. Never causal."""
    clothing: float
    """0 muted, 1 vivid colour. Never causal."""
    logo: float
    """0 no station logo in the corner, 1 a bold one that spins. Never causal, and no word of the vocabulary."""

    def without(self, cue: str) -> "Cues":
        """Return the same intensities with `cue` neutral."""
        if cue not in CUE_NAMES:
            raise ValueError(f"unknown cue {cue!r}: expected one of {', '.join(CUE_NAMES)}")
        return replace(self, **{cue: NEUTRAL})

    def causal(self) -> NDArray[np.float64]:
        """Return the intensities of the causal cues, shape (8,), in the order of ``CAUSAL``."""
        return np.array([getattr(self, name) for name in CAUSAL])


CUE_NAMES = tuple(field.name for field in fields(Cues))
