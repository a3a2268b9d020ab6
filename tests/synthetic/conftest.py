"""Clothes are cut once: most tests draw the same person again, with another cue."""

from collections.abc import Iterator
from functools import lru_cache

import pytest

from bundle_tools.synthetic import scene


@pytest.fixture(scope="session", autouse=True)
def clothes_cut_once() -> Iterator[None]:
    """Keep the parts of a picture that take longest to make, by all that they depend on."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("draw_body", "draw_hand"):
            patched.setattr(scene, name, lru_cache(16)(getattr(scene, name)))
        yield
