"""How a drawn person moves, and its body."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.canvas import Canvas, Layer, Points, ellipse, from_hsv, mirror, smooth, tint
from bundle_tools.synthetic.person import NEUTRAL, Cast, Colour, Cues, stream
from bundle_tools.synthetic.script import Script, envelope

Track = NDArray[np.float64]
"""One number per frame, shape (frames,)."""

EVENTS = ("smile", "gaze", "motion")
"""Cues with an event, each in its own second: a smile or a sad mouth, wide open eyes or a glance aside, a gesture."""
_SPELL_S = 1.6
"""Duration of each event, most of which lies in its second."""
_OFF_S = 0.1
"""Largest distance of its middle from the middle of its second."""
_RAMP_S = 0.3
_GLANCE_RAMP_S = 0.12
_LEAST_RAISED = 0.4
"""The lowest gesture. It can always be seen: what cannot has neither place nor time."""
_WIDE = 0.45
"""How far wide open eyes exceed open ones."""


@dataclass(frozen=True)
class Performance:
    """Pose of every frame; lengths in units of half the face's width."""

    times: Track
    """Time of each frame, seconds."""
    head_x: Track
    """Sideways offset of the head."""
    head_y: Track
    """Downward offset of the head."""
    roll: Track
    """Tilt of the head, degrees."""
    turn: Track
    """How far the features shift over the face, -0.1 to 0.1."""
    smile: Track
    """-1 corners down, 1 broad smile."""
    gaze_x: Track
    """Sideways offset of the iris, -1 to 1."""
    gaze_y: Track
    """Downward offset of the iris, -1 to 1."""
    eyelids: Track
    """1 open, 0 closed, above 1 wide open."""
    jaw: Track
    """0 closed, 1 wide open: follows the voice."""
    breath: Track
    """Downward offset of the shoulders."""
    shoulders: float
    """Tilt of the shoulders, degrees."""
    slump: float
    """How far the head sinks between the shoulders, 0-0.35."""
    hand: Track
    """0 below the picture, 1 raised."""
    wave: Track
    """Swing of the raised hand, -1 to 1."""


def perform(seed: int, cues: Cues, script: Script, *, frames: int, fps: float) -> Performance:
    """Return the tracks of a clip; each part has its own random stream."""
    times: Track = (np.arange(frames, dtype=np.float64) + 0.5) / fps
    duration = frames / fps
    sway = stream(seed, "sway")
    slouch = 1 - cues.posture
    side = float(stream(seed, "side").choice((-1.0, 1.0)))
    idle_x, idle_y, idle_roll, idle_turn = (
        a * np.sin(2 * np.pi * (times / p + o)) for a, p, o in zip(
            (0.05, 0.02, 0.8, 0.03), sway.uniform(2.5, 5, 4), sway.uniform(0, 1, 4), strict=True
        )
    )  # fmt: skip
    when = spells(seed, duration)
    gestures = stream(seed, "gestures")
    look = 2 * (cues.gaze - NEUTRAL)
    glances = stream(seed, "glances")  # aside, once; how far is the cue
    away = max(0.0, -look) * _during(times, when["gaze"], _GLANCE_RAMP_S)
    gaze_x = away * glances.choice((-1.0, 1.0)) * glances.uniform(0.85, 1.0)
    gaze_y = away * glances.uniform(-0.1, 0.45)
    return Performance(
        times=times,
        head_x=idle_x + 0.06 * side * slouch,
        head_y=idle_y,
        roll=idle_roll + 9.0 * side * slouch,
        turn=idle_turn,
        smile=2 * (cues.smile - NEUTRAL) * _during(times, when["smile"], _RAMP_S),
        gaze_x=gaze_x,
        gaze_y=gaze_y,
        eyelids=_blinks(seed, times, duration) * (1 + _WIDE * max(0.0, look) * _during(times, when["gaze"], _RAMP_S)),
        jaw=envelope(script, times),
        breath=0.02 * np.sin(2 * np.pi * (times / 3.4 + sway.uniform())),
        shoulders=-8.0 * side * slouch,
        slump=0.35 * slouch,
        hand=_during(times, when["motion"], _RAMP_S) * (_LEAST_RAISED + (1 - _LEAST_RAISED) * cues.motion),
        wave=cues.motion * np.sin(2 * np.pi * gestures.uniform(1.3, 1.8) * times + gestures.uniform(0, 6)),
    )


def spells(seed: int, duration_s: float) -> dict[str, tuple[float, float]]:
    """Return begin and end of the event of each cue, seconds; it may begin before the clip or end after it."""
    random = stream(seed, "spells")
    seconds = random.permutation(int(duration_s))[: len(EVENTS)]
    middles = seconds + 0.5 + random.uniform(-_OFF_S, _OFF_S, len(EVENTS))
    return {cue: (float(at) - _SPELL_S / 2, float(at) + _SPELL_S / 2) for cue, at in zip(EVENTS, middles, strict=True)}


def _during(times: Track, when: tuple[float, float], ramp: float) -> Track:
    """Return a track of 0 and 1 with soft edges of `ramp` seconds."""
    start, end = when
    rise = np.clip((times - start) / ramp, 0, 1) * np.clip((end - times) / ramp, 0, 1)
    track: Track = rise * rise * (3 - 2 * rise)
    return track


def _blinks(seed: int, times: Track, duration: float) -> Track:
    random = stream(seed, "blinks")
    lids = np.ones_like(times)
    for start in np.arange(random.uniform(0.3, 1.5), duration, 2.1):
        lids = np.minimum(lids, np.clip(np.abs(times - start - random.uniform(0, 0.5)) / 0.09, 0, 1))
    return lids


BODY_BOX = (-3.0, 0.6, 3.0, 9.4)
NECK_Y = 1.75
"""Height of the point around which shoulders tilt, units below the middle of the face."""
HAND_BOX = (-0.7, -0.95, 0.7, 4.0)
HAND_OUTLINE = np.array([(-0.62, -0.3), (-0.36, -0.88), (0.36, -0.88), (0.36, 0.3), (0.5, 4.0), (-0.5, 4.0)])
"""Corners around the right hand and forearm, units."""


def clothing_colour(cast: Cast, vividness: float) -> Colour:
    """Return the colour of the clothes: from muted to vivid."""
    return from_hsv(cast.clothing_hue, 0.10 + 0.54 * vividness, 0.40 + 0.28 * vividness)


def draw_body(cast: Cast, scale: float, vividness: float, light: float) -> Layer:
    """Return neck and shoulders in their clothes."""
    cloth = clothing_colour(cast, vividness)
    canvas = Canvas(BODY_BOX, scale, cloth)
    right = [(0.46, 0.7), (0.45, 1.3), (0.56, 1.62), (0.8, 1.85)]
    neck = canvas.shape(np.array([*right, (0, 2.3), *[(-x, y) for x, y in right[::-1]]]))
    canvas.paint(neck, tint(cast.skin, 0.88))
    canvas.cover(neck)
    torso = canvas.shape(_torso())
    canvas.paint(torso, cloth)
    canvas.cover(torso)
    _paint_collar(canvas, cast, cloth)
    canvas.shade(canvas.shape(ellipse(0, 1.12, 0.62, 0.42), blur=0.12), -0.38)
    x, y = canvas.grid()
    fall = np.clip(1.06 + 0.10 * light * x / 2 - 0.07 * (y - 1.5), 0.5, 1.15)
    rounding = 1 - 0.22 * np.clip((np.abs(x) - 1.4) / 1.0, 0, 1) ** 2
    canvas.image *= (fall * rounding).astype(np.float32)[..., None]
    for side in (-1, 1):
        fold = smooth([(side * 1.55, 2.5), (side * 1.35, 3.3), (side * 1.45, 4.6)], closed=False)
        canvas.shade(canvas.stroke(fold, 0.12, blur=0.1), -0.22)
    return canvas.layer()


def draw_hand(cast: Cast, scale: float, vividness: float) -> Layer:
    """Return a right forearm and an open hand, palm at the origin."""
    cloth = clothing_colour(cast, vividness)
    canvas = Canvas(HAND_BOX, scale, cast.skin)
    fingers = [
        np.array([(x, -0.15), (x * 1.35, tip)])
        for x, tip in ((-0.2, -0.58), (-0.07, -0.72), (0.07, -0.70), (0.2, -0.54))
    ]
    thumb = np.array([(-0.2, 0.15), (-0.44, -0.12)])
    palm = canvas.shape(smooth([(-0.27, -0.2), (0.27, -0.2), (0.25, 0.2), (0.16, 0.4), (-0.16, 0.4), (-0.27, 0.15)]))
    for finger in [*fingers, thumb]:
        mask = canvas.stroke(finger, 0.145)
        canvas.paint(canvas.stroke(finger, 0.175), tint(cast.skin, 0.66))
        canvas.paint(mask, tint(cast.skin, 0.98))
        canvas.cover(mask)
    canvas.paint(palm, cast.skin)
    canvas.cover(palm)
    canvas.shade(canvas.stroke(np.array([(-0.2, 0.0), (0.05, 0.1), (0.1, 0.3)]), 0.03, blur=0.03), -0.25)
    wrist = canvas.shape(np.array([(-0.16, 0.3), (0.16, 0.3), (0.2, 0.75), (-0.2, 0.75)]))
    canvas.paint(wrist, tint(cast.skin, 0.92))
    canvas.cover(wrist)
    sleeve = canvas.shape(np.array([(-0.24, 0.62), (0.24, 0.62), (0.42, 4.0), (-0.42, 4.0)]))
    canvas.paint(sleeve, tint(cloth, 0.95))
    canvas.cover(sleeve)
    x, _ = canvas.grid()
    canvas.image *= (1 - 0.25 * np.clip(np.abs(x) / 0.5, 0, 1) ** 2).astype(np.float32)[..., None]
    return canvas.layer()


def _torso() -> Points:
    right = [
        (0.0, 1.92),
        (0.45, 1.66),
        (0.72, 1.68),
        (1.35, 1.88),
        (1.95, 2.22),
        (2.25, 2.9),
        (2.38, 4.2),
        (2.5, 7.2),
        (2.5, 9.4),
    ]
    half = smooth(right, closed=False)
    return np.concatenate((half, mirror(half)[::-1]))


def _paint_collar(canvas: Canvas, cast: Cast, cloth: Colour) -> None:
    skin, dark = tint(cast.skin, 0.88), tint(cloth, 0.62)
    light = from_hsv(cast.clothing_hue, 0.06, 0.93)
    if cast.collar == "crew":
        canvas.paint(canvas.shape(ellipse(0, 1.66, 0.56, 0.32)), skin)
        canvas.paint(canvas.stroke(ellipse(0, 1.66, 0.58, 0.34, start=0, end=180), 0.09), tint(cloth, 0.85))
    elif cast.collar == "vee":
        vee = np.array([(-0.58, 1.62), (0.58, 1.62), (0.0, 2.6)])
        canvas.paint(canvas.shape(vee), skin)
        canvas.paint(canvas.stroke(vee[[0, 2, 1]], 0.09), tint(cloth, 0.82))
    elif cast.collar == "turtleneck":
        tube = smooth([(-0.56, 1.22), (0, 1.34), (0.56, 1.22), (0.66, 1.8), (0, 2.0), (-0.66, 1.8)])
        mask = canvas.shape(tube)
        canvas.paint(mask, tint(cloth, 1.08))
        canvas.cover(mask)
        canvas.shade(canvas.stroke(smooth([(-0.6, 1.55), (0, 1.7), (0.6, 1.55)], closed=False), 0.05, blur=0.03), -0.2)
    else:
        inner = cloth if cast.collar == "shirt" else light
        vee = np.array([(-0.62, 1.6), (0.62, 1.6), (0.42, 3.0), (0.0, 4.6), (-0.42, 3.0)])
        if cast.collar == "blazer":
            canvas.paint(canvas.shape(vee), inner)
        canvas.paint(canvas.shape(np.array([(-0.45, 1.6), (0.45, 1.6), (0.0, 2.2)])), skin)
        flap = np.array([(0.1, 2.2), (0.02, 2.14), (0.5, 1.45), (0.66, 1.62), (0.42, 2.4)])
        for part in (flap, mirror(flap)):
            canvas.paint(canvas.shape(part), tint(inner, 1.15))
            canvas.paint(canvas.stroke(part, 0.02, closed=True), tint(inner, 0.75))
        canvas.paint(canvas.stroke(np.array([(0, 2.25), (0, 9.2)]), 0.025), tint(inner, 0.72))
        if cast.collar == "blazer":
            lapel = np.array([(0.64, 1.62), (0.86, 1.9), (1.02, 2.6), (0.8, 2.7), (0.05, 4.6), (0.42, 2.9)])
            for part in (lapel, mirror(lapel)):
                canvas.paint(canvas.shape(part), tint(cloth, 0.86))
                canvas.paint(canvas.stroke(part, 0.025, closed=True), dark)
