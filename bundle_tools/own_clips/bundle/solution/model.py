"""A small, transparent model for any footage: a weighted sum of measurements, explained by its terms."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from contract import Clip  # in the starting kit; the platform needs no types

ROWS, COLUMNS = 9, 16
RATE_HZ = 16_000
FRAMES_A_SECOND = 4
FEATURES = {"brightness": "lighting", "motion": "motion", "loudness": "voice", "words_a_second": "words"}
"""Each measurement, and the cue it belongs to."""
PHRASES = {
    "lighting": ("Dim lighting", "Bright lighting"),
    "motion": ("A little motion", "A lot of motion"),
    "voice": ("A quiet voice", "A loud voice"),
    "words": ("Few words", "Many words"),
}
"""Phrases for a cue below and above its mean."""
LOW, HIGH = 0.45, 0.55
"""Predictions below LOW are called low, above HIGH high, as shares of the target's range."""
TOLD = 0.005
"""Contributions below this share of the target's range are left out of the text."""
MOST_TOLD = 3
"""Scoring compares a text with the three largest claims, so a fourth cue would lower its score."""


class Model:
    """Predicts a mean plus a weighted sum of the measurements, so each one's contribution is known exactly."""

    def __init__(self, assets: Path) -> None:
        """Load what train.py has learned."""
        learned = json.loads((Path(assets) / "weights.json").read_text(encoding="utf-8"))
        self.targets: dict[str, dict[str, Any]] = learned["targets"]
        self.main: str = learned["main_target"]
        self.claimable: list[str] = learned["vocabulary"]
        self.means = np.array(learned["means"])
        self.scales = np.array(learned["scales"])
        self.weights = {name: np.array(target["weights"]) for name, target in self.targets.items()}

    def predict(self, clip: "Clip") -> dict[str, float]:
        """Return a value within range for every target."""
        standard = self.standard(measure(clip).mean())
        return {
            name: float(np.clip(target["mean"] + self.weights[name] @ standard, target["minimum"], target["maximum"]))
            for name, target in self.targets.items()
        }

    def explain(self, clip: "Clip", prediction: dict[str, float]) -> dict[str, Any]:
        """Explain the terms of the sum in words, a picture and numbers."""
        seen = measure(clip)
        measured = seen.mean()
        parts = self.contributions(measured)
        return {
            "text": self.describe(prediction, parts[self.main], measured > self.means),
            "image": clip.frame_at(clip.duration_s / 2, size=(355, 200)),
            "evidence": {
                "space": self.where(seen),
                "time": self.when(seen),
                "cues": [
                    {"cue": cue, "target": name, "contribution": float(np.clip(part / self.span(name), -1, 1))}
                    for name, values in parts.items()
                    for cue, part in zip(FEATURES.values(), values, strict=True)
                    if cue in self.claimable
                ],
            },
        }

    def standard(self, measured: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standard score of each measurement; an unknown one counts as average."""
        away: NDArray[np.float64] = np.nan_to_num((measured - self.means) / self.scales)
        return away

    def contributions(self, measured: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return how much each measurement adds to each target, compared with an average clip.

        Edits take light and loudness from other clips, so these become average.
        """
        return {name: weights * self.standard(measured) for name, weights in self.weights.items()}

    def describe(self, prediction: dict[str, float], parts: NDArray[np.float64], above: NDArray[np.bool_]) -> str:
        """Name the level of the main target, and what raised or lowered it, largest contribution first."""
        target = self.targets[self.main]
        share = (prediction[self.main] - target["minimum"]) / self.span(self.main)
        level = "low" if share < LOW else "high" if share > HIGH else "medium"
        sentences = [f"The {target['title'].lower()} score is {level} ({prediction[self.main]:.2f})."]
        for place_of in np.argsort(-np.abs(parts)):
            if len(sentences) > MOST_TOLD:
                break
            part, cue = float(parts[place_of]), list(FEATURES.values())[place_of]
            if abs(part) < TOLD * self.span(self.main) or cue not in self.claimable:
                continue
            sentences.append(f"{PHRASES[cue][int(above[place_of])]} {'raised' if part > 0 else 'lowered'} it.")
        if len(sentences) == 1:
            sentences.append("All measurements of this clip are close to their average.")
        return " ".join(sentences)

    def where(self, seen: "ClipData") -> NDArray[np.float64] | None:
        """Return how much each place in the picture moves the main target, compared with a still, average one."""
        light, motion = self.weights[self.main][:2] / self.scales[:2]
        cells = light * (seen.light - self.means[0]) + motion * np.nan_to_num(seen.motion)
        places = np.abs(cells.mean(axis=0))
        return places if places.min() < places.max() else None

    def when(self, seen: "ClipData") -> list[list[float]] | None:
        """Return how much each second moves the main target, compared with a still, average picture."""
        a_second = np.stack([seen.light.mean(axis=(1, 2)), seen.motion.mean(axis=(1, 2)), seen.loudness], axis=1)
        still = [self.means[0], 0, self.means[2]]
        away = np.nan_to_num((a_second - still) / self.scales[:3])
        weights = np.abs(away @ self.weights[self.main][:3])
        if weights.min() == weights.max():
            return None
        edges = np.linspace(0, seen.duration_s, len(weights) + 1)
        return [[float(edges[i]), float(edges[i + 1]), float(weight)] for i, weight in enumerate(weights)]

    def span(self, name: str) -> float:
        """Return the width of a target's range."""
        target = self.targets[name]
        return float(target["maximum"] - target["minimum"])


class ClipData:
    """Measurements of a clip, for each of n seconds."""

    def __init__(
        self,
        light: NDArray[np.float64],
        motion: NDArray[np.float64],
        loudness: NDArray[np.float64],
        words_a_second: float,
        duration_s: float,
    ) -> None:
        """Keep the measurements of a clip.

        Parameters
        ----------
        light
            Brightness in [0, 1], shape (n, 9, 16).
        motion
            Change of brightness from frame to frame, shape (n, 9, 16).
        loudness
            In dB, shape (n,); NaN without sound.
        words_a_second
            NaN without a transcript.
        duration_s
            Length in seconds.
        """
        self.light, self.motion, self.loudness = light, motion, loudness
        self.words_a_second, self.duration_s = words_a_second, duration_s

    def mean(self) -> NDArray[np.float64]:
        """Return the means over the whole clip, in the order of FEATURES; NaN for unknown ones."""
        return np.array([self.light.mean(), self.motion.mean(), self.loudness.mean(), self.words_a_second])


def measure(clip: "Clip") -> ClipData:
    """Measure a clip in pieces of about one second."""
    pieces = max(1, round(clip.duration_s))
    frames = clip.frames(count=pieces * FRAMES_A_SECOND, size=(10 * COLUMNS, 10 * ROWS))
    cells = np.stack([frame.reshape(ROWS, 10, COLUMNS, 10, 3).mean(axis=(1, 3, 4)) / 255 for frame in frames])
    cells = cells.reshape(pieces, FRAMES_A_SECOND, ROWS, COLUMNS)
    sound = clip.audio(RATE_HZ)
    loudness = np.full(pieces, np.nan)
    if sound is not None and len(sound) >= pieces:
        power = np.array([np.mean(np.square(piece, dtype=np.float64)) for piece in np.array_split(sound, pieces)])
        loudness = 10 * np.log10(power + 1e-6)  # at least -60 dB
    words = len(clip.transcript.split()) / clip.duration_s if clip.transcript.strip() else np.nan
    return ClipData(cells.mean(axis=1), np.abs(np.diff(cells, axis=1)).mean(axis=1), loudness, words, clip.duration_s)
