"""Linux system calls for which Python has no function."""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


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
