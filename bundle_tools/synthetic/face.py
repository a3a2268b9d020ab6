"""Draw a head: the static parts (skin, hair, brows) once per clip, eyes and mouth in every frame."""

from dataclasses import replace

import numpy as np

from bundle_tools.synthetic.canvas import Canvas, Layer, Mask, Points, ellipse, mirror, smooth, tint
from bundle_tools.synthetic.person import Cast

HEAD_BOX = (-1.35, -1.6, 1.35, 1.5)
HAIR_BOX = (-1.75, -2.1, 1.75, 2.5)
MOUTH_BOX = (-0.84, 0.2, 0.84, 1.27)
"""Region that a smile changes, for any shift of the features."""
EYES_BOX = (-0.76, -0.42, 0.76, 0.05)
"""Region that a look changes."""
_EYE_X, _EYE_Y = 0.42, -0.10
_MOUTH_Y = 0.72
_TOOTH, _MOUTH, _SCLERA = (232, 240, 242), (48, 30, 62), (232, 236, 238)


def draw_back_hair(cast: Cast, scale: float, texture: np.random.Generator) -> Layer | None:
    """Return the hair that falls behind the shoulders, or None without any."""
    if cast.hair_style in ("short", "parted", "buzz"):
        return None
    canvas = Canvas(HAIR_BOX, scale, tint(cast.hair, 0.7))
    _paint_hair(canvas, cast, _back_hair(canvas, cast, texture), texture, 0.72)
    return canvas.layer()


def draw_head(cast: Cast, scale: float, texture: np.random.Generator, light: float) -> Layer:
    """Return the resting head without eyes and mouth.

    `scale`: pixels per unit of the canvas. `light`: side the light comes from, -1 left to 1 right.
    """
    canvas = Canvas(HEAD_BOX, scale, tint(cast.hair, 0.9))
    face = outline(cast)
    _paint_ears(canvas, cast)
    mask = canvas.shape(face)
    canvas.paint(mask, cast.skin)
    canvas.cover(mask)
    _model_skin(canvas, cast, mask, light)
    _paint_nose(canvas, light)
    _paint_brows(canvas, cast)
    _paint_hair(canvas, cast, _front_hair(canvas, cast, texture), texture, 1.0)
    return canvas.layer()


def outline(cast: Cast) -> Points:
    """Return the outline of the face."""
    angle = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    x, y = np.cos(angle), np.sin(angle)
    x = np.sign(x) * np.abs(x) ** 0.86 * cast.face_width
    x *= 1 - cast.jaw * np.clip(y, 0, 1) ** 1.6
    return np.stack((x, np.where(y > 0, 1.38, 1.25) * y), axis=1)


def draw_expression(
    head: Layer, cast: Cast, *, gaze: tuple[float, float], lids: float, smile: float, jaw: float, turn: float
) -> Layer:
    """Return a head with eyes and mouth.

    `gaze`: offset of the irises to the right and down, each -1 to 1.
    `lids`: 1 open, 0 closed, above 1 wide open.
    `smile`: -1 to 1; it moves only the mouth.
    `jaw`: 0 closed, 1 open.
    `turn`: sideways shift of the features, units.
    """
    face = replace(head, pixels=head.pixels.copy())
    for side in (-1.0, 1.0):
        x, y = side * _EYE_X * cast.face_width + turn, _EYE_Y
        eye = Canvas.over(head, (x - 0.32, y - 0.26, x + 0.32, y + 0.26))
        _draw_eye(eye, cast, x, y, gaze, lids)
        eye.put(face)
    mouth = Canvas.over(head, (turn - 0.8, 0.2, turn + 0.8, 1.25))
    _draw_mouth(mouth, cast, smile, jaw, turn)
    mouth.put(face)
    return face


def _draw_eye(canvas: Canvas, cast: Cast, x: float, y: float, gaze: tuple[float, float], lids: float) -> None:
    half, upper = 0.235 * cast.eye_size, 0.135 * cast.eye_size * (0.12 + 0.88 * lids)
    lower = 0.095 * cast.eye_size * (0.15 + 0.85 * lids)
    t = np.linspace(-1, 1, 17)
    top = np.stack((x + half * t, y - upper * (1 - t**2)), axis=1)
    bottom = np.stack((x + half * t, y + lower * (1 - t**2)), axis=1)
    opening = canvas.shape(np.concatenate((top, bottom[::-1])))
    ball = canvas.filled(_SCLERA)
    at_x, at_y = x + 0.155 * gaze[0], y - 0.012 + 0.06 * gaze[1]
    radius = 0.118 * cast.eye_size
    ball.paint(ball.shape(ellipse(at_x, at_y, radius, radius)), tint(cast.iris, 0.62))
    ball.paint(ball.shape(ellipse(at_x, at_y, radius * 0.82, radius * 0.82)), cast.iris)
    ball.paint(ball.shape(ellipse(at_x, at_y, radius * 0.5, radius * 0.5)), (16, 12, 12))
    ball.paint(ball.shape(ellipse(at_x - 0.035, at_y - 0.045, 0.028, 0.028)), (250, 250, 250))
    ball.shade(ball.stroke(top, 0.05, blur=0.03), -0.45)
    canvas.paint(opening, ball.image)
    canvas.paint(canvas.stroke(top, 0.035), tint(cast.hair, 0.45), 0.9)
    canvas.paint(canvas.stroke(_moved(top, 0, -0.07), 0.015, blur=0.012), tint(cast.skin, 0.55), 0.6 * min(lids, 1.0))
    canvas.paint(canvas.stroke(bottom, 0.012, blur=0.008), tint(cast.skin, 0.6), 0.6)


def _draw_mouth(part: Canvas, cast: Cast, smile: float, jaw: float, turn: float) -> None:
    y = _MOUTH_Y
    half = 0.37 + 0.13 * max(smile, 0) + 0.02 * min(smile, 0) - 0.04 * jaw
    corner = y - 0.15 * smile
    middle = y + 0.055 * smile
    gap_up, gap_down = 0.02 * jaw, 0.13 * jaw
    if smile > 0.15:
        gap_down += 0.13 * (smile - 0.15)
        gap_up += 0.03 * (smile - 0.15)
    t = np.linspace(-1, 1, 25)
    bow = (1 - t**2) ** 0.9
    base = corner + (middle - corner) * (1 - t**2)
    cupid = 0.075 * bow * (1 - 0.35 * np.exp(-((t / 0.16) ** 2)))
    lip = 1 - 0.35 * max(smile, 0)
    xs = turn + half * t
    upper_out = np.stack((xs, base - cupid * lip - gap_up * bow - 0.008), axis=1)
    upper_in = np.stack((xs, base - gap_up * bow), axis=1)
    lower_in = np.stack((xs, base + gap_down * bow), axis=1)
    lower_out = np.stack((xs, base + (gap_down + 0.115 * lip) * (1 - t**2) ** 0.7 + 0.008), axis=1)
    _paint_smile_lines(part, cast, smile, turn, half, corner)
    part.shade(part.stroke(_moved(lower_out[6:-6], 0, 0.06), 0.07, blur=0.04), -0.14)
    part.paint(part.shape(np.concatenate((upper_out, lower_out[::-1]))), cast.lips)
    part.paint(part.stroke(_moved(lower_out[8:-8], 0, -0.055), 0.03, blur=0.025), tint(cast.lips, 1.25), 0.55)
    if gap_up + gap_down > 0.012:
        inner = part.shape(np.concatenate((upper_in, lower_in[::-1])))
        part.paint(inner, _MOUTH)
        teeth = min(gap_up + gap_down * 0.75, 0.13) * (0.4 + 0.6 * max(smile, 0))
        edge = np.stack(
            (turn + half * 0.86 * t, np.interp(t * 0.86, t, base - gap_up * bow) + teeth * bow**0.5), axis=1
        )
        crown = part.shape(np.concatenate((upper_in[2:-2], edge[::-1])))
        part.paint(np.minimum(inner, crown), _TOOTH, 0.95)
    else:
        part.paint(part.stroke(upper_in, 0.022, blur=0.008), tint(cast.lips, 0.42), 0.85)
    for end in (0, -1):
        spot = ellipse(float(xs[end]), float(base[end]), 0.03, 0.03)
        part.shade(part.shape(spot, blur=0.02), -0.35)


def _paint_smile_lines(part: Canvas, cast: Cast, smile: float, turn: float, half: float, corner: float) -> None:
    strength = 0.14 + 0.5 * max(smile, 0)
    right = smooth([(0.25, 0.36), (half + 0.05, corner - 0.14), (half + 0.13, corner + 0.06)], closed=False)
    for line in (right, mirror(right)):
        part.paint(part.stroke(_moved(line, turn, 0), 0.028, blur=0.025), tint(cast.skin, 0.62), strength)
    if smile > 0:
        for side in (-1, 1):
            cheek = ellipse(turn + side * 0.56, 0.48, 0.17, 0.1)
            part.shade(part.shape(cheek, blur=0.05), 0.12 * smile)


def _moved(points: Points, x: float, y: float) -> Points:
    return np.asarray(points + np.array((x, y)))


def _paint_ears(canvas: Canvas, cast: Cast) -> None:
    for side in (-1, 1):
        ear = canvas.shape(ellipse(side * 0.99 * cast.face_width, 0.05, 0.16, 0.27))
        canvas.paint(ear, tint(cast.skin, 0.88))
        canvas.cover(ear)
        canvas.shade(canvas.shape(ellipse(side * 1.02 * cast.face_width, 0.05, 0.07, 0.15), blur=0.04), -0.25)


def _model_skin(canvas: Canvas, cast: Cast, mask: Mask, light: float) -> None:
    """Shade the face like an egg lit from above and one side; add blush and sockets."""
    x, y = canvas.grid()
    nx, ny = x / 1.08, (y - 0.05) / 1.5
    nz = np.sqrt(np.clip(1 - nx**2 - ny**2, 0.02, 1))
    lit = 0.45 * light * nx - 0.35 * ny + 0.82 * nz
    shading = np.clip(0.62 + 0.46 * lit, 0.55, 1.1).astype(np.float32)
    canvas.image *= (1 + mask * (shading - 1))[..., None]
    for side in (-1, 1):
        blush = canvas.shape(ellipse(side * 0.58, 0.36, 0.17, 0.13), blur=0.12)
        canvas.paint(blush, tint(cast.lips, 1.05), 0.22)
        canvas.shade(canvas.shape(ellipse(side * _EYE_X * cast.face_width, -0.16, 0.26, 0.16), blur=0.08), -0.13)
    canvas.shade(canvas.shape(ellipse(0, 1.18, 0.3, 0.1), blur=0.08), 0.06)


def _paint_nose(canvas: Canvas, light: float) -> None:
    away = -1 if light > 0 else 1
    bridge = smooth([(away * 0.07, -0.18), (away * 0.10, 0.15), (away * 0.19, 0.36)], closed=False)
    canvas.shade(canvas.stroke(bridge, 0.07, blur=0.045), -0.17)
    canvas.shade(canvas.shape(ellipse(0, 0.42, 0.19, 0.06), blur=0.035), -0.28)
    canvas.shade(canvas.shape(ellipse(-away * 0.02, 0.27, 0.07, 0.09), blur=0.05), 0.14)
    for side in (-1, 1):
        canvas.shade(canvas.shape(ellipse(side * 0.095, 0.405, 0.042, 0.024), blur=0.012), -0.5)
        wing = ellipse(side * 0.16, 0.35, 0.07, 0.085, start=-60 if side > 0 else 120, end=80 if side > 0 else 240)
        canvas.shade(canvas.stroke(wing, 0.02, blur=0.015), -0.2)


def _paint_brows(canvas: Canvas, cast: Cast) -> None:
    thick = 0.055 * cast.brow
    right = [(0.2, -0.36), (0.42, -0.45), (0.72, -0.36)]
    upper = smooth(right, closed=False)
    lower = smooth([(x, y + thick * (1.5 - 1.3 * i / 2)) for i, (x, y) in enumerate(right)], closed=False)
    brow = np.concatenate((upper, lower[::-1])) * (cast.face_width, 1)
    canvas.paint(canvas.shape(brow, mirror(brow), blur=0.012), tint(cast.hair, 0.7), 0.88)


def _back_hair(canvas: Canvas, cast: Cast, texture: np.random.Generator) -> Mask:
    width = 1.16 * cast.face_width
    if cast.hair_style == "long":
        right = [(0, -1.46), (0.75, -1.28), (width + 0.06, -0.5), (width + 0.14, 0.6), (width + 0.2, 1.6), (0.85, 2.35)]
    elif cast.hair_style == "bob":
        right = [
            (0, -1.45),
            (0.78, -1.25),
            (width + 0.08, -0.45),
            (width + 0.16, 0.5),
            (width + 0.02, 1.12),
            (0.6, 1.2),
        ]
    elif cast.hair_style == "curly":
        spots = [
            ellipse(1.2 * np.cos(a) * r, -0.3 + 1.25 * np.sin(a) * r, 0.3, 0.3)
            for a in np.linspace(np.pi * 0.9, np.pi * 2.1, 15)
            for r in texture.uniform(0.9, 1.04, 1)
        ]
        return canvas.shape(*spots, ellipse(0, -0.35, 1.2, 1.12, start=180, end=360))
    else:
        return canvas.shape(ellipse(0.1, -1.55, 0.42, 0.4), ellipse(0, -0.5, 1.08, 0.95))
    half = np.array(right)
    return canvas.shape(smooth(np.concatenate((half, mirror(half)[:0:-1]))))


def _front_hair(canvas: Canvas, cast: Cast, texture: np.random.Generator) -> Mask:
    w = cast.face_width
    side_end = {"short": -0.05, "parted": 0.0, "bob": 0.55, "long": 0.75, "bun": -0.1, "curly": -0.1, "buzz": -0.15}
    end = side_end[cast.hair_style]
    lift = 1.33 if cast.hair_style == "buzz" else 1.46
    outer = [(1.06 * w, end), (1.09 * w, -0.5), (0.82 * w, -1.12), (0.3, -lift)]
    if cast.hair_style in ("bob", "long"):
        outer[0] = (1.14 * w, end)
        inner_right = [(1.06 * w, end), (0.9 * w, 0.1), (0.8 * w, -0.42), (0.66 * w, -0.8)]
    else:
        inner_right = [(0.96 * w, end), (0.92 * w, -0.4), (0.74 * w, -0.78)]
    inner_left = [(-x, y) for x, y in inner_right[::-1]]
    if cast.hair_style in ("parted", "bob", "long"):
        fringe = [(0.42, -1.02), (0.05, -0.86), (-0.4, -0.7)]
    elif cast.hair_style == "short":
        fringe = [(0.4, -0.86), (0.0, -0.94), (-0.4, -0.84)]
    else:
        fringe = [(0.4, -0.96), (0.0, -1.0), (-0.4, -0.96)]
    edge = outer + [(-x, y) for x, y in outer[::-1]] + inner_left[::-1] + fringe[::-1] + inner_right[::-1]
    shapes = [smooth(edge)]
    if cast.hair_style == "curly":
        shapes += [
            ellipse(x, -0.98 - 0.28 * (1 - (x / 0.95) ** 2) + texture.uniform(-0.04, 0.04), 0.2, 0.19)
            for x in np.linspace(-0.9, 0.9, 11)
        ]
    return canvas.shape(*shapes, blur=0.03 if cast.hair_style == "buzz" else 0.0)


def _paint_hair(canvas: Canvas, cast: Cast, mask: Mask, texture: np.random.Generator, brightness: float) -> None:
    """Paint hair with strands that run away from the crown and a soft band of light."""
    x, y = canvas.grid()
    crown = (0.25, -1.5)
    angle = np.arctan2(y - crown[1] + 0.35, x - crown[0])
    distance = np.hypot(x - crown[0], y - crown[1])
    strands = texture.normal(0, 1, 256)
    index = ((angle + np.pi) / (2 * np.pi) * 255).astype(int)
    wave = np.convolve(strands, np.ones(3) / 3, mode="same")[index]
    band = np.exp(-(((distance - 0.55) / 0.28) ** 2))
    lit = brightness * (0.92 + 0.09 * wave + 0.28 * band * (1 + 0.4 * wave))
    colour = np.clip(np.array(cast.hair, np.float32) * lit[..., None], 0, 255).astype(np.float32)
    canvas.paint(mask, colour, 0.8 if cast.hair_style == "buzz" else 1.0)
    canvas.cover(mask)
