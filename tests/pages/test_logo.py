"""The committed logo is what its script draws."""

import runpy
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests import ROOT, there

SCRIPT = str(ROOT / "docs/branding/draw_logo.py")


def read(path: Path) -> NDArray[Any]:
    return there(cv2.imread(str(path), cv2.IMREAD_UNCHANGED))


def test_a_coarse_drawing_is_the_logo_but_for_its_edges() -> None:
    script = runpy.run_path(SCRIPT)
    script["draw"].__globals__["SUPERSAMPLING"] = 3
    coarse = cv2.cvtColor(script["draw"](), cv2.COLOR_RGBA2BGRA).astype(int)
    differs = np.abs(coarse - read(ROOT / "logo.png")).max(axis=-1)
    assert (differs > 64).mean() < 0.002


@pytest.mark.slow
def test_script_reproduces_the_logo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = tmp_path / "logo.png"
    monkeypatch.setattr(sys, "argv", [SCRIPT, "--out", str(drawn)])
    runpy.run_path(SCRIPT, run_name="__main__")
    np.testing.assert_array_equal(read(drawn), read(ROOT / "logo.png"))
