"""The cue reader clearly beats the constant baseline on both phases; skill is 1 - MAE / MAE of the constant."""

import csv
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from tests.solutions.conftest import CUE_READER, ROOT, SOLUTIONS, load

PHASES = ("practice", "final")


def predict(job: tuple[str, str, str]) -> dict[str, float]:
    """Return the prediction for one committed clip."""
    phase, clip_id, transcript = job
    import cv2  # noqa: PLC0415 - in the worker process
    from cuereader.files import FileClip  # noqa: PLC0415 - as above

    cv2.setNumThreads(1)

    clip = FileClip(ROOT / "input_data" / phase / "clips" / f"{clip_id}.mp4", transcript)
    prediction: dict[str, float] = load("cue_reader", "model").Model(CUE_READER).predict(clip)
    return prediction


@pytest.mark.parametrize("phase", PHASES)
def test_the_cue_reader_has_skill_on_every_target(phase: str) -> None:
    with (ROOT / "reference_data" / phase / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    transcripts = json.loads((ROOT / "input_data" / phase / "transcripts.json").read_text(encoding="utf-8"))
    means = json.loads((SOLUTIONS / "constant" / "means.json").read_text(encoding="utf-8"))
    jobs = [(phase, row["clip_id"], transcripts[row["clip_id"]]) for row in rows]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        predictions = list(pool.map(predict, jobs, chunksize=6))
    for target, mean in means.items():
        labels = np.array([float(row[target]) for row in rows])
        error = np.abs([prediction[target] for prediction in predictions] - labels).mean()
        assert 1 - error / np.abs(labels - mean).mean() >= 0.55, target
