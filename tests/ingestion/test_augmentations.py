"""The kit's page on training with hidden places: its snippet runs and does what it says."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import ROOT

PAGE = ROOT / "starting_kit" / "augmentations.md"


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.chdir(ROOT)
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(snippet, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    function: Callable[..., None] = names["hide"]
    return function


@pytest.mark.parametrize("seed", range(12))
def test_the_snippet_hides_cells_and_leaves_the_rest(seed: int, hide: Callable[..., None]) -> None:
    rng = np.random.default_rng(seed)
    frames = rng.integers(0, 256, (4, 90, 160, 3), np.uint8)
    before = frames.copy()
    hide(frames, rng)
    changed = (frames != before).any(axis=(0, 3)).reshape(9, 10, 16, 10).mean(axis=(1, 3))
    # Cells as wholes: nearly every pixel of a hidden one differs, none of any other.
    assert ((changed == 0) | (changed > 0.9)).all()
    assert 0.09 < (changed > 0).mean() < 0.51
