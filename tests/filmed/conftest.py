"""One drawn clip with both versions, made once."""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from bundle_tools.decoding import pictures
from bundle_tools.filmed import measure
from bundle_tools.filmed.footage import Footage, read_footage
from bundle_tools.filmed.versions import OTHER, SHAM, Versions
from tests.filmed.drawn import Drawn, Known, draw


@dataclass(frozen=True)
class Made:
    """A clip and what is made of it."""

    drawn: Drawn
    footage: Footage
    versions: Versions
    sham: bytes
    other: bytes

    def frames(self, content: bytes) -> list["np.ndarray[tuple[int, ...], np.dtype[np.int16]]"]:
        """Return all frames of a version, BGR."""
        return [picture.astype(np.int16) for picture in pictures(content, range(len(self.footage.times)), "bgr24")]


def read(drawn: Drawn) -> Footage:
    """Follow the face of a drawn clip."""
    tracker = Known(drawn.points)
    return read_footage(drawn.content, lambda: tracker)  # type: ignore[arg-type,return-value]


def make(drawn: Drawn) -> Made:
    """Make both versions of a drawn clip."""
    footage = read(drawn)
    versions = Versions(footage, 1)
    return Made(drawn, footage, versions, *(versions.write(drawn.content, kind, {}) for kind in (SHAM, OTHER)))


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute as jobs do."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    yield
    cv2.setNumThreads(threads)


@pytest.fixture(scope="package", autouse=True)
def few_trees() -> Iterator[None]:
    """Let detectors find with fewer trees what tests show them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(measure, "TREES", 20)
        yield


@pytest.fixture(scope="package")
def made() -> Made:
    """Both versions of one clip."""
    return make(draw(1))
