"""The honest model, explained by somebody who does not know how it works: textbook methods, applied to `predict`.

Claims and text are honest. The methods know the clip and the model's answers, and nothing about parts or exchanges.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from cuereader.evidence import EVENTS_AND_WORDS, happens, importance, spread
from cuereader.features import FEATURES, Reading, read_clip

from .honest import GRID, Account, Array, Model, Scores, seconds_of

Frame = np.ndarray[Any, np.dtype[np.uint8]]
_GREY = 127
_SEED = 7
_SAMPLES = 48
"""Copies that LIME asks about for a map."""
_SAMPLES_IN_TIME = 16
_SEGMENTS = (4, 6)
"""Rows and columns of what LIME hides."""
_RIDGE = 1.0
_WINDOW, _STEP = (3, 4), (2, 3)
"""Cells of the sliding window, and how far it slides."""
_BLOCKS = (4, 5)
"""Rows and columns of what is blurred."""


class Gradient(Model):
    """Gradient times the distance from the mean of every measurement, spread over the places that it was taken from."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Spread what belongs to each cue, over the whole picture or clip if it has no place or moment."""
        moved = importance(self.additive.targets) @ np.abs(
            self.additive.weights * self.additive.standardised(reading.values)
        )
        amounts = {cue: 0.0 for _, cue in FEATURES}
        for (_, cue), amount in zip(FEATURES, moved, strict=True):
            amounts[cue] += float(amount)
        space = spread(reading, amounts) + amounts["lighting"] + amounts["framing"]
        bins = seconds_of(reading.duration_s)
        time = np.zeros(bins)
        for cue, amount in amounts.items():
            time += amount * (happens(reading, cue, bins) if cue in EVENTS_AND_WORDS else np.full(bins, 1 / bins))
        return replace(super().account(reading, prediction), space=space, time=time)


class Kept:
    """A clip whose frames and sound are read once; some cells may be covered and some seconds frozen."""

    def __init__(self, clip: Any) -> None:  # noqa: ANN401 - the runner owns the type
        self.clip = clip
        self.duration_s, self.transcript = float(clip.duration_s), str(clip.transcript)
        self.seconds = seconds_of(self.duration_s)
        self._frames: dict[str, list[Frame]] = {}

    def frames(self, **request: Any) -> Iterator[Frame]:  # noqa: ANN401 - as the clip's
        """Yield frames."""
        key = repr(request)
        if key not in self._frames:
            self._frames[key] = list(self.clip.frames(**request))
        yield from self._frames[key]

    def audio(self, rate: int = 16_000) -> Any:  # noqa: ANN401 - as the clip's
        """Return the sound."""
        return self._sound if rate == 16_000 else self.clip.audio(rate)

    @cached_property
    def _sound(self) -> Any:  # noqa: ANN401 - as above
        return self.clip.audio(16_000)


@dataclass(frozen=True, eq=False)
class Altered:
    """A copy with covered cells, or with frozen, silent seconds."""

    kept: Kept
    cells: Array | None = None
    """Which cells are covered, not 0, any shape (rows, columns); None for frozen seconds."""
    seconds: Collection[int] | None = None
    """Where that is so; None for always."""
    blur: bool = False
    """Whether cells are blurred; otherwise they are grey."""

    @property
    def duration_s(self) -> float:
        """Length of the clip."""
        return self.kept.duration_s

    @property
    def transcript(self) -> str:
        """Return the words, without those of frozen seconds; they are taken to be spread evenly."""
        words = re.findall(r"\S+\s*", self.kept.transcript)
        gone = self.seconds or () if self.cells is None else ()
        seconds = ((np.arange(len(words)) + 0.5) * self.duration_s / max(len(words), 1)).astype(int)
        return "".join(word for word, second in zip(words, seconds, strict=True) if second not in gone)

    def audio(self, rate: int = 16_000) -> Any:  # noqa: ANN401 - as the clip's
        """Return the sound."""
        sound = self.kept.audio(rate)
        if sound is not None and self.cells is None:
            sound = sound.copy()
            for second in self.seconds or ():
                sound[second * rate : (second + 1) * rate] = 0
        return sound

    def frames(self, **request: Any) -> Iterator[Frame]:  # noqa: ANN401 - as the clip's
        """Yield changed frames; requests are taken to be for the whole clip."""
        frames = list(self.kept.frames(**request))
        shown = frames[0]
        for number, frame in enumerate(frames):
            here = self.seconds is None or int((number + 0.5) * self.duration_s / len(frames)) in self.seconds
            if not here:
                shown = frame
            elif self.cells is not None:
                shown = self._covered(frame)
            yield shown

    def _covered(self, frame: Frame) -> Frame:
        height, width = frame.shape[:2]
        mask = cv2.resize(np.asarray(self.cells, np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        if self.blur:
            small = cv2.resize(frame, GRID[::-1], interpolation=cv2.INTER_AREA)
            over = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
        else:
            over = np.full_like(frame, _GREY)
        return np.asarray(cv2.copyTo(over, mask, frame.copy()), np.uint8)


class Asking(Model):
    """Learns about places and moments from the answers to altered copies of the clip."""

    def explain(self, clip: Any, prediction: Scores) -> dict[str, Any]:  # noqa: ANN401 - the runner owns the type
        """Return the honest account with a map and a timeline that are measured."""
        kept = Kept(clip)
        account = self.account(read_clip(clip), prediction)
        return self.handed_in(replace(account, space=self.places(kept), time=self.moments(kept)))

    def places(self, kept: Kept) -> Array:
        """Return the map."""
        raise NotImplementedError

    def moments(self, kept: Kept) -> Array:
        """Return the timeline: how far the answer moves if a second stands still."""
        return self.effects(kept, [Altered(kept, seconds={second}) for second in range(kept.seconds)])

    def effects(self, kept: Kept, copies: list[Altered]) -> Array:
        """Return how far each copy moves the answers, over all targets."""
        before, *after = self.answers([kept, *copies])
        return np.asarray(np.abs(after - before) @ importance(self.additive.targets))

    def answers(self, clips: Sequence[Kept | Altered]) -> Array:
        """Return the answers to each clip for all targets."""
        return np.array([list(self.predict(clip).values()) for clip in clips])


class Lime(Asking):
    """LIME: hides half of the segments at random, and fits a linear model of what is hidden."""

    def places(self, kept: Kept) -> Array:
        """Hide segments."""
        hidden = _drawn(_SAMPLES, _SEGMENTS[0] * _SEGMENTS[1])
        copies = [Altered(kept, row.reshape(_SEGMENTS)) for row in hidden]
        return self.slopes(hidden, copies).reshape(_SEGMENTS)

    def moments(self, kept: Kept) -> Array:
        """Freeze seconds."""
        frozen = _drawn(_SAMPLES_IN_TIME, kept.seconds)
        return self.slopes(frozen, [Altered(kept, seconds=set(np.flatnonzero(row))) for row in frozen])

    def slopes(self, hidden: Array, copies: list[Altered]) -> Array:
        """Return how far each part moves the answers, over all targets."""
        answers = self.answers(copies)
        design = hidden - hidden.mean(axis=0)
        normal = design.T @ design + _RIDGE * np.eye(design.shape[1])
        slopes = np.linalg.solve(normal, design.T @ (answers - answers.mean(axis=0)))
        return np.asarray(np.abs(slopes) @ importance(self.additive.targets))


class Occlusion(Asking):
    """A grey window slides over the picture, and over the seconds."""

    def places(self, kept: Kept) -> Array:
        """Return the mean effect of the windows that cover a cell."""
        windows = [
            np.outer(_window(GRID[0], top, _WINDOW[0]), _window(GRID[1], left, _WINDOW[1]))
            for top in range(0, GRID[0] - _WINDOW[0] + 1, _STEP[0])
            for left in range(0, GRID[1] - _WINDOW[1] + 1, _STEP[1])
        ]
        effects = self.effects(kept, [Altered(kept, window) for window in windows])
        return np.asarray(np.tensordot(effects, windows, 1) / np.sum(windows, axis=0))

    def moments(self, kept: Kept) -> Array:
        """Return the effect of each grey second."""
        grey = np.ones(GRID)
        return self.effects(kept, [Altered(kept, grey, {second}) for second in range(kept.seconds)])


class BlurFreeze(Asking):
    """Blurs one block of the picture after the other, and freezes one second after the other."""

    def places(self, kept: Kept) -> Array:
        """Return the effect of each block."""
        blocks = np.eye(_BLOCKS[0] * _BLOCKS[1]).reshape(-1, *_BLOCKS)
        return self.effects(kept, [Altered(kept, block, blur=True) for block in blocks]).reshape(_BLOCKS)


def _drawn(samples: int, parts: int) -> Array:
    """Draw which parts to hide in each sample, 0 or 1, shape (samples, parts)."""
    return np.random.default_rng(_SEED).integers(2, size=(samples, parts)).astype(float)


def _window(cells: int, first: int, size: int) -> Array:
    return np.convolve(np.eye(cells)[first], np.ones(size))[:cells]
