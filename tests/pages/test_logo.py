"""The committed logo is what its script draws."""

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def test_script_reproduces_the_logo(tmp_path: Path) -> None:
    drawn = tmp_path / "logo.png"
    subprocess.run([sys.executable, str(ROOT / "docs/branding/draw_logo.py"), "--out", str(drawn)], check=True)
    ours, committed = (cv2.imread(str(path), cv2.IMREAD_UNCHANGED) for path in (drawn, ROOT / "logo.png"))
    assert ours is not None
    assert committed is not None
    np.testing.assert_array_equal(ours, committed)
