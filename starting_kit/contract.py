"""What a model is given and what it returns, as types: for editors and type checkers, never needed at run time.

The platform has no module of this name. Import it where only type checkers look, and nothing is missing there:

    from __future__ import annotations

    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from contract import Clip, Explanation

A copy of this file beside `model.py` does no harm.
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
    """One clip, original or altered: nothing tells which. Read it inside the call that receives it, in its thread."""

    @property
    def duration_s(self) -> float:
        """Length in seconds, > 0."""

    @property
    def fps(self) -> float:
        """Frames a second, the mean over the clip."""

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
        """What is said; may be empty."""

    def frames(
        self,
        count: int | None = None,
        fps: float | None = None,
        start_s: float = 0.0,
        end_s: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Frame]:
        """Yield frames in order: all of them, or `count`, or `fps` a second. Fewer and smaller frames take less time.

        Parameters
        ----------
        count
            This many, each from the middle of one of as many equal parts of the interval.
        fps
            This many a second, instead of `count`.
        start_s, end_s
            The interval in seconds; the end of the clip without `end_s`.
        size
            (width, height) to scale to; the clip's own without it.

        Raises
        ------
        ValueError
            For `count` together with `fps`, or numbers that make no sense.
        """

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> Frame:
        """Return the frame that is shown at `time_s` seconds, the first or last one beyond the clip."""

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound at `rate` samples a second, 4,000 to 48,000; None for a clip without sound.

        Raises
        ------
        ValueError
            For another rate, or a fifth one of the same clip.
        """


class Claim(TypedDict):
    """How much one cue moved one target."""

    cue: str
    """A word of the vocabulary; the page *Data* lists them."""
    target: str
    """One of the targets."""
    contribution: float
    """In [-1, 1]: the target would be lower by this much without the cue."""


class Evidence(TypedDict, total=False):
    """What a machine can check; each part may be missing or None."""

    space: Weights | None
    """Where the model looked: shape (rows, columns) or (times, rows, columns), of any size, over the whole picture."""
    time: Weights | None
    """When: one weight a second, or rows of (start in seconds, end in seconds, weight)."""
    cues: Sequence[Claim] | None
    """Which cues moved which target; each pair once. One wrong claim makes the list invalid."""


class Explanation(TypedDict, total=False):
    """Why a prediction came out as it did."""

    text: Required[str]
    """Plain English; the page *Submission* says how long it may be."""
    image: Frame | None
    """RGB, uint8, of the size that the page *Submission* gives; for people, in no score."""
    evidence: Evidence | None
    """What the text says, in a form that can be tried out."""


class Model(Protocol):
    """What `model.py` defines under the name `Model`: an ordinary class, which need not inherit from this one.

    Both calls depend on the clip alone: the same clip, the same answer. An exception costs the clip.
    """

    def __init__(self, assets: Path) -> None:
        """Load what the model needs from `assets`, the submission's own folder, read-only."""

    def predict(self, clip: Clip) -> dict[str, float]:
        """Return a finite number inside its range for every target, by name; a value outside is an error."""

    def explain(self, clip: Clip, prediction: dict[str, float]) -> Explanation:
        """Say why `prediction`, which `predict` gave for this clip, came out as it did."""
