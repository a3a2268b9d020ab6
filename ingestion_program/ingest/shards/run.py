"""Run one shard: ask a model about some clips, and seal what it says."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ingest.clips.table import check_file
from ingest.clock import Clock
from ingest.confined.guard import end_descendants, harden_process
from ingest.confined.processor import Meter
from ingest.confined.watchdog import Watchdog
from ingest.errors import IngestionError, Problem
from ingest.lanes.lane import Lane
from ingest.log import say
from ingest.model.process import LoadFailed, ModelProcess
from ingest.probes.stage import share_frames
from ingest.settings import read_task
from ingest.shards.coding import built
from ingest.shards.frozen import SETTINGS, compare, freeze
from ingest.shards.names import PLAN, identity
from ingest.shards.sealed import Facts, Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ingest.lanes.asker import Answer, Loaded, Pass, Work
    from ingest.media.clip import ClipSource

WORKS = "works.jsonl"
UNCOUNTED = 10**9
"""Restarts of a shard: only the merge, which sees all answers in order, can tell which one is the last."""


@dataclass(frozen=True)
class Order:
    """What a shard is told besides its works."""

    key: bytes
    """For the seal of this shard alone."""
    facts: Mapping[str, Any]
    """What the caller froze: the program's hash and the image."""


def run_shard(
    *, shard: Path, input_data: Path, output: Path, submission: Path, packages: Path | None, order: Order
) -> None:
    """Write the sealed result of one shard into `output`.

    Raises
    ------
    IngestionError
        When the machine, its data or its programs are not those of the plan.
    """
    clock, meter = Clock(), Meter()
    harden_process()
    plan = json.loads((shard / PLAN).read_text("utf-8"))
    compare(plan, freeze(input_data, submission, order.facts))
    text = (shard / WORKS).read_bytes()
    head, *lines = map(json.loads, text.splitlines())
    problems: list[Problem] = []
    for name, sha256 in head["files"].items():
        check_file(input_data, name, sha256, f"file {name}", problems)
    if problems:
        raise IngestionError(problems)
    task = read_task(input_data / SETTINGS)
    clock.set_limit(task.limits.time_limit_s)
    watchdog = Watchdog(_give_up)
    watchdog.start(task.limits.time_limit_s, clock.elapsed_s())
    uncounted = replace(task, limits=replace(task.limits, restarts=UNCOUNTED))
    model = ModelProcess(submission, packages, task.limits, task.isolation)
    lane = Lane(model, uncounted, clock, hidden=not task.feedback.model_output)
    writer = Writer(output)
    try:
        first = head["stage"] == "first"
        warm_up = [work.askings[0].shown for work in build_works(lines, input_data)] if first else []
        loaded, stopped_by = _ask(lane, warm_up, build_works(lines, input_data), built(head["pass"]), writer)
    finally:
        lane.stop()
        watchdog.disarm()
    facts = Facts(
        loaded=loaded,
        stopped_by=stopped_by,
        held=lane.held,
        refused=dict(lane.refused),
        used=meter.read(clock.elapsed_s(), lane.waited_s),
        machine=f"{platform.node()}: {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        elapsed_s=clock.elapsed_s(),
    )
    place = {"plan": identity(plan), "stage": head["stage"], "index": head["index"]}
    sha256 = hashlib.sha256(text).hexdigest()
    writer.seal({**place, "works_sha256": sha256}, facts, lane.output(), order.key)
    say(f"[shards] {head['stage']} {head['index']}: sealed after {clock.elapsed_s():.1f} s")


def build_works(lines: Iterable[Any], input_data: Path) -> Iterator[Work]:
    """Yield the works of a shard. Each is built in its turn: the frames that its calls share can take 160 MB."""
    for line in lines:
        work: Work = built(line, input_data)
        share_frames(asking.shown for asking in work.askings)
        yield work


def _ask(
    lane: Lane, warm_up: Sequence[ClipSource], works: Iterable[Work], how: Pass, writer: Writer
) -> tuple[Loaded | None, Problem | None]:
    """Ask all works; return what was loaded, and why works are left open."""
    try:
        loaded = lane.start(warm_up)
    except LoadFailed as failure:
        return None, failure.problem
    answers: list[Answer] = []
    for work, _, answer in lane.ask(works, how):
        answers.append(answer)
        if len(answers) == len(work.askings):
            writer.add(work, answers)
            answers.clear()
    if answers:  # it stopped in the middle of a work
        writer.add(work, answers)
    return loaded, lane.stopped_by


def _give_up() -> bool:
    """End a shard that hangs: without a seal it counts as lost."""
    end_descendants()
    return False
