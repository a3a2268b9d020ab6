"""The picture of an explanation: the key frame with the measured places, and bars for the contributions."""

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from .evidence import face_regions
from .picture import PictureReading

WIDTH, HEIGHT = 355, 200
_RAISED, _LOWERED, _PLAIN = (64, 180, 110), (226, 106, 84), (250, 250, 250)
_BARS, _PANEL = 5, 122


def sketch(picture: PictureReading, contributions: Mapping[str, float]) -> NDArray[np.uint8]:
    """Return the picture, shape (200, 355, 3), RGB.

    Parameters
    ----------
    picture
        Measurements of the frames.
    contributions
        Contributions to the explained score, by cue.
    """
    frame = picture.key_frame
    image = np.asarray(cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.uint8)
    face_x = 0.0
    if picture.face is not None:
        scale = np.array((WIDTH / frame.shape[1], HEIGHT / frame.shape[0]) * 2)
        face_x = float(np.median(picture.face.x)) * WIDTH / frame.shape[1]
        for cue, boxes in face_regions(picture.face).items():
            if cue in ("smile", "gaze", "posture"):
                colour = _RAISED if contributions.get(cue, 0.0) >= 0 else _LOWERED
                for box in boxes:
                    x0, y0, x1, y1 = (round(float(v)) for v in np.array(box) * scale)
                    cv2.rectangle(image, (x0, y0), (x1, y1), colour, 1, cv2.LINE_AA)
    # The bars are on the side without the face.
    left = 4 if face_x > WIDTH / 2 else WIDTH - _PANEL - 4
    _draw_bars(image, contributions, left)
    return image


def _draw_bars(image: NDArray[np.uint8], contributions: Mapping[str, float], left: int) -> None:
    ranked = sorted(contributions, key=lambda cue: -abs(contributions[cue]))[:_BARS]
    top = HEIGHT - 18 * len(ranked) - 8
    panel = image[top : HEIGHT - 4, left : left + _PANEL]
    panel[:] = (0.35 * panel).astype(np.uint8)
    largest = max((abs(contributions[cue]) for cue in ranked), default=0.0) or 1.0
    zero = left + _PANEL - 28
    for row, cue in enumerate(ranked):
        y = top + 4 + 18 * row
        value = contributions[cue]
        cv2.putText(
            image, cue.replace("_", " "), (left + 4, y + 11), cv2.FONT_HERSHEY_SIMPLEX, 0.33, _PLAIN, 1, cv2.LINE_AA
        )
        end = zero + round(24 * value / largest)
        colour = _RAISED if value >= 0 else _LOWERED
        cv2.rectangle(image, (min(zero, end), y + 2), (max(zero, end), y + 12), colour, -1)
    cv2.line(image, (zero, top + 2), (zero, HEIGHT - 8), _PLAIN, 1)
