"""Scoring 2,000 clips and about 24,000 calls on perturbed copies, with 1,000 resamples, pictures and the report."""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from tests.scoring.factory import make_case, make_input

SECONDS_LIMIT, MB_LIMIT, PAGE_MB_LIMIT = 20.0, 400.0, 5.0


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=2000, help="number of clips (default 2000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        case = make_case(
            clips=options.clips,
            bootstrap={"resamples": 1000, "level": 0.95, "seed": 1},
            report={"clips": True, "truth": True, "gallery": 24},
        )
        make_input(folder / "input", case)
        command = [
            sys.executable,
            str(workload.ROOT / "scoring_program" / "scoring.py"),
            str(folder / "input"),
            str(folder / "output"),
        ]
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy, cv2, yaml, jinja2"], check=True)
        imports = time.perf_counter() - started
        # The largest child of this process: Linux counts kilobytes, macOS bytes.
        unit = 2**20 if sys.platform == "darwin" else 2**10
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
        page = (folder / "output" / "detailed_results.html").stat().st_size / 1e6
    print(f"{options.clips} clips: {seconds / imports:.1f} times the import of its libraries ({imports:.2f} s)")
    holds = workload.verdict("scoring, s", seconds, SECONDS_LIMIT)
    holds &= workload.verdict("memory, MB", peak, MB_LIMIT)
    holds &= workload.verdict("detailed_results.html, MB", page, PAGE_MB_LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
