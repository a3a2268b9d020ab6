"""Drawing neck, shoulders, clothes and hands."""

import numpy as np

from bundle_tools.synthetic.drawing.canvas import Canvas, Layer, Points, ellipse, from_hsv, mirror, smooth, tint
from bundle_tools.synthetic.people.cast import Cast, Colour

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
    neck = canvas.shape(_neck())
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


def _neck() -> Points:
    right = [(0.46, 0.7), (0.45, 1.3), (0.56, 1.62), (0.8, 1.85)]
    return np.array([*right, (0, 2.3), *[(-x, y) for x, y in right[::-1]]])


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
