"""Whether a model with a clock can tell a call of the second pass on a perturbed copy from one on the clip itself.

The model measures how long ingestion takes to serve it, and gives these seconds as its predictions.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks import workload
from benchmarks.detect import detectors
from benchmarks.detect.features import Seen
from ingest.probes.plan import QUIET

LONGEST_S = 10.0
"""Seconds that are given as 1; more are given as 1, too."""
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")
WAITS = ("since the last call", "first frame", "other frames", "longest frame", "sound", "whole call")
"""What is given for each target."""
MODEL = f"""\
import time

class Model:
    def __init__(self, assets):
        self.ended = time.perf_counter()

    def predict(self, clip):
        moments = [self.ended, time.perf_counter()]
        moments += [time.perf_counter() for _ in clip.frames(count=25)]
        clip.audio()
        heard = time.perf_counter()
        gaps = [later - sooner for sooner, later in zip(moments, moments[1:])]
        self.ended = time.perf_counter()
        waits = [gaps[0], gaps[1], sum(gaps[2:]), max(gaps[2:]), heard - moments[-1], self.ended - moments[1]]
        return {{target: min(1.0, wait_s / {LONGEST_S}) for target, wait_s in zip({TARGETS}, waits)}}

    def explain(self, clip, prediction):
        return {{"text": "This model only measures the time."}}
"""


def seen_by_clock(phase: str, folder: Path) -> detectors.Sample:
    """Run the model on a phase of the bundle and return what it measured in each call of the second pass.

    Raises subprocess.CalledProcessError when ingestion fails.
    """
    submission, output = folder / "clock", folder / phase
    submission.mkdir(exist_ok=True)
    (submission / "model.py").write_text(MODEL)
    output.mkdir()
    data = workload.ROOT / "input_data" / phase
    command = [sys.executable, workload.PROGRAM / "ingestion.py", data, output, workload.PROGRAM, submission]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    with (workload.ROOT / "reference_data" / phase / "labels.csv").open() as file:
        people = {row["clip_id"]: row["source_id"] for row in csv.DictReader(file)}
    calls = {}
    for line in map(json.loads, (output / "probes.jsonl").read_text().splitlines()):
        if line["prediction"] is not None and not line["again"]:
            waits = [line["prediction"][target] for target in TARGETS]
            altered = line["kind"] != "original" and line["unit"] != QUIET
            # Calls that show the same are asked once, so they have the same answer.
            calls[line["clip_id"], *waits] = (
                Seen(dict(zip(WAITS, waits, strict=True)), np.empty((0, 0), np.float32)),
                altered,
            )
    seen, which = zip(*calls.values(), strict=True)
    return detectors.Sample(seen, np.array(which), np.array([people[clip_id] for clip_id, *_ in calls]))


def area_of_clock(phases: tuple[str, ...], folder: Path) -> tuple[detectors.Area, list[tuple[str, float]]]:
    """Return the area of a detector by these seconds over several phases, and the most telling of them."""
    samples = [seen_by_clock(phase, folder) for phase in phases]
    sample = detectors.Sample(
        [view for each in samples for view in each.seen],
        np.concatenate([each.altered for each in samples]),
        np.concatenate([each.person for each in samples]),
    )
    return detectors.area(sample, detectors.scores(sample, "by hand")), detectors.telling(sample)
