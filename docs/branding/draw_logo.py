"""Draw the logo: a person in a speech bubble on a strip of film, a magnifier over the smile that made the impression.

Run `python docs/branding/draw_logo.py` to write `logo.png`. The drawing is polygons alone, so the same versions of
OpenCV and NumPy give the same pixels on every machine; a font would not.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

SIZE = 512
SUPERSAMPLING = 8
"""Each pixel is the mean of 8 x 8 samples: smooth edges from shapes that are drawn without any smoothing."""

INK = (33, 37, 84)
FILM = (86, 96, 176)
PAPER = (252, 249, 242)
CORAL = (255, 122, 92)
SHADE = (226, 92, 70)
HAIR = (74, 52, 104)
SHIRT = (40, 167, 158)
AMBER = (255, 186, 56)

Colour = tuple[int, int, int]
Points = NDArray[np.float64]
Image = NDArray[np.uint8]


def ellipse(x: float, y: float, width: float, height: float, sector: tuple[float, float] = (0.0, 360.0)) -> Points:
    """Points of an ellipse (or of its sector between two angles in degrees, clockwise from the right)."""
    angles = np.radians(np.linspace(*sector, 361))
    return np.column_stack([x + width / 2 * np.cos(angles), y + height / 2 * np.sin(angles)])


def rounded_box(left: float, top: float, right: float, bottom: float, radius: float) -> Points:
    """Points of a box with round corners."""
    corners = [
        (right - radius, top + radius, -90.0),
        (right - radius, bottom - radius, 0.0),
        (left + radius, bottom - radius, 90.0),
        (left + radius, top + radius, 180.0),
    ]
    return np.concatenate([ellipse(x, y, 2 * radius, 2 * radius, (a, a + 90)) for x, y, a in corners])


def smile(x: float, y: float, width: float, height: float, thickness: float) -> Points:
    """Points of a stroke with round ends along the lower part of an ellipse."""
    start, end = 18.0, 162.0
    outer = ellipse(x, y, width + thickness, height + thickness, (start, end))
    inner = ellipse(x, y, width - thickness, height - thickness, (end, start))
    (first_x, first_y), (last_x, last_y) = (outer[0] + inner[-1]) / 2, (outer[-1] + inner[0]) / 2
    left_end = ellipse(last_x, last_y, thickness, thickness, (end, end + 180))
    right_end = ellipse(first_x, first_y, thickness, thickness, (start + 180, start + 360))
    return np.concatenate([outer, left_end, inner, right_end])


def paint(canvas: Image, points: Points, colour: Colour, within: Image | None = None) -> None:
    """Fill a polygon given in logo units, optionally only where `within` is set."""
    mask = shape(points)
    if within is not None:
        mask &= within
    canvas[mask > 0] = (*colour, 255)


def shape(points: Points) -> Image:
    """Mask of a polygon, 255 inside."""
    mask = np.zeros((SIZE * SUPERSAMPLING, SIZE * SUPERSAMPLING), np.uint8)
    cv2.fillPoly(mask, [np.rint(points * SUPERSAMPLING).astype(np.int32)], 255)
    return mask


def person(canvas: Image, within: Image, x: float, y: float, scale: float) -> None:
    """Paint the bust; (x, y) is the middle of the head, `scale` 1 makes the head 148 units wide."""

    def at(points: Points) -> Points:
        return points * scale + (x, y)

    paint(canvas, at(ellipse(0, 178, 262, 200)), SHIRT, within)
    paint(canvas, at(rounded_box(-27, 40, 27, 112, 26)), SHADE, within)
    paint(canvas, at(ellipse(0, -12, 176, 190)), HAIR, within)
    paint(canvas, at(ellipse(0, 8, 148, 172)), CORAL, within)
    paint(canvas, at(ellipse(-16, -66, 168, 84)), HAIR, within)
    for side in (-1, 1):
        paint(canvas, at(ellipse(side * 33, 2, 19, 25)), INK, within)
    paint(canvas, at(smile(0, 30, 70, 58, 11)), PAPER, within)


def draw() -> Image:
    """Draw the logo.

    Returns 512 x 512 x 4, RGBA; transparent outside the rounded square.
    """
    canvas = np.zeros((SIZE * SUPERSAMPLING, SIZE * SUPERSAMPLING, 4), np.uint8)
    paint(canvas, rounded_box(0, 0, SIZE, SIZE, 104), INK)
    for column in range(7):
        left = 82 + column * 52.0
        for top in (27.0, 457.0):
            paint(canvas, rounded_box(left, top, left + 34, top + 28, 8), FILM)

    bubble = rounded_box(62, 82, 450, 398, 70)
    tail = np.array([[106.0, 380.0], [92.0, 444.0], [200.0, 392.0]])
    paint(canvas, tail, PAPER)
    paint(canvas, bubble, PAPER)
    person(canvas, shape(bubble), 200, 222, 1.0)

    paint(canvas, np.array([[384.0, 356.0], [410.0, 332.0], [482.0, 408.0], [452.0, 436.0]]), INK)
    handle = np.array([[376.0, 342.0], [394.0, 324.0], [470.0, 402.0], [450.0, 424.0]])
    paint(canvas, handle, AMBER)
    paint(canvas, ellipse(460, 413, 30, 30), AMBER)
    paint(canvas, ellipse(328, 270, 216, 216), INK)
    paint(canvas, ellipse(328, 270, 200, 200), AMBER)
    person(canvas, shape(ellipse(328, 270, 164, 164)), 328, 246, 1.34)
    return reduce(canvas)


def reduce(canvas: Image) -> Image:
    """Average the samples of each pixel; colours weighted by opacity, so that edges do not darken."""
    blocks = canvas.reshape(SIZE, SUPERSAMPLING, SIZE, SUPERSAMPLING, 4)
    opaque = blocks[..., 3:] // 255
    count = opaque.sum(axis=(1, 3), dtype=np.int32)
    colour = (blocks[..., :3] * opaque).sum(axis=(1, 3), dtype=np.int32)
    samples = SUPERSAMPLING * SUPERSAMPLING
    mean = np.where(count > 0, (colour + count // 2) // np.maximum(count, 1), 0)
    return np.concatenate([mean, (count * 255 + samples // 2) // samples], axis=2).astype(np.uint8)


def main() -> None:
    """Write the logo as a PNG file."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description="Draw the logo of the competition.")
    parser.add_argument("--out", type=Path, default=root / "logo.png", help="where to write it (default: %(default)s)")
    out: Path = parser.parse_args().out
    _, png = cv2.imencode(".png", cv2.cvtColor(draw(), cv2.COLOR_RGBA2BGRA), [cv2.IMWRITE_PNG_COMPRESSION, 9])
    out.write_bytes(png.tobytes())


if __name__ == "__main__":
    main()
