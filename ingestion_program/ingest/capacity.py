"""Processor time of a run, whether others delayed it, and how many models a machine has room for."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from ingest.causes import CAUSES
from ingest.confine import limits, memory_kills
from ingest.limits import INGESTION_MB, SCRATCH_MB, SHARED_FRAMES_MB, THREADS
from ingest.media.frame_server import DESCRIPTORS

if TYPE_CHECKING:
    from ingest.errors import Problem

WAITED_SHARE = 0.25
"""A machine is busy if a run waits for others for at least this share of its time."""
OTHERS_SHARE = 0.5
"""Waiting is due to others while they use at least this share of the cores; else a run's own threads are in its way."""
PERIOD_S = 1.0
STATISTICS = Path("/proc/stat")
SHORT_OF_TIME = frozenset({"time_budget", "probes_not_reached"})
"""Codes of problems that mean a run was short of time."""
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


@dataclass(frozen=True)
class Processor:
    """Processor use of a run so far, seconds."""

    model_s: float
    """Processor time of the submission's processes that have ended, over all threads."""
    ingestion_s: float
    waited_s: float | None
    """How long the main threads of both waited for a processor while others used the cores; None if unknown."""
    busy: bool
    """Whether other programs slowed the run down; lack of memory does, too, so not if there were kills."""
    memory_kills: int = 0
    """How many of its processes the kernel has killed for lack of memory."""

    def record(self) -> dict[str, Any]:
        """Return the figures as written to `run.json`."""
        return {key: round(value, 3) if isinstance(value, float) else value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class CoreUse:
    """What the cores have done so far, seconds."""

    at_s: float
    """When this was read."""
    all_s: float
    """Processor time of all programs on the cores that this process may use."""
    own_s: float
    """That of this process and its descendants, living or ended."""
    waited_s: dict[int, float]
    """How long the main thread of each of these has waited for a processor, by process id; this process comes first."""

    @classmethod
    def now(cls) -> CoreUse | None:
        """Read the counters; None if this system does not tell."""
        with contextlib.suppress(AttributeError, OSError, ValueError, IndexError):
            family = _family()
            waited = {pid: seconds for pid in family if (seconds := waited_s(pid)) is not None}
            # From the youngest: a process that ends meanwhile is counted twice, never left out.
            own_s = sum(map(used_s, reversed(family)))
            return cls(time.monotonic(), _all_s(), own_s, waited) if family[0] in waited else None
        return None

    def waited_for_others(self, later: CoreUse, count: int) -> float:
        """Return how long a run waited for other programs between two readings; `count`: of cores."""
        others_s = later.all_s - self.all_s - (later.own_s - self.own_s)
        if others_s < OTHERS_SHARE * count * (later.at_s - self.at_s):
            return 0.0
        ours, *models = [seconds - self.waited_s.get(pid, 0.0) for pid, seconds in later.waited_s.items()]
        return ours + max(models, default=0.0)


class Meter:
    """Counts from the start of a run, in short periods: waiting is due to others only while they are at work."""

    def __init__(self) -> None:
        self._own_s = _processor_s(resource.RUSAGE_SELF)
        self._children_s = _processor_s(resource.RUSAGE_CHILDREN)
        self._waited_s = 0.0
        self._kills = memory_kills()
        self._last = CoreUse.now()
        self._turn = Lock()
        Thread(target=self._count, daemon=True).start()

    def read(self, elapsed_s: float) -> Processor:
        """Return what was used so far.

        `elapsed_s`: seconds since the start of the run.
        """
        self._add()
        own_s = _processor_s(resource.RUSAGE_SELF) - self._own_s
        model_s = _processor_s(resource.RUSAGE_CHILDREN) - self._children_s
        waited = None if self._last is None else self._waited_s
        kills = memory_kills() - self._kills
        busy = not kills and waited is not None and waited >= WAITED_SHARE * elapsed_s
        return Processor(model_s, own_s, waited, busy, kills)

    def _count(self) -> None:
        while self._last is not None:
            time.sleep(PERIOD_S)
            self._add()

    def _add(self) -> None:
        with self._turn:
            before, self._last = self._last, CoreUse.now()
            if before is not None and self._last is not None:
                self._waited_s += before.waited_for_others(self._last, cores())


def blame(
    problems: list[Problem], used: Processor, elapsed_s: float, *, timeouts: bool, share: float = 1.0, budget_s: float
) -> list[Problem]:
    """If the machine was busy, blame it for a lack of time, and add a warning.

    Not if the model's own processor time, for all calls and spread over all cores, is more than the time budget: then
    it would have been short of time on a free machine, too.

    `timeouts`: whether a call took too long. `share`: of the calls that were reached. `budget_s`: of the run, > 0.
    """
    short = timeouts or any(problem.code in SHORT_OF_TIME for problem in problems)
    too_slow = used.model_s > share * budget_s * cores() > 0
    if not used.busy or not short or too_slow:
        return problems
    busy = CAUSES["busy"].as_problem("run", "this machine", waited_s=used.waited_s or 0.0, elapsed_s=elapsed_s)
    excused = [
        replace(problem, excused=True, fix=busy.fix) if problem.code in SHORT_OF_TIME else problem
        for problem in problems
    ]
    return [replace(busy, severity="warning"), *excused]


def waited_s(pid: int) -> float | None:
    """Return how long the main thread of a process has waited for a processor, seconds; None if unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return None


def used_s(pid: int) -> float:
    """Return the processor time of a process with all threads, and its ended children, seconds; 0 if unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Start after the process name, which may contain spaces and brackets.
        facts = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return sum(map(int, facts[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _family() -> list[int]:
    """Return the ids of this process and all its living descendants, in the order of generations; raises OSError."""
    Path("/proc/thread-self/children").read_text("ascii")  # raises an error where the kernel does not list children
    family = [os.getpid()]
    for pid in family:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                family += map(int, path.read_text("ascii").split())
    return family


def _all_s() -> float:
    """Return the processor time of all programs on the cores of this process, also what other machines took."""
    names, ticks = {f"cpu{number}" for number in os.sched_getaffinity(0)}, 0
    for line in STATISTICS.read_text("ascii").splitlines():
        name, *counts = line.split()
        if name in names:
            user, nice, system, _, _, interrupts, soft, stolen, *_ = map(int, counts)
            ticks += user + nice + system + interrupts + soft + stolen
    return ticks / os.sysconf("SC_CLK_TCK")


def cores() -> int:
    """Return how many cores this process may use; a quota of processor time counts as so many, rounded up."""
    count = os.cpu_count() or 1
    with contextlib.suppress(AttributeError):  # macOS has no such call
        count = len(os.sched_getaffinity(0))
    return min(count, limits()["cores"] or count)


def _processor_s(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


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
