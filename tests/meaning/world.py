"""A world without pictures: clips as cues that lie somewhere, happen at some time and move the targets.

Everything that a real clip would make costly is one multiplication here, and everything is known: what a cue does to a
target, which cells and seconds show it, and what is left of it when a mask covers a part of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROWS, COLUMNS, SECONDS = 9, 16, 5
CAUSAL = ("smile", "gaze", "motion", "posture", "lighting", "framing", "speech_rate", "words")
IDLE = ("background", "clothing", "face", "voice")
VOCABULARY = (*CAUSAL, *IDLE)
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")
PLACED = ("smile", "gaze", "motion", "posture")  # cues that lie somewhere in the picture
TIMED = ("smile", "gaze", "motion", "words")  # cues that happen at a time; speech has its rate in every second

# What a cue adds to a target for each unit that it is above neutral. Rows: targets; columns: CAUSAL.
_WEIGHTS = 0.25 * np.array(
    [
        [1.30, 0.30, 1.30, 0.10, 0.30, 0.50, 0.90, 0.20],
        [1.40, 0.50, -0.30, 0.00, 0.50, -0.50, -0.40, 1.20],
        [-0.20, 1.10, -0.70, 1.30, 0.50, 0.00, -0.50, 0.70],
        [0.50, 0.90, -1.10, 0.80, 0.30, 0.30, -0.80, 0.60],
        [0.50, 0.30, 0.80, -0.30, 0.90, -0.40, 0.60, 1.00],
        [0.90, 1.00, 0.40, 0.90, 0.60, 0.30, -0.30, 0.90],
    ]
)
_STRENGTHS = (-0.25, 0.5)  # from the neutral value; most people show more than that of most cues
_INTERCEPTS = 0.5 - _WEIGHTS.sum(axis=1) * np.mean(_STRENGTHS)
_LABEL_NOISE = 0.01


@dataclass(frozen=True)
class Alteration:
    """What was done to a clip before a model saw it."""

    cells: Mask
    """(9, 16) masked cells, in all frames."""
    seconds: Mask
    """(5,) frozen and silenced seconds."""
    cue: str | None = None
    """The cue that an edit made neutral."""

    @property
    def masks(self) -> bool:
        """Whether anything of the clip is covered; an edit leaves a clip that looks like any other."""
        return bool(self.cells.any() or self.seconds.any())


def unaltered() -> Alteration:
    """Return the alteration that changes nothing."""
    return Alteration(np.zeros((ROWS, COLUMNS), dtype=bool), np.zeros(SECONDS, dtype=bool))


@dataclass(frozen=True)
class World:
    """The clips of one phase."""

    seed: int
    """The world is a function of it and of the number of clips."""
    clip_ids: tuple[str, ...]
    """n opaque ids."""
    strengths: Array
    """(n, 8) how far each causal cue is from neutral, in [-0.25, 0.5]."""
    places: Array
    """(n, 8, 9, 16) share of each cue that a cell shows; sums to 1, or all 0 for a cue without a place."""
    times: Array
    """(n, 8, 5) share of each cue that a second shows; sums to 1, or all 0 for a cue that no second shows alone."""
    faces: Mask
    """(n, 9, 16) the cells of the face."""
    edits: tuple[tuple[str, str, str], ...]
    """For every clip the cues of its copies: two causal ones and one that is not."""
    labels: Array
    """(n, 6) in [0, 1]."""

    @property
    def contributions(self) -> Array:
        """(n, 6, 8) what each cue adds to each target: of a sum, the terms are the exact Shapley values."""
        return _WEIGHTS[None] * self.strengths[:, None]

    def perceived(self, clip: int, alteration: Alteration) -> Array:
        """What a model that looks properly sees of each cue, (8,): what no mask covers and no edit removed."""
        left = self.strengths[clip] * (1 - (self.places[clip] * alteration.cells).sum(axis=(1, 2)))
        left = left * (1 - (self.times[clip] * alteration.seconds).sum(axis=1))
        if alteration.cue in CAUSAL:
            left[CAUSAL.index(alteration.cue)] = 0.0
        return np.asarray(left)

    def targets(self, perceived: Array) -> Array:
        """(6,) what the rule of this world makes of it, before noise."""
        return np.asarray(_INTERCEPTS + _WEIGHTS @ perceived)

    def causes(self) -> dict[str, Any]:
        """Return the known causes of every clip, as ``causes.json`` holds them."""
        return {
            "format_version": 1,
            "grid": {"rows": ROWS, "columns": COLUMNS},
            "bin_s": 1.0,
            "clips": {clip_id: self._causes(clip) for clip, clip_id in enumerate(self.clip_ids)},
        }

    def _causes(self, clip: int) -> dict[str, Any]:
        seen = {cue: self.times[clip, CAUSAL.index(cue)] > 0 for cue in TIMED}
        everywhere = np.ones(SECONDS, dtype=bool)
        return {
            "contributions": {
                target: dict(zip(CAUSAL, row, strict=True))
                for target, row in zip(TARGETS, self.contributions[clip].round(6).tolist(), strict=True)
            },
            "space": {
                cue: [
                    occupancy(self.places[clip, CAUSAL.index(cue)] > 0 if on else np.zeros((ROWS, COLUMNS), bool))
                    for on in seen.get(cue, everywhere)
                ]
                for cue in PLACED
            },
            "time": {cue: seen[cue].astype(int).tolist() for cue in TIMED},
        }


def occupancy(cells: Mask) -> str:
    """Return cells as 36 hexadecimal digits, the most significant bit first."""
    return np.packbits(cells.ravel()).tobytes().hex()


def make_world(clips: int, seed: int) -> World:
    """Draw ``clips`` clips: a face near the middle, hands on one side of it, and what moves the targets."""
    random = np.random.default_rng([seed, 1])
    strengths = random.uniform(*_STRENGTHS, (clips, len(CAUSAL)))
    places = np.zeros((clips, len(CAUSAL), ROWS, COLUMNS))
    times = np.zeros((clips, len(CAUSAL), SECONDS))
    faces = np.zeros((clips, ROWS, COLUMNS), dtype=bool)
    edits = []
    for clip in range(clips):
        boxes, faces[clip] = _person(random)
        for cue, box in boxes.items():
            places[clip, CAUSAL.index(cue)] = box / box.sum()
        for cue in TIMED:
            active = random.permutation(SECONDS) < random.integers(1, 3)
            times[clip, CAUSAL.index(cue)] = active / active.sum()
        times[clip, CAUSAL.index("speech_rate")] = 1 / SECONDS
        one, other = random.choice(CAUSAL, 2, replace=False).tolist()
        edits.append((one, other, str(random.choice(IDLE[:2]))))
    labels = _INTERCEPTS + strengths @ _WEIGHTS.T + _LABEL_NOISE * random.standard_normal((clips, len(TARGETS)))
    ids = tuple("c" + hashlib.sha256(f"{seed} {clip}".encode()).hexdigest()[:9] for clip in range(clips))
    return World(seed, ids, strengths, places, times, faces, tuple(edits), labels.clip(0.02, 0.98))


def _person(random: np.random.Generator) -> tuple[dict[str, Mask], Mask]:
    """Place one person; returns the cells of the placed cues and those of the face."""
    row = int(np.clip(round(random.normal(2, 0.8)), 0, 3))
    column = int(np.clip(round(random.normal(6, 1.5)), 0, COLUMNS - 4))
    hands = (column + random.choice([-4, 5])) % (COLUMNS - 1)
    boxes = {
        "gaze": _box(row + 1, column, 1, 4),
        "smile": _box(row + 3, column + 1, 1, 2),
        "posture": _box(row + 4, column - 1, 2, 6),
        "motion": _box(row + 4 + int(random.integers(0, 2)), int(hands), 2, 2),
    }
    return boxes, _box(row, column, 4, 4)


def _box(top: int, left: int, height: int, width: int) -> Mask:
    cells = np.zeros((ROWS, COLUMNS), dtype=bool)
    cells[max(top, 0) : top + height, max(left, 0) : left + width] = True
    return cells
