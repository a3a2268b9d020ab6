"""The time limit of a job, and the two ways a worker treats it."""

import time
from dataclasses import dataclass

from bundle_tools.competition import Competition, Phase

# MAX_EXECUTION_TIME_LIMIT of the site's own workers.
DEFAULT_QUEUE_CAP_S = 600


@dataclass(frozen=True)
class Limit:
    """How long each of the two jobs may take, and what happens then."""

    seconds: int
    """Wall clock of one job; its containers share it."""
    kill: bool
    """True: the job is removed and the submission fails. False: it runs to its end, as this release does mostly."""
    origin: str
    """Where the number comes from, for a person."""


def limit_of(competition: Competition, phase: Phase, *, kill: bool, override_s: int | None = None) -> Limit:
    """Give the limit that the worker would get for a phase."""
    if override_s is not None:
        return Limit(override_s, kill, "--time-limit")
    if not competition.own_queue and phase.time_limit_s > DEFAULT_QUEUE_CAP_S:
        origin = f"the cap of the default queue, although the phase says {phase.time_limit_s} s"
        return Limit(DEFAULT_QUEUE_CAP_S, kill, origin)
    return Limit(phase.time_limit_s, kill, "execution_time_limit")


class Clock:
    """Measures one job, from its first container on: downloads and the image's pull do not count."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._started = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def left_s(self) -> float | None:
        """Seconds until the job is removed; None where it never is."""
        return max(0.0, self._limit.seconds - self.elapsed_s) if self._limit.kill else None
