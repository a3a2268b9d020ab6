"""What the walls around a model cost: the wall time of a run at the strongest tier, against the same run without any.

Whole processes, start-up included, on the same clips, in turn. Models that read frames, compute, and use many small
files: whatever could meet the kernel's checks.
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
            tier: workload.make_phase(folder / tier, options.clips, at_most=tier) for tier in ("portable", "full")
        }
        for name, (request, work) in CASES.items():
            if options.case not in {None, name}:
                continue
            print(name)
            submission = workload.write_model(folder / name, request=request, work=work)
            outputs = {tier: folder / f"output {tier}" for tier in phases}
            times = workload.interleave(
                {tier: partial(workload.ingest, phases[tier], submission, outputs[tier]) for tier in phases},
                options.rounds,
            )
            tiers = {tier: json.loads((outputs[tier] / "run.json").read_text())["isolation"] for tier in phases}
            ratio = workload.median_ratio(times["full"], times["portable"])
            holds &= workload.verdict(f"{name}: {tiers['full']} against {tiers['portable']}", ratio, LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
