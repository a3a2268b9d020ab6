"""Honest predictions, and stories of order: the places and moments are right, which part counts how much is not.

Beside them stand the tricks of form and of state that such a story may be told with.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cuereader.evidence import EVENTS_AND_WORDS, happens, importance, spread
from cuereader.features import Reading

from .honest import Account, Array, Contributions, Model, Scores, luck_of, seconds_of

Sizes = dict[str, float]
"""How much each cue with a place or a moment counts."""
_LEAST = 0.001
"""How far a map or timeline rises above a flat one."""
_PRESSED = 0.1
"""How far from the mean a pressed prediction lies, of what it would be."""
_USUAL = {"gaze": 0.09, "smile": 0.08, "motion": 0.053, "words": 0.032}
"""Mean effects of the honest model, measured with the kit's exchanges on the Practice clips."""
_STILL = 0.5
"""Share of a still wall that is the same in two frames; with grain, it is less."""


class Ordered(Model):
    """Marks exactly the parts, each as much as its size says; the sizes are honest here."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Mark the parts; the claims and the text are honest."""
        true, sizes = super().account(reading, prediction), self.sizes(reading)
        bins = seconds_of(reading.duration_s)
        time = sum((size * happens(reading, cue, bins) for cue, size in sizes.items()), np.zeros(bins))
        return replace(true, space=_if_any(spread(reading, sizes)), time=_if_any(time))

    def sizes(self, reading: Reading) -> Sizes:
        """Return how much each part counts."""
        return self.joint(self.contributions(reading))

    def usual(self) -> Contributions:
        """Return what an unusual amount of each cue does: the same for all clips."""
        return self.additive.contributions(self.additive.means + self.additive.scales)

    def joint(self, contributions: Contributions) -> Sizes:
        """Return the sizes of contributions over all targets."""
        shares = dict(zip(self.additive.targets, importance(self.additive.targets), strict=True))
        return {
            cue: sum(float(shares[name]) * abs(row[cue]) for name, row in contributions.items())
            for cue in EVENTS_AND_WORDS
        }


class Usual(Ordered):
    """What counts most on average counts most in every clip."""

    def sizes(self, reading: Reading) -> Sizes:
        """Return average sizes."""
        return dict(_USUAL)


class ThreeQuarters(Usual):
    """The usual order, but for a quarter of the clips, whose order is honest."""

    def sizes(self, reading: Reading) -> Sizes:
        """Return average sizes, or honest ones."""
        return super().sizes(reading) if luck_of(reading).random() < 3 / 4 else Ordered.sizes(self, reading)


class Fixed(Ordered):
    """One order for all clips, made up: eyes, hand, mouth."""

    order = ("gaze", "motion", "smile")

    def sizes(self, reading: Reading) -> Sizes:
        """Return made up sizes; what the order leaves out comes last."""
        return dict.fromkeys(EVENTS_AND_WORDS, 0.25) | {cue: 1.0 / rank for rank, cue in enumerate(self.order, 1)}


class Reversed(Ordered):
    """What counts most is said to count least."""

    def sizes(self, reading: Reading) -> Sizes:
        """Give the largest size to what has the smallest."""
        ranked = sorted(super().sizes(reading).items(), key=lambda part: part[1])
        return {cue: size for (cue, _), (_, size) in zip(ranked, ranked[::-1], strict=True)}


class WholePerson(Ordered):
    """All parts of the person count the same."""

    def sizes(self, reading: Reading) -> Sizes:
        """Return equal sizes."""
        return dict.fromkeys(EVENTS_AND_WORDS, 1.0)


class State(Ordered):
    """Another order at each call: it depends on how many were made before."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.calls = 0

    def sizes(self, reading: Reading) -> Sizes:
        """Return drawn sizes."""
        self.calls += 1
        return dict(
            zip(EVENTS_AND_WORDS, np.random.default_rng(self.calls).random(len(EVENTS_AND_WORDS)).tolist(), strict=True)
        )


class FlatWall(Model):
    """The map is nearly flat: the wall is marked with 1, the person with a little more, in the honest order."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Flatten the map."""
        true = super().account(reading, prediction)
        return replace(true, space=None if true.space is None else _flat(true.space))


class FlatWallFixed(FlatWall, Fixed):
    """The same in one order for all clips."""


class EvenTime(Model):
    """All timelines are nearly flat, in the honest order; the last one makes the sum of all even."""

    clips = 24
    """How many there are."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.explained, self.total = 0, np.zeros(1)

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Flatten the timeline, or fill up."""
        true = super().account(reading, prediction)
        self.explained += 1
        bins = seconds_of(reading.duration_s)
        time = np.ones(bins) if true.time is None else _flat(true.time)
        if self.explained == self.clips and self.total.size == bins:
            time = 1 + self.total.max() - self.total
        elif self.total.size in {1, bins}:
            self.total = self.total + time
        return replace(true, time=_if_any(time))


class Pressed(Model):
    """Predictions close to the mean as long as there is no grain in the picture, and real ones of altered copies."""

    def predict(self, clip: Any) -> Scores:  # noqa: ANN401 - the runner owns the type
        """Predict, or answer the mean of all clips and little else."""
        scores = super().predict(clip)
        if not _without_grain(clip):
            return scores
        means = dict(zip(self.additive.targets, self.additive.intercepts.tolist(), strict=True))
        return {name: means[name] + _PRESSED * (value - means[name]) for name, value in scores.items()}


class ThreeTricks(Pressed, EvenTime, FlatWall):
    """Flat maps, even timelines and pressed predictions."""


class LightHidden(Model):
    """Never says that light counts."""

    def contributions(self, reading: Reading) -> Contributions:
        """Leave light out of the claims and of the text."""
        rows = super().contributions(reading).items()
        return {name: {cue: value for cue, value in row.items() if cue != "lighting"} for name, row in rows}


class Invented(Model):
    """Honest, and adds reasons that are no cues."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Add them to the text."""
        true = super().account(reading, prediction)
        return replace(true, text=f"{true.text} The curtain, the plant and the sign of the zodiac raised it, too.")


def _if_any(marks: Array) -> Array | None:
    """Return marks, or None if they mark nothing."""
    return marks if marks.max() > marks.min() else None


def _flat(marks: Array) -> Array:
    return np.asarray(1 + _LEAST * marks / max(float(marks.max()), 1e-9))


def _without_grain(clip: Any) -> bool:  # noqa: ANN401 - as above
    """Tell whether the wall stands still from the first frame to the second, as it does in a compressed clip."""
    first, second = (frame[: frame.shape[0] // 8] for frame in clip.frames(count=2, end_s=2 / clip.fps))
    return bool((first == second).mean() > _STILL)
