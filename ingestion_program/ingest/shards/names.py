"""Names of a plan, its files and its shards' keys; what drives shards needs them without the packages of a run."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

PLAN = "plan.json"
WORK, DONE, CUT = "work", "done", "cut.json"
"""Folders of a plan with its shards and with their results, and the list of a stage's shards."""
PLANNED = 3
"""Exit code: shards must be run before the next step."""


def identity(plan: Mapping[str, Any]) -> str:
    """Return the name of a plan: a hash of all it freezes."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]


def shard_key(secret: bytes, plan: str, stage: str, index: int) -> bytes:
    """Return the key of one shard, with which no other shard can be sealed."""
    return hmac.new(secret, f"{plan} {stage} {index}".encode(), hashlib.sha256).digest()
