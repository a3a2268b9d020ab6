"""Run one shard of a plan in the plan's engine, and put its sealed result where the planner looks for it."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ingest.shards.names import PLAN, WORK

from bundle_tools.cluster.plan import Plan, run_quietly
from bundle_tools.codabench.archive import copy_tree
from bundle_tools.errors import BundleError


class ShardDiffers(BundleError):
    """Two results of one shard are not the same."""


def run_shard(plan: Path, stage: str, index: int, out: Path, key: bytes) -> None:
    """Run a shard; its result appears in `out` as a whole, or not at all.

    Raises
    ------
    BundleError
        When there is no result; the message says why, in one line.
    """
    of, out, name = Plan(plan), out.absolute(), f"{stage}-{index}"
    works = of.shards / WORK / stage / f"{index}.jsonl"
    if not works.is_file():
        raise BundleError(f"shard {stage} {index}: {plan} has no such shard.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=out, ignore_cleanup_errors=True) as scratch:
        work = Path(scratch)
        # The engine changes paths in the program's sources, so each run has its own.
        copy_tree(of.folder / "program", work / "program")
        for folder in ("shard", "output"):
            (work / folder).mkdir()
        shutil.copyfile(of.shards / PLAN, work / "shard" / PLAN)
        shutil.copyfile(works, work / "shard" / "works.jsonl")
        mounts = {
            "/app/program": work / "program",
            "/app/shard": work / "shard",
            "/app/input_data": of.folder / "input_data",
            "/app/output": work / "output",
            "/app/ingested_program": of.folder / "submission",
        }
        told = json.dumps({"key": key.hex(), "facts": of.facts()})
        where = ("shard", "input_data", "output", "ingested_program")
        code, said = run_quietly(of.engine(), "run", f"{of.name}-{name}", mounts, where, told, work / "logs")
        if code != 0 or not (work / "output" / "manifest.json").is_file():
            raise BundleError(f"shard {stage} {index}: no result: {said}")
        _appear(work / "output", out / name, f"shard {stage} {index}")


def _appear(result: Path, place: Path, name: str) -> None:
    """Move a result into place; an earlier one stays, and must say the same."""
    try:
        result.rename(place)
    except OSError:
        if not place.is_dir():
            raise
        if answers_sha256(result) != answers_sha256(place):
            raise ShardDiffers(f"shard_differs: {name}: a second run gave other answers.") from None


def answers_sha256(result: Path) -> str:
    """Return the hash of all that a shard's model said, whatever time it took."""
    return str(_manifest(result)["files"]["answers.jsonl"])


def elapsed_s(result: Path) -> float:
    """Return how long a shard took, seconds."""
    return float(_manifest(result)["facts"]["elapsed_s"])


def _manifest(result: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((result / "manifest.json").read_text("utf-8"))
        _ = found["files"]["answers.jsonl"], float(found["facts"]["elapsed_s"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(f"{result}: expected the result of a shard; manifest.json: {error}.") from None
    return found
