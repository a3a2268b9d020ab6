"""Whole runs: one with its second pass, and two submissions side by side on two cores against one core."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

MODEL = workload.ROOT / "solutions" / "cue_reader"
SIDE_BY_SIDE_LIMIT = 1 / 1.8
RUN_LIMIT_S = 120.0


def evaluating(folder: Path, workers: int) -> Callable[[], float]:
    """Return what evaluates two copies of a solution on as many cores as workers, and tells the seconds."""
    submissions = [folder / "one", folder / "two"]
    for submission in submissions:
        if not submission.exists():
            shutil.copytree(MODEL, submission)

    def evaluate() -> float:
        out = folder / f"out{workers}"
        shutil.rmtree(out, ignore_errors=True)
        words = ["evaluate", *map(str, submissions), "--out", str(out), "--workers", str(workers)]
        every = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(every)[:workers])
        try:
            started = time.perf_counter()
            command = [sys.executable, "-m", "bundle_tools.cli.main", *words]
            subprocess.run(command, cwd=workload.ROOT, check=True, stdout=subprocess.DEVNULL)
            return time.perf_counter() - started
        finally:
            os.sched_setaffinity(0, every)

    return evaluate


def measure_run(folder: Path) -> bool:
    """Print how long ingestion of the practice set takes; return whether that is within the limit."""
    seconds = workload.ingest(workload.ROOT / "input_data" / "practice", MODEL, folder / "output")
    probes = json.loads((folder / "output" / "run.json").read_text())["probes"]
    complete = probes is not None and probes["asked"] == probes["planned"]
    return workload.verdict("practice set with cue_reader, seconds in all", seconds, RUN_LIMIT_S) and complete


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1, help="rounds (default 1)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as temporary:
        holds = measure_run(Path(temporary))
        cases = {f"workers: {count}": evaluating(Path(temporary), count) for count in (1, 2)}
        times = workload.interleave(cases, rounds)
    ratio = workload.median_ratio(times["workers: 2"], times["workers: 1"])
    return not workload.verdict("two workers on two cores against one on one", ratio, SIDE_BY_SIDE_LIMIT) or not holds


if __name__ == "__main__":
    sys.exit(main())
