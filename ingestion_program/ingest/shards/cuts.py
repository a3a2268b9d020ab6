"""Cut a stage into shards."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CLIPS = 50
"""Most clips of a shard of the first pass, whose duration nobody knows yet."""
LONGEST_S, SHORTEST_S = 300.0, 10.0
"""A shard should not be longer than the first, or take less than the second only to occupy every worker, seconds."""


def cut_evenly(works: int, workers: int, most: int = CLIPS) -> list[list[int]]:
    """Cut works whose duration is unknown: neighbours stay together, and every worker gets as many shards."""
    count = min(works, workers * math.ceil(works / most / workers))
    edges = [works * number // count for number in range(count + 1)] if count else [0]
    return [list(range(start, end)) for start, end in pairwise(edges)]


def cut_by_cost(costs: Sequence[float], workers: int) -> list[list[int]]:
    """Cut works by their expected seconds, the longest shard first: each work goes to the shard with least to do."""
    total = sum(costs)
    # Whole rounds: with one shard more than workers, all of them would wait for it.
    count = max(1, min(workers * math.ceil(total / LONGEST_S / workers), int(total / SHORTEST_S)))
    shards: list[tuple[float, int, list[int]]] = [(0.0, number, []) for number in range(min(count, len(costs)))]
    for work in sorted(range(len(costs)), key=lambda work: -costs[work]):
        cost, number, chosen = heapq.heappop(shards)
        heapq.heappush(shards, (cost + costs[work], number, [*chosen, work]))
    return [sorted(chosen) for _, _, chosen in sorted(shards, key=lambda shard: (-shard[0], shard[1]))]
