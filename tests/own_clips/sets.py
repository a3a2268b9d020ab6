"""Labelled sets of made-up clips, and reading tables back."""

import csv
from pathlib import Path

import numpy as np

from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.phase_data.settings import Challenge, Target

CHALLENGE = Challenge(
    targets=(Target("warmth", "Warmth", 1.0, 7.0), Target("hire", "Hire", 1.0, 7.0)), main_target="hire"
)


def make_set(families: dict[str, int], *, seed: int = 0, folder: Path = Path("nowhere")) -> LabelledSet:
    """Return a set with so many clips of each source, whose labels are alike within a source."""
    draw = np.random.default_rng(seed)
    clips: list[LabelledClip] = []
    for source, count in families.items():
        level = draw.uniform(2, 6)
        for number in range(count):
            name = f"{source}.{number:03d}.mp4"
            labels = tuple(float(value) for value in np.clip(level + draw.normal(0, 0.5, 2), 1, 7))
            path = folder / name
            size = path.stat().st_size if path.exists() else 0
            clips.append(
                LabelledClip(
                    name, source, FileLocation(path, size=size, order=len(clips)), labels, f"Hello from {number}."
                )
            )
    return LabelledSet("tiny", CHALLENGE, tuple(clips))


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table that was written."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
