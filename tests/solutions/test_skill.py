"""The cue reader clearly beats the constant baseline on both phases; skill is 1 - MAE / MAE of the constant."""

import csv
import json

import numpy as np
import pytest

from file_clip import FileClip
from tests import ROOT
from tests.solutions.conftest import SOLUTIONS, Solution

# Of practice every third clip; of final, whose rule the reader has not learnt, all.
TAKEN = (("practice", 3), pytest.param("final", 1, marks=pytest.mark.slow))


@pytest.mark.parametrize(("phase", "step"), TAKEN)
def test_the_cue_reader_has_skill_on_every_target(phase: str, step: int, reader: Solution) -> None:
    rows, transcripts = of_phase(phase)
    predictions = [reader.predict(clip_of(phase, row["clip_id"], transcripts)) for row in rows[::step]]
    check_skill(rows[::step], predictions)


def clip_of(phase: str, clip_id: str, transcripts: dict[str, str]) -> FileClip:
    return FileClip(ROOT / "input_data" / phase / "clips" / f"{clip_id}.mp4", transcripts[clip_id])


def of_phase(phase: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    with (ROOT / "reference_data" / phase / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    transcripts = json.loads((ROOT / "input_data" / phase / "transcripts.json").read_text(encoding="utf-8"))
    return rows, transcripts


def check_skill(rows: list[dict[str, str]], predictions: list[dict[str, float]], least: float = 0.5) -> None:
    means = json.loads((SOLUTIONS / "constant" / "means.json").read_text(encoding="utf-8"))
    for target, mean in means.items():
        labels = np.array([float(row[target]) for row in rows])
        error = np.abs([prediction[target] for prediction in predictions] - labels).mean()
        assert 1 - error / np.abs(labels - mean).mean() >= least, target
