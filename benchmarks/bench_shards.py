"""Evaluations in shards: overhead, speed-up, a simulation of larger clusters, and the memory of planner and merge.

Measured: a single run of the practice clips with one model on one core, and evaluations of the same with one worker
there, and with two on two cores; otherwise the programs beside a model would use the second core already. From their
costs follow the ratios for 240 clips and, on 16 workers, those of one and 50 submissions of 2,000 clips, and what a
lost worker a day repeats. `--memory N` measures memory instead, for about N clips with made-up answers.
"""

import argparse
import csv
import heapq
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ingestion_program"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from ingest.lanes.asker import Answer, Loaded
from ingest.shards.coding import built
from ingest.shards.cuts import cut_by_cost, cut_evenly
from ingest.shards.sealed import Facts, Writer

from benchmarks import workload
from bundle_tools.cluster.drive import Driver
from bundle_tools.cluster.plan import Plan, make
from bundle_tools.codabench.competition import Task
from ingest.model.asking import Told

PRACTICE, MODEL = workload.ROOT / "input_data" / "practice", workload.ROOT / "solutions" / "cue_reader"
OVERHEAD_LIMIT, TWO_WORKERS_LIMIT, LOSS_LIMIT_S, MEMORY_LIMIT_MB = 1.03, 1 / 1.7, 0.005 * 86_400, 500.0
REPEATED = 20
"""Most calls that are repeated at the end."""
EVIDENCE = {"space": {"rows": 9, "columns": 16, "weights": [[[0.5] * 16] * 9]}, "time": None, "cues": None}


def written(folder: Path, times: int) -> Path:
    """Write the practice clips as an input folder, several times under names of their own."""
    shutil.copytree(PRACTICE, folder, copy_function=os.link, ignore=shutil.ignore_patterns("*.csv", "*.json", "*.yaml"))
    settings = yaml.safe_load((PRACTICE / "task.yaml").read_text("utf-8"))
    settings["limits"] |= {"time_limit_s": 10**7, "workers": 1}
    (folder / "task.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    for name in ("clips.csv", "copies.csv"):
        rows = list(csv.DictReader((PRACTICE / name).open()))
        lines = [[v + f"-{n}" * k.endswith("_id") for k, v in row.items()] for n in range(times) for row in rows]
        (folder / name).write_text("".join(",".join(line) + "\n" for line in [list(rows[0]), *lines]))
    texts, exchanges = (
        json.loads((PRACTICE / f"{name}.json").read_text("utf-8")) for name in ("transcripts", "exchanges")
    )
    exchanges["clips"] = {f"{name}-{n}": one for n in range(times) for name, one in exchanges["clips"].items()}
    (folder / "exchanges.json").write_text(json.dumps(exchanges))
    (folder / "transcripts.json").write_text(
        json.dumps({f"{k}-{n}": v for n in range(times) for k, v in texts.items()})
    )
    return folder


def planned(folder: Path, data: Path, workers: int) -> tuple[Plan, Task]:
    """Return the plan of an evaluation."""
    task = Task("bench", None, workload.PROGRAM, data, None, (), ingestion_only_during_scoring=False)
    return make(folder, task, MODEL, {"image": None, "network": False, "workers": workers, "clips": 50}), task


def evaluate(folder: Path, data: Path, workers: int) -> float:
    """Evaluate in shards and return the wall time in seconds, without the copy of the data."""
    shutil.rmtree(folder, ignore_errors=True)
    plan = planned(folder, data, workers)
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        [error] = Driver(pool, workers).run([plan])
    if error is not None:
        raise SystemExit(str(error))
    return time.perf_counter() - started


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and all that it starts, on one core where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


class Costs(NamedTuple):
    """Mean seconds of a clip in both passes, and of a shard's start."""

    first: float
    second: float
    start: float

    @classmethod
    def of(cls, plan: Plan) -> "Costs":
        """Read what an evaluation has recorded."""
        took, starts = dict.fromkeys(("first", "again", "second", "repeats"), 0.0), []
        for stage, index in plan.cut():
            result = plan.done / f"{stage}-{index}"
            asked_s = sum(one[1] for line in (result / "times.jsonl").open() for one in json.loads(line))
            starts.append(json.loads((result / "manifest.json").read_text())["facts"]["elapsed_s"] - asked_s)
            took[stage] += asked_s
        clips = json.loads((plan.merged / "run.json").read_text())["clips"]["total"]
        return cls(took["first"] / clips, took["second"] / clips, sum(starts) / len(starts))

    def stages(self, clips: int, workers: int) -> list[list[float]]:
        """Return the seconds of all shards of an evaluation, stage by stage."""
        first = [self.start + self.first * len(cut) for cut in cut_evenly(clips, workers)]
        second = [self.start + self.second * len(cut) for cut in cut_by_cost([self.second] * clips, workers)]
        repeats = self.start + REPEATED * self.second / 15
        return [first, [repeats, *second], [repeats]]

    def alone(self, clips: int) -> float:
        """Return the seconds of a single run."""
        return clips * (self.first + self.second) + 2 * self.start


def makespan(submissions: int, stages: list[list[float]], workers: int) -> float:
    """Return the seconds until all is done: the shards of a stage in their order, on whichever worker is free first."""
    free, end = [0.0] * workers, 0.0
    ready = [(0.0, number, 0) for number in range(submissions)]
    while ready:
        now, number, stage = heapq.heappop(ready)
        last = now
        for shard_s in stages[stage]:
            begin = max(now, heapq.heappop(free))
            heapq.heappush(free, begin + shard_s)
            last = max(last, begin + shard_s)
        if stage + 1 < len(stages):
            heapq.heappush(ready, (last, number, stage + 1))
        end = max(end, last)
    return end


def simulate(costs: Costs, clips: int = 2000, workers: int = 16) -> bool:
    """Print the efficiency of a cluster with these costs."""
    stages, holds = costs.stages(clips, workers), True
    for submissions, limit in ((1, 1 / 0.85), (50, 1 / 0.95)):
        ideal = costs.alone(clips) * submissions / workers
        name = f"simulated: {submissions} x {clips} clips on {workers} workers, time against ideal"
        holds &= workload.verdict(name, makespan(submissions, stages, workers) / ideal, limit)
    # A loss hits the middle of a shard on average.
    return holds & workload.verdict("simulated: seconds repeated by a loss a day", max(stages[1]) / 2, LOSS_LIMIT_S)


def forge(plan: Plan, stage: str, index: int, targets: list[str]) -> None:
    """Leave a sealed result with made-up answers."""
    text = (plan.shards / "work" / stage / f"{index}.jsonl").read_text("ascii")
    result = plan.done / f"{stage}-{index}"
    result.mkdir()
    writer = Writer(result)
    told = Told("A text that is long enough to count.", None, EVIDENCE)
    answer = Answer(dict.fromkeys(targets, 0.5), None, (), {"predict": 0.1}, took_s=0.1)
    for work in (built(json.loads(line)) for line in text.splitlines()[1:]):
        writer.add(work, [replace(answer, explanation=told if one.explains else None) for one in work.askings])
    listed = json.loads((plan.shards / "work" / stage / "cut.json").read_text())
    place = {"plan": plan.name, "stage": stage, "index": index, "works_sha256": listed[index]["sha256"]}
    writer.seal(place, Facts(loaded=Loaded("made up", 0.1, None, alone=False, cores=1.0)), b"", plan.key(stage, index))


def memory_mb(folder: Path, data: Path) -> float:
    """Plan and merge with made-up answers; return the largest memory of any step, MB."""
    plan, task = planned(folder, data, workers=16)
    targets = [target["name"] for target in yaml.safe_load((data / "task.yaml").read_text("utf-8"))["targets"]]
    while not plan.merged.exists():
        plan.step(task)
        for shard in plan.missing():
            forge(plan, *shard, targets)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=24, help="clips of a measured run (default 24)")
    parser.add_argument("--memory", type=int, default=0, help="clips for which memory is measured (default: none)")
    options = parser.parse_args()
    workload.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workload.CACHE.parent) as temporary:
        folder = Path(temporary)
        data = written(folder / "data", -(-(options.memory or options.clips) // 24))
        if options.memory:
            return not workload.verdict("planner and merge, MB", memory_mb(folder / "plan", data), MEMORY_LIMIT_MB)
        cases = {
            "one run": one_core()(lambda: workload.ingest(data, MODEL, folder / "output")),
            "one worker": one_core()(lambda: evaluate(folder / "one", data, 1)),
            "two workers": lambda: evaluate(folder / "two", data, 2),
        }
        times = {name: took_s for name, [took_s] in workload.interleave(cases, 1).items()}
        one, two = (Costs.of(Plan(folder / name)) for name in ("one", "two"))
    print("seconds of a clip in the first pass, in the second, and of a start: {:.2f}, {:.2f}, {:.2f}".format(*one))
    stages = one.stages(240, 1)
    # What a shard costs beside its answers, planning included, does not grow with the clips.
    extra_s = (times["one worker"] - times["one run"]) / 4 * sum(map(len, stages))
    holds = workload.verdict("240 clips: one worker against a single run", 1 + extra_s / one.alone(240), OVERHEAD_LIMIT)
    ratio = makespan(1, two.stages(240, 2), 2) / makespan(1, stages, 1)
    holds &= workload.verdict("240 clips: two workers against one", ratio, TWO_WORKERS_LIMIT)
    return not (holds & simulate(one))


if __name__ == "__main__":
    sys.exit(main())
