"""A station logo in the corner of the picture: animated, eye-catching, without meaning."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.drawing.canvas import from_hsv

_RADIUS = 17
_MIDDLE = (40, 36)
"""Distance of its middle from the corner, pixels."""
_ARMS = 3


class Logo:
    """A disc with turning arms."""

    def __init__(self, boldness: float, *, left: bool, random: np.random.Generator) -> None:
        self.boldness, self.left = boldness, left
        self.disc, self.arm = (from_hsv(float(hue), 0.55, 0.7) for hue in random.uniform(40, 150, 2))
        self.turns_per_s = float(random.uniform(0.3, 0.6))

    def draw(self, frame: NDArray[np.uint8], time_s: float) -> None:
        """Draw the logo onto a frame in place; a bolder logo is more opaque."""
        if self.boldness <= 0:
            return
        x = _MIDDLE[0] if self.left else frame.shape[1] - _MIDDLE[0]
        reach = _RADIUS + 3
        part = frame[_MIDDLE[1] - reach : _MIDDLE[1] + reach, x - reach : x + reach]
        drawn = part.copy()
        cv2.circle(drawn, (reach, reach), _RADIUS, self.disc, -1, cv2.LINE_AA)
        for arm in range(_ARMS):
            angle = 2 * math.pi * (self.turns_per_s * time_s + arm / _ARMS)
            tip = (round(reach + 13 * math.cos(angle)), round(reach + 13 * math.sin(angle)))
            cv2.line(drawn, (reach, reach), tip, (235, 238, 238), 5, cv2.LINE_AA)
        cv2.circle(drawn, (reach, reach), 5, self.arm, -1, cv2.LINE_AA)
        part[:] = cv2.addWeighted(drawn, self.boldness, part, 1 - self.boldness, 0)
