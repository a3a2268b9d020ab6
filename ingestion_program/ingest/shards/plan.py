"""Plan the next stage of a run from the results so far or, once nothing is missing, merge them."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.errors import IngestionError, Problem
from ingest.log import say
from ingest.pipeline import run
from ingest.record.folder import write_file
from ingest.settings import read_task
from ingest.shards import STAGES
from ingest.shards.coding import plain
from ingest.shards.cuts import CLIPS, cut_by_cost, cut_evenly
from ingest.shards.frozen import SETTINGS, compare, freeze
from ingest.shards.names import CUT, DONE, PLAN, PLANNED, WORK, identity, shard_key
from ingest.shards.replay import ModelClock, Replay, Wanted
from ingest.shards.sealed import Sealed, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

FOOTAGE = "footage.jsonl"
"""File of a plan with the data as they were checked."""


@dataclass(frozen=True)
class Order:
    """How a run is to be cut."""

    secret: bytes
    """From which the keys of all shards follow."""
    facts: Mapping[str, Any]
    """What the caller freezes: the program's hash and the image."""
    workers: int
    """For how many workers."""
    clips: int = CLIPS
    """Most clips of a shard of the first pass."""


def step(*, plan: Path, input_data: Path, output: Path, program: Path, submission: Path, order: Order) -> int:
    """Write the shards of the next stage and return `PLANNED`, or write the whole record and return its exit code.

    Raises
    ------
    IngestionError
        When the plan was made of something else, or a result cannot be used.
    """
    facts = freeze(input_data, submission, order.facts)
    if (plan / PLAN).is_file():
        compare(json.loads((plan / PLAN).read_text("utf-8")), facts)
    else:
        write_file(plan / PLAN, (json.dumps(facts, indent=1) + "\n").encode())
    name = identity(facts)
    shards = {stage: _results(plan, name, stage, order.secret) for stage in STAGES if (plan / WORK / stage).is_dir()}
    if None in (results := [one for of_stage in shards.values() for one in of_stage]):
        say(f"[shards] {results.count(None)} of {len(results)} shards have no result yet")
        return PLANNED
    _refuse_strangers(plan, shards)
    task, clock = read_task(input_data / SETTINGS), ModelClock()
    if task.results and not (submission / "model.py").is_file():
        found, fix = "results in place of a model", "use `bundle run`: there is nothing to divide"
        raise IngestionError([Problem("plan_differs", "run", "submission", found, "model.py", fix, fault="organiser")])
    sealed = {stage: [one for one in of_stage if one is not None] for stage, of_stage in shards.items()}
    replay = Replay(sealed, task.limits, clock, input_data, plan / FOOTAGE)
    code = run(
        input_data=input_data, output=output, program=program, submission=submission,
        packages=None, clock=clock, replay=replay,
    )  # fmt: skip
    if replay.broken is not None:
        raise replay.broken
    for stage, wanted in replay.missing.items():
        count = _write_stage(plan, stage, wanted, order)
        say(f"[shards] stage {stage}: {len(wanted.works)} clips in {count} shards")
    return PLANNED if replay.missing else code


def _results(plan: Path, name: str, stage: str, secret: bytes) -> list[Sealed | None]:
    """Return the result of every shard of a stage; None where there is none yet."""
    results: list[Sealed | None] = []
    for index, shard in enumerate(json.loads((plan / WORK / stage / CUT).read_text("utf-8"))):
        folder = plan / DONE / f"{stage}-{index}"
        place = {"plan": name, "stage": stage, "index": index, "works_sha256": shard["sha256"]}
        key = shard_key(secret, name, stage, index)
        results.append(Sealed(folder, place, tuple(shard["clip_ids"]), key) if folder.exists() else None)
    return results


def _refuse_strangers(plan: Path, shards: Mapping[str, list[Any]]) -> None:
    known = {f"{stage}-{index}" for stage, of_stage in shards.items() for index in range(len(of_stage))}
    found = [path.name for path in sorted((plan / DONE).glob("[!.]*")) if path.name not in known]
    if found:
        raise IngestionError([refused(name, "a result that is in no stage", f"remove {name}") for name in found])


def _write_stage(plan: Path, stage: str, wanted: Wanted, order: Order) -> int:
    costs = [work.cost_s for work in wanted.works]
    if stage in {"again", "repeats"}:
        cuts = [list(range(len(costs)))]  # in the drawn order, in one process
    elif stage == "first":
        cuts = cut_evenly(len(costs), order.workers, order.clips)
    else:
        cuts = cut_by_cost([cost or 0.0 for cost in costs], order.workers)
    (plan / WORK).mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{stage}-", dir=plan / WORK))
    try:
        listed = []
        for index, cut in enumerate(cuts):
            works = [wanted.works[place] for place in cut]
            files = {name: sha256 for work in works for name, sha256 in work.files.items()}
            head = json.dumps({"stage": stage, "index": index, "pass": plain(wanted.how), "files": files})
            lines = [work.text for work in works]
            text = "\n".join([head, *lines]).encode("ascii")
            (folder / f"{index}.jsonl").write_bytes(text)
            clip_ids = [json.loads(line)["clip_id"] for line in lines]
            cost_s = sum(work.cost_s or 0.0 for work in works)
            sha256 = hashlib.sha256(text).hexdigest()
            listed.append({"sha256": sha256, "clip_ids": clip_ids, "cost_s": round(cost_s, 3)})
        write_file(folder / CUT, json.dumps(listed).encode())
        folder.chmod(0o755)
        folder.rename(plan / WORK / stage)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return len(cuts)
