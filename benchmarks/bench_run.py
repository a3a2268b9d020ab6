"""Whole runs: processor time and memory of ingestion, against decoding alone and against the build of another commit.

Ingestion's own time is that of its process, without the models. The bound is that of decoding once what a run shows:
each clip for the first pass, and each clip, exchange and copy for the second. Memory is the proportional set (PSS) of
its process, sampled: what it shares with the models counts half.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

RATIO_LIMIT = 1.0
"""Largest ratio of any figure to the other build's."""
SAMPLED_S = 0.05
MODELS = (1, 2, 4)
"""Model processes side by side in the measurements of memory."""
LARGE_REQUEST = "count=16, size=(320, 180)"
CHILD = """\
import json, resource, runpy, sys, time
out = sys.argv.pop()
started = time.perf_counter()
del sys.argv[0]
sys.path.insert(0, sys.argv[0].removesuffix("/ingestion.py"))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([time.perf_counter() - started, *(one.ru_utime + one.ru_stime for one in used)]), file=open(out, "w"))
"""
DECODE = """\
import resource, sys, cv2
for path in sys.argv[1:]:
    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    while capture.grab():
        pass
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""


@dataclass(frozen=True)
class Cost:
    """What one run of ingestion took."""

    wall_s: float
    own_s: float
    """Processor time of ingestion's process."""
    models_s: float
    """Processor time of all models."""
    peak_mb: float
    """Largest proportional set of ingestion's process."""


def proportional_mb(process: int) -> float:
    """Return the proportional set of a process, MB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def measure(program: Path, phase: Path, submission: Path) -> Cost:
    """Run ingestion once; raises SystemExit when a clip failed."""
    with tempfile.TemporaryDirectory() as temporary:
        output, figures = Path(temporary) / "output", Path(temporary) / "figures.json"
        words = map(str, (program / "ingestion.py", phase, output, program, submission, figures))
        process = subprocess.Popen([sys.executable, "-c", CHILD, *words], stdout=subprocess.PIPE, text=True)
        sizes, ended = [0.0], threading.Event()

        def sample() -> None:
            while not ended.wait(SAMPLED_S):
                sizes.append(proportional_mb(process.pid))

        sampler = threading.Thread(target=sample)
        sampler.start()
        printed, _ = process.communicate()
        ended.set()
        sampler.join()
        run = json.loads((output / "run.json").read_text()) if (output / "run.json").exists() else {}
        if process.returncode or run["clips"]["ok"] != run["clips"]["total"]:
            raise SystemExit(printed)
        wall_s, own_s, models_s = json.loads(figures.read_text())
        return Cost(wall_s, own_s, models_s, max(sizes))


def program_of(commit: str, folder: Path) -> Path:
    """Return the ingestion program of another commit, taken out of the repository into a folder."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit, "ingestion_program"],  # noqa: S607 - the user's own
        cwd=workload.ROOT,
        check=True,
        capture_output=True,
    )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "ingestion_program"


def decoded_files(phase: Path) -> list[str]:
    """Return each file as often as a run has to decode it."""
    clips, others = sorted((phase / "clips").glob("*.mp4")), ("exchanges", "copies")
    return [str(path) for path in (*clips, *clips, *(file for name in others for file in (phase / name).glob("*.mp4")))]


def decode_s(phase: Path) -> float:
    """Return the processor time of decoding a phase's files."""
    command = [sys.executable, "-c", DECODE, *decoded_files(phase)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def with_workers(phase: Path, folder: Path, workers: int) -> Path:
    """Return a copy of a phase whose settings start so many models; its clips are links."""
    folder.mkdir()
    for file in phase.iterdir():
        if file.name != "task.yaml":
            (folder / file.name).symlink_to(file.resolve())
    settings = yaml.safe_load((phase / "task.yaml").read_text())
    settings["limits"] = {**settings["limits"], "workers": workers, "memory_mb": 1024}
    settings["probes"] = {**settings["probes"], "operators": ["blur"]}  # earlier builds ask for it
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    return folder


def compare(name: str, phase: Path, submission: Path, programs: Mapping[str, Path], rounds: int) -> bool:
    """Print what a run costs with each program; return whether this one costs no more than the other."""
    print(f"{name}: {submission.name}")
    costs: dict[str, list[Cost]] = {build: [] for build in programs}
    for number in range(rounds):
        for build, program in [*programs.items()][:: -1 if number % 2 else 1]:
            costs[build].append(measure(program, phase, submission))
    for build, measured in costs.items():
        spans = [f"{min(values):.1f} to {max(values):.1f}" for values in zip(*map(astuple, measured), strict=True)]
        print(
            f"  {build}: wall {spans[0]} s, ingestion {spans[1]} s, models {spans[2]} s, {spans[3]} MB; "
            f"{min(cost.own_s for cost in measured) / decode_s(phase):.2f} times decoding alone"
        )
    holds = True
    if len(costs) > 1:
        other, ours = costs.values()
        for place, what in enumerate(("wall time", "ingestion's own time", "models' time", "memory")):
            pairs = ([astuple(cost)[place] for cost in build] for build in (ours, other))
            holds &= workload.verdict(f"{what} against the other build", workload.median_ratio(*pairs), RATIO_LIMIT)
    return holds


def main() -> int:
    """Measure and print; the exit code tells whether this build costs no more than the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", help="also run the ingestion program of this commit, in turn")
    parser.add_argument("--rounds", type=int, default=1, help="rounds (default 1)")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs = {} if options.against is None else {options.against: program_of(options.against, folder / "other")}
        case = partial(compare, programs={**programs, "this build": workload.PROGRAM}, rounds=options.rounds)
        practice, solutions = workload.ROOT / "input_data" / "practice", workload.ROOT / "solutions"
        for solution in ("cue_reader", "network"):
            holds &= case("Practice", with_workers(practice, folder / solution, 2), solutions / solution)
        large = workload.make_phase(folder / "large", 12, exchanges=True)
        model = workload.write_model(folder / "reader", request=LARGE_REQUEST)
        holds &= case("12 clips of 15 s, 720p", with_workers(large, folder / "two", 2), model)
        peaks = {
            workers: measure(
                workload.PROGRAM,
                with_workers(practice, folder / f"practice{workers}", workers),
                solutions / "cue_reader",
            ).peak_mb
            for workers in MODELS
        }
        print("Practice, MB in ingestion: " + ", ".join(f"{mb:.0f} with {count} models" for count, mb in peaks.items()))
        each, own = np.polyfit([*peaks], [*peaks.values()], 1)
        print(f"docs/operator.md: ingestion takes {own:.0f} MB and {each:.0f} MB a model")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
