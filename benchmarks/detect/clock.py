"""Whether a model with a clock can tell a call of the second pass on a perturbed copy from one on the clip itself.

The model measures how long ingestion takes to serve it, and gives these seconds as its predictions.
"""

import json
from collections.abc import Sequence
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


def seen_by_clock(phase: str, folder: Path) -> list[tuple[Seen, bool, str]]:
    """Run the model on a phase of the bundle, below `folder`.

    Returns of each call of the second pass what was measured, whether it is on a perturbed copy, and the person.
    Raises SystemExit when a clip failed.
    """
    submission, output = folder / "clock", folder / phase
    submission.mkdir(exist_ok=True)
    (submission / "model.py").write_text(MODEL)
    workload.ingest(workload.ROOT / "input_data" / phase, submission, output)
    people, calls = workload.people_of(phase), {}
    for line in map(json.loads, (output / "probes.jsonl").read_text().splitlines()):
        if line["prediction"] is not None and not line["again"]:
            waits = [line["prediction"][target] for target in TARGETS]
            altered = line["kind"] != "original" and line["unit"] != QUIET
            seen = Seen(dict(zip(WAITS, waits, strict=True)), np.empty((0, 0), np.float32))
            # Calls that show the same are asked once, so they have the same answer.
            calls[line["clip_id"], *waits] = seen, altered, people[line["clip_id"]]
    return list(calls.values())


def area_of_clock(phases: Sequence[str], folder: Path) -> tuple[detectors.Area, list[tuple[str, float]]]:
    """Return the area of a detector by these seconds over several phases, and the most telling of them."""
    seen, altered, people = zip(*(call for phase in phases for call in seen_by_clock(phase, folder)), strict=True)
    sample = detectors.Sample(seen, np.array(altered), np.array(people))
    return detectors.area(sample, detectors.scores(sample, "by hand")), detectors.telling(sample)
