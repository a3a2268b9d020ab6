"""Processor time of a run, and whether other programs delayed it, which is not the participant's fault."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ingest.confine import limits
from ingest.errors import Problem
from ingest.limits import INGESTION_MB, SCRATCH_MB, SHARED_FRAMES_MB, THREADS
from ingest.media.frame_server import DESCRIPTORS

WAITED_SHARE = 0.25
"""A machine is busy if processes wait for a processor for at least this share of the run ..."""
OWN_SHARE = 0.75
"""... unless the run itself uses at least this share of all cores: then its threads wait for each other."""
SHORT_OF_TIME = frozenset({"time_budget", "probes_not_reached"})
"""Codes of problems that mean a run was short of time."""
AGAIN = "ask the organisers to run it again"


@dataclass(frozen=True)
class Processor:
    """Processor use of a run so far, seconds."""

    model_s: float
    """Processor time of the submission's processes that have ended, over all threads."""
    ingestion_s: float
    waited_s: float | None
    """How long the main threads of both waited for a processor; None if unknown."""
    busy: bool
    """Whether other programs slowed the run down."""

    def record(self) -> dict[str, Any]:
        """Return the figures as written to `run.json`."""
        return {
            key: value if value is None or key == "busy" else round(value, 3) for key, value in asdict(self).items()
        }


class Meter:
    """Counts from the start of a run."""

    def __init__(self) -> None:
        self._own_s = _processor_s(resource.RUSAGE_SELF)
        self._children_s = _processor_s(resource.RUSAGE_CHILDREN)
        self._waited_s = waited_s(os.getpid())

    def read(self, elapsed_s: float, model_waited_s: float) -> Processor:
        """Return what was used so far.

        `elapsed_s`: seconds since the start of the run.
        """
        own_s = _processor_s(resource.RUSAGE_SELF) - self._own_s
        model_s = _processor_s(resource.RUSAGE_CHILDREN) - self._children_s
        now_s = waited_s(os.getpid())
        if now_s is None or self._waited_s is None:
            return Processor(model_s, own_s, None, busy=False)
        waiting_s = now_s - self._waited_s + model_waited_s
        return Processor(model_s, own_s, waiting_s, busy=is_busy(own_s + model_s, waiting_s, elapsed_s, cores()))


def is_busy(used_s: float, waiting_s: float, elapsed_s: float, count: int) -> bool:
    """Tell whether other programs delayed a run: it waited long for a processor, and not because of its own threads."""
    return waiting_s >= WAITED_SHARE * elapsed_s and used_s < OWN_SHARE * elapsed_s * count


def blame(problems: list[Problem], used: Processor, elapsed_s: float, *, timeouts: bool) -> list[Problem]:
    """If the machine was busy, blame it for a lack of time, and add a warning.

    `timeouts`: whether a call took too long.
    """
    short = timeouts or any(problem.code in SHORT_OF_TIME for problem in problems)
    if not used.busy or not short:
        return problems
    found = f"{used.waited_s or 0.0:.0f} of {elapsed_s:.0f} s spent waiting for a busy processor"
    expected = "a free processor"
    busy = Problem("machine_busy", "run", "this machine", found, expected, AGAIN, severity="warning", fault="organiser")
    charged = [
        replace(problem, fault="organiser", fix=AGAIN) if problem.code in SHORT_OF_TIME else problem
        for problem in problems
    ]
    return [busy, *charged]


def waited_s(pid: int) -> float | None:
    """Return how long the main thread of a process has waited for a processor, seconds; None if unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return None


def used_s(pid: int) -> float:
    """Return the processor time of all threads of a process, seconds; 0 if unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Start after the process name, which may contain spaces and brackets.
        facts = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def cores() -> int:
    """Return how many cores this process may use."""
    with contextlib.suppress(AttributeError):  # macOS has no such call
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor_s(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


MEMORY = Path("/proc/meminfo")
DEVICES = Path("/dev")
GRAPHICS = ("nvidia[0-9]*", "kfd")
"""Device files of GPUs. They have their own memory, and no setting says how much of it a model takes."""


MODEL_WORKERS = "MODEL_WORKERS"
"""Environment variable: model processes side by side at most. `bundle evaluate` sets it when runs share a machine."""


OWN_DESCRIPTORS = 64
"""Files that ingestion itself keeps open at most, and a few to spare."""
PROCESS_DESCRIPTORS = 16
"""Files for each model process: its channels, and what the watch looks at."""


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
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = [wanted, (shutil.disk_usage(tempfile.gettempdir()).free >> 20) // (2 * SCRATCH_MB)]
    room.append((files - OWN_DESCRIPTORS) // (DESCRIPTORS + PROCESS_DESCRIPTORS))
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
