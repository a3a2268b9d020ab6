"""Evaluations in shards: overhead, speed-up, memory of planner and merge, and a simulation of larger clusters.

Measured, in turn: a single run with one model, and evaluations of the same with one and two workers. Simulated with the
costs of these: one and 50 submissions of 2,000 clips on 16 workers, and what a lost worker a day repeats. The clips are
those of the practice set, repeated under other names. `--memory N` measures the planner's and the merge's memory for N
clips, with made-up answers.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ingestion_program"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from bundle_tools.cluster.drive import Driver
from bundle_tools.cluster.plan import Plan, make
from bundle_tools.codabench.competition import Task
from ingest.lanes.asker import Answer, Loaded
from ingest.shards.coding import built
from ingest.shards.cuts import cut_by_cost, cut_evenly
from ingest.shards.sealed import Facts, Writer

OVERHEAD_LIMIT, TWO_WORKERS_LIMIT = 1.03, 1 / 1.7
ONE_LIMIT, MANY_LIMIT, LOSS_LIMIT, MEMORY_LIMIT_MB = 1 / 0.85, 1 / 0.95, 0.005, 500.0
CLIPS, WORKERS, SUBMISSIONS = 2000, 16, 50
DAY_S = 86_400.0
EVIDENCE = {"space": {"rows": 9, "columns": 16, "weights": [[[0.5] * 16] * 9]}, "time": None, "cues": None}


def repeated(source: Path, folder: Path, count: int) -> Path:
    """Write an input folder of `count` clips: those of another one, again and again, with names of their own."""
    folder.mkdir()
    settings = yaml.safe_load((source / "task.yaml").read_text("utf-8"))
    settings["limits"] |= {"time_limit_s": 10**7, "workers": 1}
    (folder / "task.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    for path in source.rglob("*.mp4"):
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, target)
    clips = list(csv.DictReader((source / "clips.csv").open()))
    names = [(row["clip_id"], f"{row['clip_id']}-{number // len(clips)}") for number in range(count)
             for row in [clips[number % len(clips)]]]  # fmt: skip
    again: dict[str, list[str]] = {}
    for old, new in names:
        again.setdefault(old, []).append(new.removeprefix(old))
    copies: dict[str, str] = {}
    for table in ("clips.csv", "copies.csv"):
        rows = list(csv.DictReader((source / table).open()))
        copies |= {row["copy_id"]: row["clip_id"] for row in rows if "copy_id" in row}
        with (folder / table).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {key: value + end if key.endswith("_id") else value for key, value in row.items()}
                for row in rows
                for end in again.get(row["clip_id"], ())
            )
    texts = json.loads((source / "transcripts.json").read_text("utf-8"))
    texts = {name + end: text for name, text in texts.items() for end in again.get(copies.get(name, name), ())}
    (folder / "transcripts.json").write_text(json.dumps(texts), "utf-8")
    exchanges = json.loads((source / "exchanges.json").read_text("utf-8"))
    exchanges["clips"] = {name + end: one for name, one in exchanges["clips"].items() for end in again.get(name, ())}
    (folder / "exchanges.json").write_text(json.dumps(exchanges), "utf-8")
    return folder


def planned(folder: Path, data: Path, submission: Path, workers: int) -> tuple[Plan, Task]:
    """Return the plan of an evaluation."""
    task = Task("bench", None, workload.PROGRAM, data, None, (), ingestion_only_during_scoring=False)
    return make(folder, task, submission, {"image": None, "network": False, "workers": workers, "clips": 50}), task


def evaluate(folder: Path, data: Path, submission: Path, workers: int) -> float:
    """Evaluate in shards and return the wall time in seconds, without the copy of the data."""
    shutil.rmtree(folder, ignore_errors=True)
    plan, task = planned(folder, data, submission, workers)
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        [error] = Driver(pool, workers).run([(plan, task)])
    if error is not None:
        raise SystemExit(str(error))
    return time.perf_counter() - started


def measured(plan: Plan) -> tuple[float, float, float]:
    """Return the seconds of a clip in the first pass, in the second, and of a shard's start."""
    took = {"first": 0.0, "second": 0.0}
    starts = []
    for stage, index in plan.cut():
        result = plan.done / f"{stage}-{index}"
        asked_s = sum(one[1] for line in (result / "times.jsonl").open() for one in json.loads(line))
        starts.append(json.loads((result / "manifest.json").read_text())["facts"]["elapsed_s"] - asked_s)
        took[stage] = took.get(stage, 0.0) + asked_s
    clips = json.loads((plan.merged / "run.json").read_text())["clips"]["total"]
    return took["first"] / clips, took["second"] / clips, sum(starts) / len(starts)


def makespan(submissions: int, stages: list[list[float]], workers: int) -> float:
    """Return the seconds until all is done: the shards of a stage in their order, on whichever worker is free first."""
    free = [0.0] * workers
    ready = [(0.0, number, 0) for number in range(submissions)]
    end = 0.0
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


def simulate(first_s: float, second_s: float, start_s: float) -> bool:
    """Print the efficiency of a cluster with these costs."""
    first = [start_s + first_s * len(cut) for cut in cut_evenly(CLIPS, WORKERS)]
    second = [start_s + second_s * len(cut) for cut in cut_by_cost([second_s] * CLIPS, WORKERS)]
    repeats = [start_s + 20 * second_s / 15]
    stages = [first, [repeats[0], *second], repeats]
    alone = CLIPS * (first_s + second_s) + 2 * start_s
    holds = True
    for submissions, limit in ((1, ONE_LIMIT), (SUBMISSIONS, MANY_LIMIT)):
        took = makespan(submissions, stages, WORKERS)
        name = f"simulated: {submissions} x {CLIPS} clips on {WORKERS} workers, time against ideal"
        holds &= workload.verdict(name, took * WORKERS / (alone * submissions), limit)
    # A loss hits the middle of a shard on average.
    repeated_s = max(second) / 2
    return holds & workload.verdict("simulated: share repeated by a loss a day", repeated_s / DAY_S, LOSS_LIMIT)


def forge(plan: Plan, stage: str, index: int, task: dict[str, Any]) -> None:
    """Leave a sealed result with made-up answers."""
    text = (plan.shards / "work" / stage / f"{index}.jsonl").read_bytes()
    _, *lines = map(json.loads, text.splitlines())
    result = plan.done / f"{stage}-{index}"
    result.mkdir()
    writer = Writer(result)
    value = {target["name"]: 0.5 for target in task["targets"]}
    told = built({"$": "Told", "text": "A text that is long enough to count.", "image": None, "evidence": EVIDENCE})
    for line in lines:
        work = built(line)
        answer = Answer(value, None, (), {"predict": 0.1}, took_s=0.1)
        writer.add(work, [replace(answer, explanation=told if one.explains else None) for one in work.askings])
    listed = json.loads((plan.shards / "work" / stage / "cut.json").read_text())
    place = {"plan": plan.name, "stage": stage, "index": index, "works_sha256": listed[index]["sha256"]}
    loaded = Loaded("made up", 0.1, None, alone=False, cores=1.0)
    writer.seal(place, Facts(loaded=loaded), b"", plan.key(stage, index))


def memory_mb(folder: Path, data: Path, submission: Path) -> float:
    """Plan and merge with made-up answers; return the largest memory of any step, MB."""
    plan, task = planned(folder, data, submission, WORKERS)
    settings = yaml.safe_load((data / "task.yaml").read_text("utf-8"))
    while not plan.merged.exists():
        started = time.perf_counter()
        plan.step(task)
        print(f"  a step: {time.perf_counter() - started:.1f} s; so far {_peak_mb():.0f} MB", flush=True)
        for stage, index in plan.missing():
            forge(plan, stage, index, settings)
    return _peak_mb()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=240, help="clips of a measured run (default 240)")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is measured (default 2)")
    parser.add_argument("--memory", type=int, default=0, help="clips for which memory is measured (default: none)")
    parser.add_argument("--submission", type=Path, default=workload.ROOT / "solutions" / "cue_reader")
    options = parser.parse_args()
    holds = True
    workload.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=workload.CACHE.parent) as temporary:
        folder = Path(temporary)
        practice = workload.ROOT / "input_data" / "practice"
        if options.memory:
            many = repeated(practice, folder / "many", options.memory)
            used = memory_mb(folder / "memory", many, options.submission)
            return 0 if workload.verdict(f"planner and merge, {options.memory} clips, MB", used, MEMORY_LIMIT_MB) else 1
        data = repeated(practice, folder / "data", options.clips)
        cases = {
            "one run": lambda: workload.ingest(data, options.submission, folder / "output"),
            "one worker": lambda: evaluate(folder / "one", data, options.submission, 1),
            "two workers": lambda: evaluate(folder / "two", data, options.submission, 2),
        }
        times = workload.interleave(cases, options.rounds)
        ratio = workload.median_ratio(times["one worker"], times["one run"])
        holds &= workload.verdict("one worker against a single run", ratio, OVERHEAD_LIMIT)
        ratio = workload.median_ratio(times["two workers"], times["one worker"])
        holds &= workload.verdict("two workers against one", ratio, TWO_WORKERS_LIMIT)
        costs = measured(Plan(folder / "one"))
        print(
            "seconds of a clip in the first pass, in the second, and of a start: {:.2f}, {:.2f}, {:.2f}".format(*costs)
        )
        holds &= simulate(*costs)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
