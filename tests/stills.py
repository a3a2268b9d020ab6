"""Synthetic clips that are made in a fraction of the time, for tests of everything but the drawing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bundle_tools.cli import data
from bundle_tools.synthetic.clip import FPS
from bundle_tools.synthetic.scene import Scene


def hold_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw one picture a second, and show it for that second; work is done in this process, where this holds."""
    draw = Scene.draw

    def held(self: Scene, index: int) -> NDArray[np.uint8]:
        drawn: dict[int, NDArray[np.uint8]] = self.__dict__.setdefault("drawn", {})
        second = index // FPS
        if second not in drawn:
            drawn[second] = draw(self, second * FPS + FPS // 2)
        return drawn[second].copy()

    monkeypatch.setattr(Scene, "draw", held)
    monkeypatch.setattr(data, "workers", lambda: 1)
