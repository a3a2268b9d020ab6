"""Linux system calls for which Python has no function, and limits on this process."""

import contextlib
import ctypes
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_process.sandbox import SandboxPolicy


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x20080522


def syscall(number: int, *arguments: object) -> int:
    """Make a system call.

    Raises OSError with the kernel's reason.
    """
    result = int(_LIBC.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, value: int, pointer: object = None) -> None:
    """Change an attribute of this process.

    Raises OSError with the kernel's reason.
    """
    if _LIBC.prctl(option, ctypes.c_ulong(value), pointer or ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def drop_capabilities() -> bool:
    """Give up all of root's capabilities for good; return whether that worked.

    With them, this process could read the memory of ingestion and change its own limits.
    """
    with contextlib.suppress(OSError):  # beyond the last one; or this process has none that it may remove
        for number in range(64):
            prctl(PR_CAPBSET_DROP, number)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    with contextlib.suppress(OSError):
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        return bool(_LIBC.capset(header, none) == 0)
    return False


OPEN_FILES = 288
"""A tenth of them stay open from the beginning; see `landlock`."""


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
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # Ingestion ended before the line above.
        os._exit(1)


def prefer_oom_kill() -> None:
    """If the machine runs out of memory, have the kernel kill this process rather than ingestion."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
