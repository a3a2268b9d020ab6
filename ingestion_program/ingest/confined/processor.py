"""Processor time of a run, and whether other programs delayed it: a busy machine is not the participant's fault."""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ingest.errors import Problem

WAITED_SHARE = 0.25
"""Of the run; a machine that makes its processes wait longer is busy ..."""
OWN_SHARE = 0.75
"""... unless the run itself takes this share of all cores, or more: then its threads wait for each other."""
SHORT_OF_TIME = frozenset({"time_budget", "probes_not_reached"})
"""Codes of what a run has no time for."""
AGAIN = "ask the organisers to run it again"


@dataclass(frozen=True)
class Processor:
    """What a run has used so far. Seconds."""

    model_s: float
    """Processor time of the processes that held the submission, all threads, those that have ended."""
    ingestion_s: float
    """Processor time of this program."""
    waited_s: float | None
    """How long their main threads stood in line for a processor; None where the system does not tell."""
    busy: bool
    """Whether others had so much of the machine that the run was short of it."""

    def record(self) -> dict[str, Any]:
        """Return it as `run.json` holds it."""
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
        """Say what was used.

        Parameters
        ----------
        elapsed_s
            Seconds since the start of the run.
        model_waited_s
            How long the processes that held the submission stood in line.
        """
        own_s = _processor_s(resource.RUSAGE_SELF) - self._own_s
        model_s = _processor_s(resource.RUSAGE_CHILDREN) - self._children_s
        now_s = waited_s(os.getpid())
        if now_s is None or self._waited_s is None:
            return Processor(model_s, own_s, None, busy=False)
        waiting_s = now_s - self._waited_s + model_waited_s
        return Processor(model_s, own_s, waiting_s, busy=is_busy(own_s + model_s, waiting_s, elapsed_s, cores()))


def is_busy(used_s: float, waiting_s: float, elapsed_s: float, count: int) -> bool:
    """Tell whether others kept a run waiting: it stood in line for long, and not for its own threads."""
    return waiting_s >= WAITED_SHARE * elapsed_s and used_s < OWN_SHARE * elapsed_s * count


def blame(problems: list[Problem], used: Processor, elapsed_s: float, *, timeouts: bool) -> list[Problem]:
    """Charge a lack of time to the machine where the machine was busy, and say so.

    Parameters
    ----------
    problems
        Of the whole run.
    timeouts
        Whether a call took too long.
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
    """Return how long the main thread of a process has stood in line for a processor; None where nobody tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return None


def used_s(pid: int) -> float:
    """Return the processor time of all threads of a process, seconds; 0 where nobody tells."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # State, parent and what follows them: the name before may hold spaces and brackets.
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
