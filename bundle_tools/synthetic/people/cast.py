"""Look and voice of an invented person. All of it is random, and none of it is causal."""

from dataclasses import dataclass

import numpy as np

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
