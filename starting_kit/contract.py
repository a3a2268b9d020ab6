"""Types of what a model receives and returns, for editors and type checkers only.

The platform has no module of this name, so import it only for type checking:

    from __future__ import annotations

    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from contract import Clip, Explanation

A copy of this file beside `model.py` works too.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, Required, TypedDict

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
"""Shape (height, width, 3), RGB, 0 to 255; read-only: `.copy()` before you draw on it."""
Sound = npt.NDArray[np.float32]
"""Shape (samples,), mono, in [-1, 1]."""
Weights = npt.NDArray[np.floating] | Sequence[float] | Sequence[Sequence[float]] | Sequence[Sequence[Sequence[float]]]
"""Finite numbers >= 0, not all equal."""


class Clip(Protocol):
    """One clip; nothing shows whether it is altered. Read it only inside the call that receives it, in its thread."""

    @property
    def duration_s(self) -> float:
        """Length in seconds, > 0."""

    @property
    def fps(self) -> float:
        """Mean frames per second."""

    @property
    def width(self) -> int:
        """Width of a frame in pixels."""

    @property
    def height(self) -> int:
        """Height of a frame in pixels."""

    @property
    def frame_count(self) -> int:
        """Number of frames, at least 1."""

    @property
    def transcript(self) -> str:
        """Words spoken in the clip; may be empty."""

    def frames(
        self,
        count: int | None = None,
        fps: float | None = None,
        start_s: float = 0.0,
        end_s: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Frame]:
        """Yield frames in order: all of them, or `count`, or `fps` per second. Fewer and smaller frames take less time.

        Parameters
        ----------
        count
            Number of frames, each from the middle of one of `count` equal parts of the interval.
        fps
            Frames per second, instead of `count`.
        start_s, end_s
            The interval in seconds; without `end_s` it lasts to the end of the clip.
        size
            (width, height) to scale to; the clip's own size by default.

        Raises
        ------
        ValueError
            For `count` together with `fps`, or invalid numbers.
        """

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> Frame:
        """Return the frame shown at `time_s` seconds; beyond the clip, its first or last frame."""

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound at `rate` samples per second, 4,000 to 48,000; None for a clip without sound.

        Raises
        ------
        ValueError
            For a rate outside these limits, or a fifth rate of the same clip.
        """


class Claim(TypedDict):
    """How much one cue moved one target."""

    cue: str
    """A cue of the vocabulary on the page *Data*."""
    target: str
    """One of the targets."""
    contribution: float
    """In [-1, 1]: how much lower the target would be without the cue."""


class Evidence(TypedDict, total=False):
    """Evidence that a program can test; each part may be missing or None."""

    space: Weights | None
    """Map over the whole picture: shape (rows, columns) or (times, rows, columns), of any size."""
    time: Weights | None
    """Temporal attribution: one weight per second, or rows of (start in seconds, end in seconds, weight)."""
    cues: Sequence[Claim] | None
    """Claims: which cue moved which target, each pair once. One invalid claim makes the whole list invalid."""


class Explanation(TypedDict, total=False):
    """Why a prediction came out as it did."""

    text: Required[str]
    """Plain English; the page *Submission* gives the length limits."""
    image: Frame | None
    """RGB, uint8, in the size given on the page *Submission*; for readers, not scored."""
    evidence: Evidence | None
    """The same reasons in testable form."""


class Model(Protocol):
    """The class `Model` in `model.py`; it need not inherit from this one.

    Both calls must depend on the clip only: the same clip gets the same answer. An exception fails the clip.
    """

    def __init__(self, assets: Path) -> None:
        """Load files from `assets`, the submission's own folder, which is read-only."""

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return a finite number for every target, by name; a value outside the target's range is an error."""

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Explain `prediction`, which `predict` returned for this clip.

        `clip` is the same object, so what was read of it can be kept from one call to the other.
        """
