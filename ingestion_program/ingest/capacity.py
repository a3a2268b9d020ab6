"""How many models fit on this machine, if each is to get as much as it would get alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from ingest.confined.container import limits
from ingest.confined.processor import cores
from ingest.confined.watch import INGESTION_MB, SCRATCH_MB, SHARED_FRAMES_MB, THREADS

MEMORY = Path("/proc/meminfo")
DEVICES = Path("/dev")
GRAPHICS = ("nvidia[0-9]*", "kfd")
"""Device files of GPUs. They have their own memory, and no setting says how much of it a model takes."""


MODEL_WORKERS = "MODEL_WORKERS"
"""Environment variable: model processes side by side at most. `bundle evaluate` sets it when runs share a machine."""


def has_gpu() -> bool:
    """Tell whether this machine, or container, has a GPU of NVIDIA or AMD."""
    return any(any(DEVICES.glob(name)) for name in GRAPHICS)


def workers_for(wanted: int | None, memory_mb: int) -> int:
    """Return how many models may run side by side, at least one.

    Parameters
    ----------
    wanted
        The most models to run; None for one per core, or a single one if the machine has a GPU. `MODEL_WORKERS` may
        lower it.
    memory_mb
        Memory limit of each model, MB.
    """
    if wanted is None:
        wanted = 1 if has_gpu() else cores()
    wanted = min(wanted, int(os.environ.get(MODEL_WORKERS, wanted)))
    container, free_mb = limits(), _free_memory_mb()
    room = [wanted, (shutil.disk_usage(tempfile.gettempdir()).free >> 20) // (2 * SCRATCH_MB)]
    for memory in (container["memory_mb"], free_mb):
        if memory is not None:
            room.append(memory // (memory_mb + SHARED_FRAMES_MB + INGESTION_MB))
    if container["processes"] is not None:
        # Ingestion may need as many again.
        room.append(container["processes"] // (2 * THREADS))
    return max(1, min(room))


def _free_memory_mb() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in MEMORY.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) >> 10
    return None
