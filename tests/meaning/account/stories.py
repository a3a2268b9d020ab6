"""Honest predictions, and what somebody says about them who does not know or does not tell."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from cuereader.additive import AdditiveModel
from cuereader.features import CUES, FEATURES, Reading
from cuereader.wording import describe

from .honest import GRID, Account, Array, Model, Scores, luck_of, seconds_of

BOILERPLATE = "The scores were predicted by a model that watched the whole clip from the first to the last second."
_CLAIM = 0.05
"""Size of a claim that is made up, about that of a true one."""


class Noisy(Model):
    """The truth with noise on claims, map and timeline; the text tells the noisy claims."""

    amount = 1.0
    """In standard deviations of what it is added to."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Blur the honest account."""
        true, luck = super().account(reading, prediction), luck_of(reading)

        def noisy(values: Array) -> Array:
            return np.asarray(values + self.amount * values.std() * luck.standard_normal(values.shape))

        exact = self.contributions(reading)
        cues = {target: dict(zip(row, noisy(_row(row)), strict=True)) for target, row in exact.items()}
        space, time = (None if part is None else noisy(part) for part in (_pooled(true.space), true.time))
        return Account(self.told(reading, prediction, cues), _lifted(space), _lifted(time), cues)


class Random(Model):
    """Places, moments and claims drawn by lot."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Draw them."""
        luck = luck_of(reading)
        cues = {name: {cue: _CLAIM * luck.standard_normal() for cue in CUES} for name in self.additive.targets}
        return Account(
            self.told(reading, prediction, cues), luck.random(GRID), luck.random(seconds_of(reading.duration_s)), cues
        )


class Inverted(Model):
    """The truth upside down."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Turn every sign and every map around."""
        true = super().account(reading, prediction)
        cues = {target: {cue: -value for cue, value in row.items()} for target, row in (true.cues or {}).items()}
        space, time = (None if part is None else part.max() - part for part in (true.space, true.time))
        return Account(self.told(reading, prediction, cues), space, time, cues)


class Uniform(Model):
    """Everything matters everywhere, always, and equally."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Claim it all."""
        cues = {name: dict.fromkeys(CUES, _CLAIM) for name in self.additive.targets}
        return Account(
            self.told(reading, prediction, cues), np.ones(GRID), np.ones(seconds_of(reading.duration_s)), cues
        )


class Centre(Model):
    """The same for every clip: the middle of the picture and of the time, and what more of each cue does on average."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Give it."""
        values = self.additive.means + self.additive.scales
        cues = self.additive.contributions(values)
        rows, columns = np.mgrid[-1 : 1 : GRID[0] * 1j, -1 : 1 : GRID[1] * 1j]
        time = np.exp(-(np.linspace(-1, 1, seconds_of(reading.duration_s)) ** 2))
        text = describe(prediction, cues, self.additive.levels(values), [])
        return Account(text, np.exp(-3 * (rows**2 + columns**2)), time, cues)


class OtherClip(Model):
    """The explanation of a clip that does not exist: other measurements, other places, other moments."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Explain invented measurements."""
        luck = luck_of(reading)
        values = self.additive.means + self.additive.scales * luck.standard_normal(self.additive.means.size)
        other = super().account(replace(reading, values=values), prediction)
        space = None if other.space is None else np.roll(other.space, luck.integers(12, 52), axis=1)
        return replace(other, space=space, time=None if other.time is None else luck.permutation(other.time))


class Boilerplate(Model):
    """One sentence for all clips, and nothing else."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Say it."""
        return Account(BOILERPLATE)


class TextOnly(Model):
    """The true text, without evidence."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Keep the text."""
        return Account(super().account(reading, prediction).text)


class MapsOnly(Model):
    """The true map and timeline, without claims."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Drop what is claimed."""
        return replace(super().account(reading, prediction), text=BOILERPLATE, cues=None)


class OtherModel(Model):
    """Predicts with all measurements, and explains a simpler model, which measures each cue once."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.predictor = self.additive
        self.additive = _once_each(self.predictor)

    def answer(self, reading: Reading) -> Scores:
        """Predict with the full model."""
        return self.predictor.predict(reading.values)


class Shifted(Model):
    """The true map, one cell too far to the right."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Change the map."""
        true = super().account(reading, prediction)
        space = _pooled(true.space)
        return replace(true, space=None if space is None else self.changed(space))

    def changed(self, space: Array) -> Array:
        """Shift it."""
        return np.roll(space, 1, axis=1)


class Smoothed(Shifted):
    """The true map, blurred over three by three cells."""

    def changed(self, space: Array) -> Array:
        """Blur it."""
        return np.asarray(cv2.blur(space, (3, 3)))


def _once_each(model: AdditiveModel) -> AdditiveModel:
    """Give the first measure of a cue the weights of all: they rise and fall together."""
    weights = np.zeros_like(model.weights)
    cues = [cue for _, cue in FEATURES]
    for column, cue in enumerate(cues):
        weights[:, cues.index(cue)] += model.weights[:, column]
    return replace(model, weights=weights)


def _row(contributions: Mapping[str, float]) -> Array:
    return np.array(list(contributions.values()), dtype=float)


def _pooled(space: Array | None) -> Array | None:
    return None if space is None else np.asarray(cv2.resize(space, GRID[::-1], interpolation=cv2.INTER_AREA))


def _lifted(weights: Array | None) -> Array | None:
    """Move weights up until none is negative; only their order counts."""
    return None if weights is None else weights - weights.min()
