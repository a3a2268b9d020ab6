"""The sandbox around a participant's code. The model process enters it before it imports anything else.

It gives up all capabilities first, and uses only what a process without them may do in the platform's container:
resource limits, Landlock and seccomp. None of it can be undone. A kernel may lack parts of it, so `enter_sandbox`
returns what is in force. Landlock restricts only the calling thread and its children, so all of this happens before
NumPy starts threads.
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
    """The requested sandbox."""

    at_most: IsolationLevel
    """The strongest level to use; tests and unusual machines ask for less."""
    scratch: Path
    """The only folder that may be written to."""
    submission: Path
    """The participant's files, which it may read."""
    packages: Path | None
    """Where packages were installed for this run."""
    memory_mb: int
    """Private memory of the process, MB (2**20 bytes)."""
    file_mb: int
    """The largest file that it may write, MB."""
    cpu_s: int
    """Processor time over all threads, seconds."""
    parent: int
    """Process id of ingestion; when that ends, so does this process."""
    also_allowed: tuple[str, ...] = ()
    """System calls that the settings allow in addition to those in `calls`."""

    def record(self) -> dict[str, Any]:
        """Return the fields in a form that JSON can represent."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in vars(self).items()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "SandboxPolicy":
        """Return the policy from its record."""
        paths = {name: record[name] and Path(record[name]) for name in ("scratch", "submission", "packages")}
        return cls(**{**record, **paths, "also_allowed": tuple(record["also_allowed"])})


@dataclass(frozen=True)
class Isolated:
    """The isolation in force."""

    level: IsolationLevel
    landlock: int = 0
    """The version of Landlock that protects paths; 0 without Landlock."""

    def __str__(self) -> str:
        return self.level


Tell = Callable[[Isolated, int | None], object]
"""Receives the isolation in force, and the file descriptor of a listener that must answer every refused call; None if
the kernel has no listeners."""


def enter_sandbox(policy: SandboxPolicy, tell: Tell | None = None) -> Isolated:
    """Enter as much of the sandbox as this system supports, up to `policy.at_most`; return what is in force.

    `tell`: called with the result as soon as it is known; None to skip that.
    """
    from model_process.sandbox import kernel  # noqa: PLC0415 - load only the parts in use

    def done(isolation: Isolated, listener: int | None = None) -> Isolated:
        if tell is not None:
            tell(isolation, listener)
        return isolation

    kernel.limit_resources(policy)
    if not sys.platform.startswith("linux"):
        return done(Isolated("portable"))
    bare = kernel.drop_capabilities()
    if policy.at_most == "portable":
        return done(Isolated("portable"))
    kernel.kill_on_parent_exit(policy.parent)
    kernel.prefer_oom_kill()
    if policy.at_most == "basic" or not bare:
        return done(Isolated("basic"))
    from model_process.sandbox import calls, landlock, seccomp  # noqa: PLC0415

    version = landlock.restrict(policy) if policy.at_most == "full" else 0
    rules = calls.rules(os.getpid(), version, policy.also_allowed)
    isolation = Isolated("full" if version else "seccomp", version)
    listener = None if tell is None else seccomp.listen(rules)
    if listener is not None:
        done(isolation, listener)
        os.close(listener)
        seccomp.stop_passing_on(rules)
        return isolation
    return done(isolation if seccomp.restrict(rules) else Isolated("basic", version))
