"""Whole evaluations side by side: two submissions on two cores with two workers, against one worker on one core."""

import argparse
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
LIMIT = 1 / 1.8


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


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1, help="rounds (default 1)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as temporary:
        cases = {f"workers: {count}": evaluating(Path(temporary), count) for count in (1, 2)}
        times = workload.interleave(cases, rounds)
    ratio = workload.median_ratio(times["workers: 2"], times["workers: 1"])
    return not workload.verdict("two workers on two cores against one on one", ratio, LIMIT)


if __name__ == "__main__":
    sys.exit(main())
