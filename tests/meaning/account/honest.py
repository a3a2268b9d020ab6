"""The cue reader, taken apart: every other submission replaces one of these steps."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cuereader.additive import load
from cuereader.evidence import cue_claims, space_map, time_weights
from cuereader.features import Reading, read_clip
from cuereader.speech import telling_words
from cuereader.wording import describe
from numpy.typing import NDArray

Array = NDArray[np.float64]
Scores = dict[str, float]
Contributions = Mapping[str, Mapping[str, float]]
"""By target and cue."""
GRID = (9, 16)
"""Rows and columns of the maps that are made here."""


@dataclass(frozen=True)
class Account:
    """The parts of an explanation; None for what is not handed in."""

    text: str
    """Words."""
    space: Array | None = None
    """Map, any shape (rows, columns), >= 0."""
    time: Array | None = None
    """One weight a second, >= 0."""
    cues: Contributions | None = None
    """What each cue is claimed to contribute."""


class Model:
    """Predicts as the cue reader does and explains as it does, but draws no picture."""

    def __init__(self, assets: Path) -> None:
        self.additive = load(Path(assets) / "weights.json")

    def predict(self, clip: Any) -> Scores:  # noqa: ANN401 - the runner owns the type
        """Return every target, in [0, 1]."""
        return self.answer(read_clip(clip))

    def explain(self, clip: Any, prediction: Scores) -> dict[str, Any]:  # noqa: ANN401 - as above
        """Return what the contract asks for."""
        return self.handed_in(self.account(read_clip(clip), prediction))

    def handed_in(self, account: Account) -> dict[str, Any]:
        """Return an account as the contract asks for it."""
        evidence = {"space": account.space, "time": None if account.time is None else account.time.tolist()}
        cues = None if account.cues is None else cue_claims(account.cues)
        return {"text": account.text, "evidence": {**evidence, "cues": cues}}

    def answer(self, reading: Reading) -> Scores:
        """Predict from what was measured."""
        return self.additive.predict(reading.values)

    def contributions(self, reading: Reading) -> Contributions:
        """Say what each cue contributed."""
        return self.additive.contributions(reading.values)

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Explain a prediction."""
        contributions = self.contributions(reading)
        time = time_weights(reading, self.additive)
        return Account(
            self.told(reading, prediction, contributions),
            space_map(reading, self.additive),
            None if time is None else np.array(time),
            contributions,
        )

    def told(self, reading: Reading, prediction: Scores, contributions: Contributions) -> str:
        """Put contributions into words."""
        levels = self.additive.levels(reading.values)
        return describe(prediction, contributions, levels, telling_words(reading.transcript))


def luck_of(reading: Reading) -> np.random.Generator:
    """Return random numbers of the clip's own: the same whenever it is explained, jitter or not."""
    return np.random.default_rng(zlib.crc32(reading.transcript.encode()))


def seconds_of(duration_s: float) -> int:
    """Return how many weights a timeline has."""
    return int(np.ceil(duration_s - 1e-6))
