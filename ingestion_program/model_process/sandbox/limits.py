"""Limits on this process: memory, files and processor time. It also ends when ingestion does."""

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from model_process.sandbox import kernel

if TYPE_CHECKING:
    from model_process.sandbox import SandboxPolicy

OPEN_FILES = 256


def limit_resources(policy: "SandboxPolicy") -> None:
    """Set limits that cannot be raised again. Address space is unlimited: runtimes reserve far more than they use."""
    import resource  # noqa: PLC0415 - Unix only

    mebibyte = 1 << 20
    wanted = {
        "RLIMIT_DATA": (policy.memory_mb * mebibyte,) * 2,
        "RLIMIT_FSIZE": (policy.file_mb * mebibyte,) * 2,
        "RLIMIT_NOFILE": (OPEN_FILES,) * 2,
        "RLIMIT_CORE": (0, 0),
        # The hard limit is a little higher: a process may ignore the first signal.
        "RLIMIT_CPU": (policy.cpu_s, policy.cpu_s + 5),
    }
    for name, (soft, hard) in wanted.items():
        # A limit that is already lower, or unknown on this system, stays as it is.
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (soft, hard))


def kill_on_parent_exit(parent: int) -> None:
    """Have the kernel end this process when ingestion ends."""
    with contextlib.suppress(OSError):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # Ingestion ended before the line above.
        os._exit(1)


def prefer_oom_kill() -> None:
    """If the machine runs out of memory, have the kernel kill this process rather than ingestion."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
