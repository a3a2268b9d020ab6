"""Which part of the machine a model may have, where several run side by side."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from ingest.confined.container import limits

MEMORY = Path("/proc/meminfo")


@dataclass(frozen=True)
class Share:
    """One part of equally many."""

    models: int
    """How many processes hold the submission side by side."""
    own_container: bool
    """Whether the container is this program's alone: what appears in its memory is the models'."""

    @property
    def alone(self) -> bool:
        """Whether there is no other model, and no other program, in this container."""
        return self.own_container and self.models == 1

    @property
    def cores(self) -> int:
        """Cores for one model and for decoding what it is shown; at least one."""
        return max(1, cores() // self.models)


def whole_machine() -> Share:
    """Return the share of a model that has no other beside it."""
    return Share(1, own_container=os.getpid() == 1)


def cores() -> int:
    """Return how many cores this process may use."""
    with contextlib.suppress(AttributeError):  # macOS has no such call
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def models_that_fit(memory_mb: int) -> int:
    """Return how many models of this size, MB, the machine's cores and free memory have room for; at least one."""
    free = [room for room in (limits()["memory_mb"], _free_mb()) if room is not None]
    fitting = min(free) // memory_mb if free else 1
    return max(1, min(cores(), fitting))


def _free_mb() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in MEMORY.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) >> 10
    return None
