"""What is killed is run again; what the model did is not; nobody is left behind."""

from __future__ import annotations

import errno
import io
import json
import multiprocessing
import random
import sys
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import psutil
import pytest
from ingest.shards import __main__ as steps

from bundle_tools.cluster import drive as drive_module
from bundle_tools.cluster.drive import Driver, Tally
from bundle_tools.cluster.plan import Plan, make
from bundle_tools.cluster.shard import ShardDiffers, run_shard
from bundle_tools.errors import BundleError
from tests.cluster.conftest import MADE, drive, task_of
from tests.ingestion.conftest import Outcome
from tests.ingestion.lanes.test_same_bytes import what_counts

if TYPE_CHECKING:
    from collections.abc import Callable

STAGES = ("first", "again", "second", "repeats")


def programs(plan: Plan) -> list[psutil.Process]:
    """Return the running programs of a plan's shards."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if "ingest.shards" in words and any(str(plan.folder) in word for word in words):
            found.append(process)
    return found


def wait_for(condition: Callable[[], object]) -> None:
    while not condition():
        time.sleep(0.01)


def kill_one_of_each_stage(plan: Plan, over: Event, killed: list[str]) -> None:
    """Kill the first shard of every stage at a drawn moment soon after its start."""
    draw = random.Random(5)  # noqa: S311 - a moment, no secret
    while not over.wait(0.01):
        for process in programs(plan):
            try:
                words = " ".join(process.cmdline())
                for stage in STAGES:
                    if f"/.{stage}-" in words and stage not in killed:
                        time.sleep(draw.uniform(0, 0.2))
                        process.kill()
                        killed.append(stage)
            except psutil.Error:
                continue


def drive_elsewhere(folder: Path, input_data: Path, program: Path) -> None:
    """Drive a plan, as a process that can be killed."""
    drive(Plan(folder), task_of(input_data, program))


@pytest.mark.slow
def test_workers_and_driver_killed_in_every_stage_change_no_byte(
    small_phase: Path, crashing: Path, sealing: Path, one_run: Outcome, tmp_path: Path
) -> None:
    task = task_of(small_phase, sealing)
    plan = make(tmp_path / "plan", task, crashing, MADE)
    driver = multiprocessing.get_context("spawn").Process(
        target=drive_elsewhere, args=(plan.folder, small_phase, sealing)
    )
    driver.start()
    wait_for(lambda: list(plan.done.glob("first-*")))
    with pytest.raises(BundleError, match="another `bundle evaluate` is at work here"), plan.held():
        pass
    wait_for(lambda: programs(plan))
    driver.kill()
    driver.join()
    wait_for(lambda: not programs(plan))  # the driver's end is theirs
    over, killed = Event(), list[str]()
    killer = Thread(target=kill_one_of_each_stage, args=(plan, over, killed))
    killer.start()
    try:
        drive(plan, task)
    finally:
        over.set()
        killer.join()
    assert set(killed) >= set(STAGES[1:])
    assert what_counts(Outcome(0, plan.merged, "")) == what_counts(one_run)
    assert not list(plan.done.glob(".*"))


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_model_that_cannot_be_loaded_is_no_loss(planned: Callable[..., tuple[Plan, object]], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("raise SystemExit(3)")
    submission = tmp_path / "broken"
    submission.mkdir()
    (tmp_path / "model.py").rename(submission / "model.py")
    plan, task = planned(submission=submission)
    tally = drive(plan, task).tally.line()  # type: ignore[arg-type]
    assert "0 lost" in tally
    run = Outcome(1, plan.merged, "").json("run.json")
    assert run["status"] == "invalid"
    assert run["problems"][0]["stage"] == "load"


class FakePlan(Plan):
    """A plan of one stage with three shards, of which nothing is ever run."""

    def key(self, *_: object) -> bytes:
        return b""


def lose(monkeypatch: pytest.MonkeyPatch, times: int, error: Exception) -> str:
    """Lose shard 1 some times; return how it went."""
    left = [times]

    def run(folder: Path, stage: str, index: int, out: Path, key: bytes) -> None:
        if index == 1 and left[0]:
            left[0] -= 1
            raise error

    monkeypatch.setattr(drive_module, "run_shard", run)
    monkeypatch.setattr(drive_module, "elapsed_s", lambda _: 3600.0)
    with ThreadPoolExecutor(2) as pool:
        driver = Driver(pool, 2)
        driver._run_all(FakePlan(Path("plan")), [("first", index) for index in range(3)], Path("out"))
    return driver.tally.line()


def test_a_shard_is_tried_three_times_and_then_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        lose(monkeypatch, 0, OSError()) == "shards: 3 of 3 done, 0 running, 0 lost; about 0:00 h left in these stages"
    )
    assert "3 of 3 done, 0 running, 2 lost" in lose(monkeypatch, 2, BundleError("no result"))
    with pytest.raises(BundleError, match="plan: shard first 1 was lost 3 times, at last: no result"):
        lose(monkeypatch, 3, BundleError("no result"))
    with pytest.raises(BundleError, match="plan: the scheduler has gone away"):
        lose(monkeypatch, 1, CancelledError())
    with pytest.raises(ShardDiffers, match="other answers"):
        lose(monkeypatch, 1, ShardDiffers("other answers"))


def test_a_drawn_shard_that_says_something_else_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan, said = FakePlan(tmp_path / "plan"), ["same", "same", "other"]

    def run(folder: Path, stage: str, index: int, out: Path, key: bytes) -> None:
        (out / f"{stage}-{index}").mkdir(parents=True)
        manifest = {"files": {"answers.jsonl": said.pop(0)}, "facts": {"elapsed_s": 1.0}}
        (out / f"{stage}-{index}" / "manifest.json").write_text(json.dumps(manifest))

    monkeypatch.setattr(drive_module, "run_shard", run)
    with ThreadPoolExecutor(1) as pool:
        driver = Driver(pool, 1)
        driver._run_all(plan, [("first", 0)], plan.done)
        driver._verify(plan, [("first", 0)])
        with pytest.raises(BundleError, match="shard_differs: plan: a second run of first 0 gave other answers"):
            driver._verify(plan, [("first", 0)])
    assert not list(plan.folder.glob(".*"))


def test_the_time_left_follows_from_what_is_done() -> None:
    tally = Tally(2)
    assert "time left unknown" in tally.line()
    tally.add(total=5)
    tally.add(done=1, took_s=1800.0)
    assert tally.line() == "shards: 1 of 5 done, 2 running, 0 lost; about 1:00 h left in these stages"


def test_a_full_disk_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "/results/answers.jsonl")

    monkeypatch.setattr(steps, "_do", full)
    monkeypatch.setattr(steps, "_end_with_parent", lambda: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO("{}\n"))
    assert steps.main(["run"]) == 2
    assert capsys.readouterr().out.startswith("[shards] disk_full · /results/answers.jsonl · found no room")


HUNTER = """\
import os, pathlib

KEY = bytes.fromhex("ab" * 32)

def holds(path):
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError:
        return False
    return KEY in content or KEY.hex().encode() in content

class Model:
    def __init__(self, assets):
        places = [f"/proc/{pid}/{name}" for pid in ("self", os.getppid()) for name in ("environ", "cmdline", "mem")]
        places += [f"/proc/self/fd/{number}" for number in range(3, 64)]
        places += [path for folder in (assets, assets.parent, os.getcwd()) for path in pathlib.Path(folder).rglob("*")]
        self.found = [str(path) for path in places if holds(path)]

    def predict(self, clip):
        return {"warmth": 0.0 + bool(self.found), "interview": 0.5}

    def explain(self, clip, prediction):
        return {"text": f"Places where the key was found: {self.found}."}
"""


@pytest.mark.usefixtures("forked")
def test_a_model_that_hunts_the_key_finds_nothing(planned: Callable[..., tuple[Plan, object]], tmp_path: Path) -> None:
    (tmp_path / "hunter").mkdir()
    (tmp_path / "hunter" / "model.py").write_text(HUNTER)
    plan, _ = planned(submission=tmp_path / "hunter")
    run_shard(plan.folder, "first", 0, plan.done, bytes.fromhex("ab" * 32))
    lines = (plan.done / "first-0" / "answers.jsonl").read_text().splitlines()
    told = [json.loads(line)["answers"][0]["explanation"] for line in lines]
    assert [one and one["text"] for one in told] == ["Places where the key was found: []."] * 2 + [None]
