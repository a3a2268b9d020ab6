"""Cost of the sandbox: the wall time of a run at the strongest level, compared with a run without one.

Whole processes, start-up included, run alternately on the same clips. The models read frames, compute, and use many
small files, to exercise the kernel's checks.
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

LIMIT = 1.05
CASES = {
    "all frames": ("", "pass"),
    "8 frames, computing": ("count=8", "[np.square(frame, dtype=np.float32).sum() for _ in range(3)]"),
    "8 frames, 200 small files each": (
        "count=8",
        "[open(f'note{i}', 'w').write('x') and open(f'note{i}').read() for i in range(200)]",
    ),
}


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=24, help="clips a run (default 24)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each case (default 5)")
    parser.add_argument("--case", choices=CASES, help="only this one")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory(dir=workload.CACHE.parent if workload.CACHE.exists() else None) as temporary:
        folder = Path(temporary)
        phases = {
            level: workload.make_phase(folder / level, options.clips, at_most=level) for level in ("portable", "full")
        }
        for name, (request, work) in CASES.items():
            if options.case not in {None, name}:
                continue
            print(name)
            submission = workload.write_model(folder / name, request=request, work=work)
            outputs = {level: folder / f"output {level}" for level in phases}
            times = workload.interleave(
                {level: partial(workload.ingest, phases[level], submission, outputs[level]) for level in phases},
                options.rounds,
            )
            levels = {level: json.loads((outputs[level] / "run.json").read_text())["isolation"] for level in phases}
            ratio = workload.median_ratio(times["full"], times["portable"])
            holds &= workload.verdict(f"{name}: {levels['full']} against {levels['portable']}", ratio, LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
