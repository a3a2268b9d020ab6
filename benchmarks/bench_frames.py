"""Overhead of ingestion over decoding and the model.

All frames: the wall time of a run, against the larger of decoding alone and of the model alone.
Sampled frames: against the same work in one bare loop around OpenCV.

All are whole processes, start-up included, run alternately on the same clips. The repeats that test whether a model is
deterministic use a fresh process, whose start counts as overhead.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

ALL_FRAMES_LIMIT = 1.10
SAMPLED_LIMIT = 1.15

# The fastest plain ways to get the same RGB pixels: OpenCV with its default decoder threads.
DECODE_ALL = """\
import sys, cv2
for path in sys.argv[1:]:
    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
    while True:
        read, frame = capture.read()
        if not read: break
        cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
"""
SAMPLE = """\
import sys, time, cv2, numpy as np
def work(frame):
    {work}
for path in sys.argv[1:]:
    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
    count = int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
    wanted = [int((i + 0.5) * count / 8) for i in range(8)]
    position = -1
    for index in wanted:
        while position < index:
            capture.grab()
            position += 1
        work(cv2.cvtColor(capture.retrieve()[1], cv2.COLOR_BGR2RGB))
"""
MODEL_ALONE = """\
import sys, time, numpy as np
def work(frame):
    {work}
frame = np.zeros((720, 1280, 3), np.uint8)
for _ in range(int(sys.argv[1])):
    work(frame)
"""
# A model's work on a frame: none, waiting for an accelerator, or computing on one core.
WORK = {
    "idle": "pass",
    "waiting 2 ms": "time.sleep(0.002)",
    "computing": "np.square(frame[::4, ::4], dtype=np.float32).sum()",
}
SAMPLED_WORK = {"idle": "pass", "computing": "[np.square(frame, dtype=np.float32).sum() for _ in range(3)]"}


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=24, help="clips a run (default 24)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each case (default 3)")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory(dir=workload.CACHE.parent if workload.CACHE.exists() else None) as temporary:
        folder = Path(temporary)
        phase = workload.make_phase(folder / "input", options.clips)
        # The bare loops read as many clips as the model, including warm-up and repeats.
        asked = workload.asked(options.clips)
        paths = (2 * sorted(str(path) for path in (phase / "clips").iterdir()))[:asked]
        frames = asked * workload.FPS * workload.SECONDS
        for name, work in WORK.items():
            print(f"all frames, model {name}")
            submission = workload.write_model(folder / f"all {name}", request="", work=work)
            times = workload.interleave(
                {
                    "ingestion": partial(workload.ingest, phase, submission, folder / "output"),
                    "decoding alone": partial(workload.run_script, DECODE_ALL, *paths),
                    "model alone": partial(workload.run_script, MODEL_ALONE.format(work=work), str(frames)),
                },
                options.rounds,
            )
            bound = [max(pair) for pair in zip(times["decoding alone"], times["model alone"], strict=True)]
            ratio = workload.median_ratio(times["ingestion"], bound)
            holds &= workload.verdict(
                f"all frames, model {name}, against the slower of the two", ratio, ALL_FRAMES_LIMIT
            )
        for name, work in SAMPLED_WORK.items():
            print(f"8 frames a clip, model {name}")
            submission = workload.write_model(folder / f"8 {name}", request="count=8", work=work)
            times = workload.interleave(
                {
                    "ingestion": partial(workload.ingest, phase, submission, folder / "output"),
                    "bare loop": partial(workload.run_script, SAMPLE.format(work=work), *paths),
                },
                options.rounds,
            )
            ratio = workload.median_ratio(times["ingestion"], times["bare loop"])
            holds &= workload.verdict(f"8 frames a clip, model {name}, against a bare loop", ratio, SAMPLED_LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
