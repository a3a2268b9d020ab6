"""A seccomp filter: system calls that no model needs end in an error from now on.

The filter is a classic BPF program that is put together here, so the image needs no library for it. See seccomp(2)
and the kernel's documentation, userspace-api/seccomp_filter.
"""

import ctypes
import errno
import struct

from model_process.sandbox import kernel
from model_process.sandbox.syscalls import Machine, this_machine

# Instructions of BPF: load a 32-bit word, jump if equal / greater or equal / any bit set, return.
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
# Offsets in struct seccomp_data; arguments are 64 bits wide, of which the lower half is looked at.
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
X32_NUMBERS = 0x40000000
SET_MODE_FILTER, MODE_FILTER, ALL_THREADS = 1, 2, 1

CLONE_THREAD = 0x10000
PRIO_PROCESS = 0
# ioctl: type for the terminal, send signals of a file to somebody else; fcntl: the same.
TIOCSTI, FIOSETOWN, SIOCSPGRP = 0x5412, 0x8901, 0x8902
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND

DENIED: dict[int, tuple[str, ...]] = {
    # As if the machine had no process left: what libraries know how to cope with.
    errno.EAGAIN: ("fork", "vfork"),
    # As if the kernel did not have them: the C library then falls back to calls that can be looked into.
    errno.ENOSYS: (
        *("clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"),
        # memory that belongs to no limit
        *("memfd_create", "memfd_secret"),
    ),
    # No sockets at all, local ones neither: other programs of the machine may listen there. Pairs are fine.
    errno.EACCES: ("execve", "execveat", "socket"),
    errno.EPERM: (
        # other processes
        *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
        *("pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
        *("migrate_pages", "move_pages", "sched_setparam", "sched_setscheduler", "sched_setattr", "ioprio_set"),
        # what would outlive the process, or is no plain file
        *("shmget", "semget", "msgget", "mq_open", "mknod", "mknodat"),
        # the system
        *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen"),
        *("fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "reboot", "sethostname"),
        *("setdomainname", "iopl", "ioperm", "init_module", "finit_module", "delete_module", "kexec_load"),
        *("kexec_file_load", "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "name_to_handle_at"),
        *("open_by_handle_at", "quotactl", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
        *("add_key", "request_key", "keyctl", "personality", "modify_ldt", "uselib", "lookup_dcookie", "syslog"),
        *("vhangup",),
    ),
}
# Landlock does not watch over these. They do nothing and say that they did: copying a file would fail otherwise, and
# a model that could lock ingestion out of the clips could choose which ones count.
PRETENDED = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes"),
    *("futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr"),
    *("fremovexattr", "removexattrat"),
)
# Without Landlock nobody watches over paths, so no file can be opened for writing at all.
DENIED_READ_ONLY = (
    *("creat", "truncate", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink"),
    *("unlinkat", "mkdir", "mkdirat", "rmdir"),
)

Instruction = tuple[int, int, int, int]
"""Code, offset if true, offset if false, operand."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def restrict(pid: int, *, read_only: bool) -> bool:
    """Install the filter for all threads; return whether that worked.

    Parameters
    ----------
    pid
        This process: it may signal itself, and no other.
    read_only
        Whether files may only be read.
    """
    machine = this_machine()
    if machine is None:
        return False
    code = b"".join(struct.pack("=HBBI", *step) for step in program(machine, pid, read_only=read_only))
    buffer = ctypes.create_string_buffer(code, len(code))
    filter_ = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        number = ctypes.c_uint(ALL_THREADS)
        kernel.syscall(machine.numbers["seccomp"], ctypes.c_uint(SET_MODE_FILTER), number, ctypes.byref(filter_))
    except OSError:
        try:
            kernel.prctl(kernel.PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(filter_))
        except OSError:
            return False
    return True


def program(machine: Machine, pid: int, *, read_only: bool) -> list[Instruction]:
    """Put the filter together; every rule returns or leaves the number of the call where the next one finds it."""
    steps: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, machine.architecture),
        _fail(errno.ENOSYS),
        (LOAD, 0, 0, NUMBER_AT),
        # The second set of numbers that x86-64 has would pass all the rules below.
        (JUMP_AT_LEAST, 0, 1, X32_NUMBERS),
        _fail(errno.ENOSYS),
    ]
    denied = {name: code for code, names in DENIED.items() for name in names}
    denied |= dict.fromkeys(PRETENDED, 0)
    denied |= dict.fromkeys(DENIED_READ_ONLY, errno.EACCES) if read_only else {}
    rules = {name: [_fail(code)] for name, code in denied.items()} | _looked_into(pid, read_only=read_only)
    for name, body in rules.items():
        if name in machine.numbers:
            steps += [(JUMP_EQUAL, 0, len(body), machine.numbers[name]), *body]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _looked_into(pid: int, *, read_only: bool) -> dict[str, list[Instruction]]:
    """Give the rules for calls that depend on an argument."""
    rules = {
        "clone": _only_if_bit(0, CLONE_THREAD, errno.EAGAIN),
        "kill": _only_if(0, (0, pid), errno.EPERM),
        "tgkill": _only_if(0, (pid,), errno.EPERM),
        "prlimit64": _only_if(0, (0, pid), errno.EPERM),
        "sched_setaffinity": _only_if(0, (0, pid), errno.EPERM),
        "setpriority": [*_only_if(0, (PRIO_PROCESS,), errno.EPERM)[:-1], *_only_if(1, (0, pid), errno.EPERM)],
        "prctl": _unless(0, (kernel.PR_SET_PDEATHSIG,), errno.EPERM),
        "ioctl": _unless(1, (TIOCSTI, FIOSETOWN, SIOCSPGRP), errno.EPERM),
        "fcntl": _unless(1, (F_SETOWN, F_SETSIG, F_SETOWN_EX), errno.EPERM),
    }
    if read_only:
        rules |= {
            "open": _unless_any_bit(1, WRITING, errno.EACCES),
            "openat": _unless_any_bit(2, WRITING, errno.EACCES),
        }
    return rules


def _fail(code: int) -> Instruction:
    return (RETURN, 0, 0, FAIL_WITH | code)


def _load(argument: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument)


def _only_if(argument: int, values: tuple[int, ...], code: int) -> list[Instruction]:
    """Fail unless the argument is one of the values; the last instruction is the way out for those."""
    tests = [(JUMP_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)]
    return [_load(argument), *tests, _fail(code), (RETURN, 0, 0, ALLOW)]


def _only_if_bit(argument: int, bits: int, code: int) -> list[Instruction]:
    return [_load(argument), (JUMP_ANY_BIT, 1, 0, bits), _fail(code), (RETURN, 0, 0, ALLOW)]


def _unless(argument: int, values: tuple[int, ...], code: int) -> list[Instruction]:
    """Fail if the argument is one of the values."""
    tests = [(JUMP_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)]
    return [_load(argument), *tests, (RETURN, 0, 0, ALLOW), _fail(code)]


def _unless_any_bit(argument: int, bits: int, code: int) -> list[Instruction]:
    return [_load(argument), (JUMP_ANY_BIT, 0, 1, bits), _fail(code), (RETURN, 0, 0, ALLOW)]
