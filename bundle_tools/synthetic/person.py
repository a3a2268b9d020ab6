"""Drawn people: seeds, cues, looks, and the labels that follow from them."""

import hashlib
import hmac
import zlib
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return the generator of one purpose.

    Every part of a clip has its own stream, so that a change of one part never shifts the draws of another. This makes
    a clip rendered without a cue equal to the original everywhere else.

    `seed`: any integer >= 0. For a set whose labels must stay secret take a large one, for instance
    ``secrets.randbits(128)``: who guesses the seed can regenerate the labels.
    """
    keys = [part if isinstance(part, int) else zlib.crc32(part.encode()) for part in purpose]
    return np.random.default_rng([seed, *keys])


def opaque_id(prefix: str, seed: int, *purpose: str | int) -> str:
    """Return ``prefix`` and nine hexadecimal digits that say nothing without the seed."""
    message = "/".join(str(part) for part in purpose).encode()
    return prefix + hmac.new(str(seed).encode(), message, hashlib.sha256).hexdigest()[:9]


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


Colour = tuple[float, float, float]
"""Blue, green, red, each 0-255: the order in which OpenCV draws."""

_SKINS_RGB = (
    (247, 214, 190), (240, 200, 172), (229, 184, 150), (216, 166, 130), (198, 146, 110),
    (176, 124, 90), (152, 102, 74), (126, 84, 60), (104, 68, 50), (84, 56, 42),
)  # fmt: skip
_HAIRS_RGB = (
    (28, 24, 24), (44, 34, 30), (66, 48, 40), (92, 66, 50), (126, 94, 68), (98, 58, 44),
    (176, 148, 104), (140, 138, 138),
)  # fmt: skip
_IRISES_RGB = ((70, 48, 34), (92, 64, 40), (78, 92, 62), (74, 104, 130), (96, 112, 122))
HAIR_STYLES = ("short", "parted", "bob", "long", "bun", "curly", "buzz")
COLLARS = ("crew", "vee", "shirt", "blazer", "turtleneck")


@dataclass(frozen=True)
class Cast:
    """One invented person and the room the person sits in."""

    skin: Colour
    """Skin colour in even light."""
    hair: Colour
    """Hair colour."""
    hair_style: str
    """One of ``HAIR_STYLES``."""
    iris: Colour
    """Iris colour."""
    lips: Colour
    """Lip colour, a redder skin."""
    face_width: float
    """Width of the face relative to the average, 0.93-1.07."""
    jaw: float
    """How much the face narrows towards the chin, 0.1-0.3."""
    brow: float
    """Thickness of the eyebrows relative to the average, 0.7-1.3."""
    eye_size: float
    """Size of the eyes relative to the average, 0.94-1.08."""
    collar: str
    """One of ``COLLARS``."""
    clothing_hue: float
    """Hue of the clothes, 0-180 as OpenCV counts; how vivid they are is a cue of the clip."""
    wall_hue: float
    """Hue of the wall, 0-180."""
    wall_light: float
    """Lightness of the wall, 0.45-0.85."""
    pitch_hz: float
    """Mean fundamental frequency of the voice, 95-230 Hz."""
    tract: float
    """Length of the vocal tract relative to the average: scales the formants, 0.9-1.15."""


def groups_of(cast: Cast) -> dict[str, str]:
    """Return a person's group for each attribute, which splits the drawn range in the middle.

    No label depends on them, so a gap between groups comes from the model or chance.
    """
    blue, green, red = cast.skin
    light = 0.114 * blue + 0.587 * green + 0.299 * red  # luma of ITU-R BT.601
    return {
        "skin": "light" if light >= 145 else "dark",
        "voice_pitch": "high" if cast.pitch_hz >= 160 else "low",
        "room": "bright" if cast.wall_light >= 0.65 else "dim",
    }


def draw_cast(random: np.random.Generator) -> Cast:
    """Draw a person; every property independently of the others."""
    shade = int(random.integers(len(_SKINS_RGB)))
    skin = _vary(_SKINS_RGB[shade], 0.012, random)
    # Light hair stands out badly on dark skin at this size.
    hairs = [hair for hair in _HAIRS_RGB if sum(hair) < sum(_SKINS_RGB[shade]) or max(hair) < 70]
    hair = _vary(hairs[random.integers(len(hairs))], 0.05, random)
    iris = _vary(_IRISES_RGB[random.integers(len(_IRISES_RGB))], 0.05, random)
    lips = (skin[0] * 0.62 + 22, skin[1] * 0.50 + 16, min(skin[2] * 0.80 + 34, 235.0))
    return Cast(
        skin=skin,
        hair=hair,
        hair_style=HAIR_STYLES[random.integers(len(HAIR_STYLES))],
        iris=iris,
        lips=lips,
        face_width=float(random.uniform(0.93, 1.07)),
        jaw=float(random.uniform(0.10, 0.30)),
        brow=float(random.uniform(0.7, 1.3)),
        eye_size=float(random.uniform(0.94, 1.08)),
        collar=COLLARS[random.integers(len(COLLARS))],
        clothing_hue=float(random.uniform(38, 150)),
        wall_hue=float(random.uniform(40, 140)),
        wall_light=float(random.uniform(0.45, 0.85)),
        pitch_hz=float(random.uniform(95, 230)),
        tract=float(random.uniform(0.9, 1.15)),
    )


def _vary(rgb: tuple[int, int, int], spread: float, random: np.random.Generator) -> Colour:
    red, green, blue = (float(np.clip(c * random.normal(1, spread), 12, 252)) for c in rgb)
    return (blue, green, red)


MAIN_TARGET = "interview"
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")

_INTERCEPTS = (-0.08, 0.18, 0.08, 0.05, 0.20, 0.02)

# Rows: targets. Columns: smile, gaze, motion, posture, lighting, framing, speech_rate, words.
_WEIGHTS = (
    (1.30, 0.30, 1.30, 0.10, 0.30, 0.50, 0.90, 0.20),
    (1.40, 0.50, -0.30, 0.00, 0.00, -0.50, -0.40, 1.20),
    (-0.20, 1.10, -0.70, 1.30, 0.50, 0.00, -0.50, 0.70),
    (0.50, 0.90, -1.10, 0.80, 0.30, 0.30, -0.80, 0.60),
    (0.50, 0.30, 0.80, -0.30, 0.90, -0.40, 0.60, 1.00),
    (0.90, 1.00, 0.40, 0.90, 0.60, 0.30, -0.30, 0.90),
)

# (target, one cue, other cue, weight). A smile in good light counts more. For agreeableness, light alone has no effect:
# it is a suppressor, which only changes how much the smile counts.
_PAIRS = (
    ("extraversion", "smile", "motion", 0.8),
    ("agreeableness", "smile", "lighting", 1.2),
    ("conscientiousness", "gaze", "posture", 0.6),
    ("emotional_stability", "motion", "speech_rate", -0.8),
    ("openness", "lighting", "words", 0.6),
    ("interview", "smile", "lighting", 0.8),
    ("interview", "gaze", "words", 0.5),
)

_NOISE = 0.05
"""Standard deviation of the noise, on the logit scale: about 0.012 on the label's."""

_RULE_SPREAD = {"training": 0.0, "practice": 0.0, "final": 0.08}
"""Relative standard deviation of a phase's weights around the tables above: the final rule is close, not equal."""


@dataclass(frozen=True)
class LabelRule:
    """The parameters of one phase's rule."""

    intercepts: tuple[float, ...]
    """b_j, one per target, on the logit scale."""
    weights: tuple[tuple[float, ...], ...]
    """w_jk, one row per target, one column per causal cue."""
    pairs: tuple[tuple[str, str, str, float], ...]
    """(target, cue, cue, v): the interactions."""

    def logits(self, causal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the noiseless logits, shape (..., 6), of intensities of the causal cues, shape (..., 8)."""
        centred = causal - NEUTRAL
        logits: NDArray[np.float64] = np.array(self.intercepts) + centred @ np.array(self.weights).T
        for target, cue, partner, weight in self.pairs:
            product = centred[..., CAUSAL.index(cue)] * centred[..., CAUSAL.index(partner)]
            logits[..., TARGETS.index(target)] += weight * product
        return logits

    def labels(self, cues: Cues, noise: np.random.Generator) -> dict[str, float]:
        """Return every target's label in (0, 1), rounded to six decimals."""
        noisy = self.logits(cues.causal()) + _NOISE * noise.standard_normal(len(TARGETS))
        return {name: round(float(1 / (1 + np.exp(-z))), 6) for name, z in zip(TARGETS, noisy, strict=True)}


def rule_of(phase: str, seed: int) -> LabelRule:
    """Return the rule of a phase: the training set and the practice phase share one, the final phase has its own."""
    if phase not in _RULE_SPREAD:
        raise ValueError(f"unknown phase {phase!r}: expected one of {', '.join(_RULE_SPREAD)}")
    random = stream(seed, "rule", phase)
    factors = 1 + _RULE_SPREAD[phase] * random.standard_normal((len(TARGETS), len(CAUSAL)))
    weights = np.array(_WEIGHTS) * factors
    return LabelRule(
        intercepts=_INTERCEPTS,
        weights=tuple(tuple(float(w) for w in row) for row in weights),
        pairs=_PAIRS,
    )
