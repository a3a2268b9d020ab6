"""An evaluation in shards leaves the bytes of a single run, whatever is stopped, lost or run again meanwhile."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bundle_tools.cluster.plan import make
from bundle_tools.cluster.shard import run_shard
from bundle_tools.errors import BundleError
from tests.cluster.conftest import MADE, drive, task_of
from tests.ingestion.conftest import Outcome, follows
from tests.ingestion.lanes.test_same_bytes import what_counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bundle_tools.cluster.plan import Plan
    from bundle_tools.codabench.competition import Task

    Planned = Callable[..., tuple[Plan, Task]]

pytestmark = pytest.mark.usefixtures("forked")


@pytest.mark.slow
def test_two_workers_leave_the_files_of_one_run(
    small_phase: Path, crashing: Path, sealing: Path, one_run: Outcome, tmp_path: Path
) -> None:
    task = task_of(small_phase, sealing)
    plan = make(tmp_path / "plan", task, crashing, MADE)
    plan.step(task)
    assert plan.missing() == [("first", 0), ("first", 1)]
    run_shard(plan.folder, "first", 1, plan.done, plan.key("first", 1))
    first = (plan.done / "first-1" / "manifest.json").stat().st_ino
    assert make(plan.folder, task, crashing, MADE) == plan
    drive(plan, task, verify=1)
    assert (plan.done / "first-1" / "manifest.json").stat().st_ino == first
    assert {stage for stage, _ in plan.cut()} == {"first", "again", "second", "repeats"}
    merged = Outcome(0, plan.merged, "")
    assert what_counts(merged) == what_counts(one_run)
    assert merged.json("run.json")["restarts"] > 0
    assert merged.json("manifest.json")["seal"]
    check_run(merged.json("run.json"), len(plan.cut()))
    assert not [path for path in plan.shards.rglob("*") if path.name == "seal.key" or path.name.startswith(".")]


def check_run(run: dict[str, Any], shards: int) -> None:
    """The record names all shards, and its duration is the sum of the model's seconds."""
    follows("run.json")(run)
    assert len(run["shards"]) == shards
    assert run["shards"][0]["shard"] == "shard first 0"
    assert run["duration_s"] > run["load_s"]


@pytest.mark.slow
def test_a_plan_of_something_else_is_refused(
    planned: Planned, small_phase: Path, crashing: Path, tmp_path: Path
) -> None:
    plan, task = planned()
    other = shutil.copytree(crashing, tmp_path / "other")
    (other / "weights.txt").write_text("1")
    with pytest.raises(BundleError, match=r"a plan of another submission\. Choose another folder"):
        make(plan.folder, task, other, MADE)
    moved = shutil.copytree(small_phase, tmp_path / "moved")
    (moved / "transcripts.json").write_text("{}")
    with pytest.raises(BundleError, match="a plan of another input data"):
        make(plan.folder, task_of(moved), crashing, MADE)
    with pytest.raises(BundleError, match="a plan of another image"):
        make(plan.folder, task, crashing, {**MADE, "image": "other:1.0"})
    with pytest.raises(BundleError, match="contains files of something else"):
        make(moved, task, crashing, MADE)


@pytest.mark.slow
def test_a_machine_that_has_something_else_is_told_in_one_line(planned: Planned) -> None:
    plan, _ = planned()

    def refused(match: str) -> None:
        with pytest.raises(BundleError, match=match) as told:
            run_shard(plan.folder, "first", 0, plan.done, bytes(32))
        assert "\n" not in str(told.value)
        assert not list(plan.done.iterdir())

    clip = plan.folder / "input_data" / "clips" / "c000.mp4"
    content = clip.read_bytes()
    clip.unlink()
    refused("shard first 0: no result: clip_missing · file clips/c000.mp4 · found no regular file")
    clip.write_bytes(content[::-1])
    refused("clip_changed · file clips/c000.mp4")
    clip.write_bytes(content)
    (plan.folder / "program" / "more.py").write_text("")
    refused("plan_differs · program_sha256 · found")
    with pytest.raises(BundleError, match=r"shard first 9: .* has no such shard"):
        run_shard(plan.folder, "first", 9, plan.done, bytes(32))


@pytest.mark.slow
def test_results_that_are_not_the_shards_own_are_refused_by_name(planned: Planned) -> None:
    plan, task = planned()
    for index in range(2):
        run_shard(plan.folder, "first", index, plan.done, plan.key("first", index))
    (plan.done / "first-7").mkdir()
    with pytest.raises(BundleError, match="shard_refused · first-7 · found a result that is in no stage"):
        plan.step(task)
    (plan.done / "first-7").rmdir()
    (plan.done / "first-0").rename(plan.done / "x")
    (plan.done / "first-1").rename(plan.done / "first-0")
    (plan.done / "x").rename(plan.done / "first-1")
    with pytest.raises(BundleError, match="shard_refused · shard first 0 · found the result of another shard"):
        plan.step(task)
    shutil.rmtree(plan.done / "first-0")
    shutil.rmtree(plan.done / "first-1")
    assert plan.missing() == [("first", 0), ("first", 1)]
    run_shard(plan.folder, "first", 0, plan.done, bytes(32))
    run_shard(plan.folder, "first", 1, plan.done, plan.key("first", 1))
    with pytest.raises(BundleError, match="shard_refused · shard first 0 · found a wrong seal"):
        plan.step(task)


@pytest.mark.slow
def test_a_clip_that_the_planner_cannot_read_ends_no_run(planned: Planned) -> None:
    """A single run would note a warning, and end without its second pass."""
    plan, task = planned()
    for index in range(2):
        run_shard(plan.folder, "first", index, plan.done, plan.key("first", index))
    clips = plan.folder / "input_data" / "clips"
    clips.rename(plan.folder / "elsewhere")
    with pytest.raises(BundleError, match=r"plan: clip_lost · clip c00\d · found a file that can no longer be opened"):
        plan.step(task)
    assert plan.missing() == []
    assert not plan.merged.exists()
    (plan.folder / "elsewhere").rename(clips)
    plan.step(task)
    assert [stage for stage, _ in plan.missing()] == ["again", "second"]


@pytest.mark.slow
def test_a_second_copy_must_say_the_same(planned: Planned) -> None:
    plan, _ = planned()
    for _ in range(2):
        run_shard(plan.folder, "first", 0, plan.done, plan.key("first", 0))
    manifest = plan.done / "first-0" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["files"]["answers.jsonl"] = "0" * 64
    manifest.write_text(json.dumps(content))
    with pytest.raises(BundleError, match="shard_differs: shard first 0"):
        run_shard(plan.folder, "first", 0, plan.done, plan.key("first", 0))
