"""Memory of ingestion: both processes together, on 15 s clips at 1280 x 720, for few and for many clips.

Counted as proportional set size: memory that both processes share counts once.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

LIMIT_MB = 400.0
GROWTH_LIMIT = 1.05
REQUESTS = {"all frames": "", "8 frames": "count=8", "32 frames": "count=32", "all frames at 224": "size=(224, 224)"}


def peak_mb(phase: Path, submission: Path, output: Path) -> float:
    """Run ingestion and return the peak of what its processes use together, in MB."""
    program = workload.PROGRAM
    command = [sys.executable, str(program / "ingestion.py"), *map(str, (phase, output, program, submission))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        root = psutil.Process(process.pid)
        peak = 0
        while process.poll() is None:
            total = 0
            try:
                for member in (root, *root.children(recursive=True)):
                    total += member.memory_full_info().pss
            except psutil.Error:  # it has just ended
                continue
            peak = max(peak, total)
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit("ingestion failed")
    return peak / 2**20


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", type=int, default=24, help="clips of the short run (default 24)")
    parser.add_argument("--many", type=int, default=240, help="clips of the long run (default 240)")
    options = parser.parse_args()
    holds = True
    workload.make_clips()
    with tempfile.TemporaryDirectory(dir=workload.CACHE.parent) as temporary:
        folder = Path(temporary)
        few = workload.make_phase(folder / "few", options.few)
        many = workload.make_phase(folder / "many", options.many)
        for name, request in REQUESTS.items():
            submission = workload.write_model(folder / name, request=request)
            peak = peak_mb(few, submission, folder / "output")
            holds &= workload.verdict(f"{name}, {options.few} clips, MB", peak, LIMIT_MB)
            if name == "8 frames":
                longer = peak_mb(many, submission, folder / "output")
                holds &= workload.verdict(f"{name}, {options.many} clips, MB", longer, LIMIT_MB)
                growth = f"{name}, {options.many} against {options.few} clips"
                holds &= workload.verdict(growth, longer / peak, GROWTH_LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
