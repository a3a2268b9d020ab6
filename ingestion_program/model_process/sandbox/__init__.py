"""The sandbox around a participant's code, put up by the model process around itself before it imports anything else.

Only what a process without any capability may do in the platform's container: resource limits, Landlock and seccomp.
Nothing here can be taken back, and nothing of it is a promise where the kernel lacks it; what holds is returned.
Landlock binds the calling thread only, so all of this happens before NumPy starts threads.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

IsolationLevel = Literal["full", "seccomp", "basic", "portable"]
ISOLATION_LEVELS: tuple[IsolationLevel, ...] = ("portable", "basic", "seccomp", "full")
"""From the weakest to the strongest."""


@dataclass(frozen=True)
class SandboxPolicy:
    """What is asked for."""

    at_most: IsolationLevel
    """The strongest level to use; tests and odd machines ask for less."""
    scratch: Path
    """The only folder that may be written to."""
    submission: Path
    """The participant's files, to be read."""
    packages: Path | None
    """Where packages were installed for this run."""
    memory_mb: int
    """Private memory of the process, MB (2**20 bytes)."""
    file_mb: int
    """Largest file that it may write, MB."""
    cpu_s: int
    """Processor time over all threads, seconds."""
    parent: int
    """Process id of ingestion; without it there is nobody left to answer to."""
    also_allowed: tuple[str, ...] = ()
    """System calls that the settings add to those of `calls`."""

    def record(self) -> dict[str, Any]:
        """Return the fields as JSON can carry them."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in vars(self).items()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "SandboxPolicy":
        """Return the policy of a record."""
        paths = {name: record[name] and Path(record[name]) for name in ("scratch", "submission", "packages")}
        return cls(**{**record, **paths, "also_allowed": tuple(record["also_allowed"])})


@dataclass(frozen=True)
class Isolated:
    """What holds."""

    level: IsolationLevel
    """What holds a process."""
    landlock: int = 0
    """The version of Landlock that watches over paths; 0 where none does."""

    def __str__(self) -> str:
        return self.level


Tell = Callable[[Isolated, int | None], object]
"""Takes what holds, and the file descriptor of a listener that is told of every refused call and has to answer it; None
where this kernel has no listeners."""


def enter_sandbox(policy: SandboxPolicy, tell: Tell | None = None) -> Isolated:
    """Put up as much of the sandbox as this system has, up to `policy.at_most`; return what holds from now on.

    Parameters
    ----------
    policy
        What is asked for.
    tell
        Whom to tell before anything else; None where nobody listens.
    """
    from model_process.sandbox import limits  # noqa: PLC0415 - no part of a wall that is not asked for is loaded

    def done(held: Isolated, listener: int | None = None) -> Isolated:
        if tell is not None:
            tell(held, listener)
        return held

    limits.limit_resources(policy)
    if not sys.platform.startswith("linux") or policy.at_most == "portable":
        return done(Isolated("portable"))
    limits.kill_on_parent_exit(policy.parent)
    limits.prefer_oom_kill()
    if policy.at_most == "basic":
        return done(Isolated("basic"))
    from model_process.sandbox import calls, landlock, seccomp  # noqa: PLC0415

    version = landlock.restrict(policy) if policy.at_most == "full" else 0
    rules = calls.rules(os.getpid(), version, policy.also_allowed)
    held = Isolated("full" if version else "seccomp", version)
    listener = None if tell is None else seccomp.listen(rules)
    if listener is not None:
        done(held, listener)
        os.close(listener)
        seccomp.stop_passing_on(rules)
        return held
    return done(held if seccomp.restrict(rules) else Isolated("basic", version))
