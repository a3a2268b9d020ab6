"""Which system calls a model may make, and how all others fail: the table behind the filter.

Calls not named here fail as on a kernel that lacks them, and the C library falls back to older ones. The list comes
from tracing CPython, NumPy, OpenCV, PyAV, scikit-learn, ONNX Runtime and PyTorch without a GPU.
"""

import errno
from collections.abc import Sequence
from dataclasses import dataclass

from model_process.sandbox.syscalls import MACHINES

ALLOWED = {
    "memory": """
        brk munmap mprotect mremap msync mlock mlock2 munlock mbind get_mempolicy set_mempolicy pkey_alloc pkey_free
        pkey_mprotect mseal map_shadow_stack
    """,
    "open files": """
        close read write readv writev pread64 pwrite64 preadv pwritev lseek dup dup2 dup3 pipe pipe2 flock
        ftruncate fsync fdatasync sendfile copy_file_range getdents getdents64
    """,
    "paths, to look at": """
        stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd chdir fchdir
        statfs fstatfs getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    """,
    "waiting": """
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
        eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
    """,
    "time": """
        time gettimeofday nanosleep alarm getitimer setitimer timer_settime timer_gettime timer_getoverrun timer_delete
        times getrusage
    """,
    "threads": """
        futex futex_waitv set_robust_list get_robust_list set_tid_address gettid rseq membarrier arch_prctl getcpu exit
        sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
        sched_get_priority_min sched_rr_get_interval
    """,
    "signals": """
        rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause
        restart_syscall
    """,
    "the process": """
        getpid getppid getpgid getpgrp getsid getuid geteuid getresuid getgid getegid getresgid getgroups capget
        getpriority getrlimit setrlimit wait4 waitid exit_group uname sysinfo getrandom ioprio_get
    """,
    "pairs of sockets": "recvfrom recvmsg getsockname getpeername getsockopt shutdown",
}
"""Calls allowed with any arguments, by purpose."""
CHANGING_PATHS = """
    creat rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat rmdir
"""
"""Calls allowed only if Landlock protects paths."""
PRETENDED = """
    sched_setaffinity setpriority

    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat setxattr lsetxattr
    fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
"""
"""Calls that do nothing but report success. With real scheduling calls, a model could slow itself down and appear to be
delayed by others. Landlock does not protect file attributes: a model could lock ingestion out of clips, and so choose
which ones count. These calls cannot simply fail, since copying files needs them."""
FORBIDDEN = {
    # As if the process limit were reached, which libraries can handle.
    errno.EAGAIN: "fork vfork",
    # No sockets, not even local ones: other programs on the machine may listen there. Socket pairs are fine.
    errno.EACCES: "execve execveat socket connect bind listen accept accept4",
    # A filter cannot inspect their arguments. The C library falls back to calls whose arguments it can.
    errno.ENOSYS: "clone3 openat2 io_uring_setup io_uring_enter io_uring_register",
    errno.EPERM: """
        ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open pidfd_getfd
        pidfd_send_signal tkill rt_sigqueueinfo rt_tgsigqueueinfo migrate_pages move_pages sched_setparam
        sched_setscheduler sched_setattr ioprio_set

        shmget semget msgget mq_open mknod mknodat file_setattr

        mount umount2 pivot_root chroot unshare setns open_tree open_tree_attr move_mount fsopen fsconfig fsmount
        fspick mount_setattr swapon swapoff reboot sethostname setdomainname iopl ioperm init_module finit_module
        delete_module kexec_load kexec_file_load bpf perf_event_open userfaultfd fanotify_init name_to_handle_at
        open_by_handle_at quotactl quotactl_fd acct settimeofday clock_settime clock_adjtime adjtimex add_key
        request_key keyctl personality modify_ldt uselib lookup_dcookie syslog vhangup
    """,
}
"""Calls that would break the sandbox, by error; no setting allows them. They affect other processes, outlive this one,
change other users' files, or administer the system."""

QUIET = frozenset({"clone3", "openat2"})
"""Refused calls that the C library makes on its own, so they say nothing about the model."""

ALL_BITS = 0xFFFFFFFF


@dataclass(frozen=True)
class Check:
    """A condition on one argument; only the lower 32 bits are checked, as the kernel does for these calls."""

    argument: int
    """The argument's position, from 0."""
    values: tuple[int, ...]
    """Values to compare with."""
    error: int
    """The error if the check fails."""
    mask: int = ALL_BITS
    """Bits to compare."""
    among: bool = True
    """Whether the argument must be one of the values, or else none of them."""


Rule = tuple[Check, ...] | int
"""The checks that a call must pass, empty if it is allowed; or the error it fails with, 0 if success is pretended."""

MAP_SHARED, MAP_ANONYMOUS, MAP_GROWSDOWN = 0x1, 0x20, 0x100
CLOSE_RANGE_UNSHARE = 2
MADVISE = (
    # dontneed, free, (no) huge pages: the frequent ones first
    *(4, 8, 14, 15),
    # normal, random, sequential, willneed; (no) fork, (no) dump, (no) wipe on fork
    *(0, 1, 2, 3, 10, 11, 16, 17, 18, 19),
    # populate for reading or writing, guard pages
    *(22, 23, 102, 103),
)
FADV_DONTNEED = 4
PRETENCE = 0
"""Given as the error: pretend success."""
LIMITS: dict[str, Rule] = {
    # Anonymous shared memory counts towards no limit of the process, and can be unmapped without being freed.
    "mmap": (
        Check(3, (MAP_SHARED | MAP_ANONYMOUS,), errno.EPERM, mask=MAP_SHARED | MAP_ANONYMOUS, among=False),
        # Would be counted as stack.
        Check(3, (0,), errno.EPERM, mask=MAP_GROWSDOWN),
    ),
    # Would give a thread its own table of open files.
    "close_range": (Check(2, (0,), errno.EPERM, mask=CLOSE_RANGE_UNSHARE),),
    # A model must not evict the page cache or other processes' memory.
    "madvise": (Check(2, MADVISE, errno.EINVAL),),
    "fadvise64": (Check(3, (FADV_DONTNEED,), errno.EPERM, among=False),),
    # Could take disk space that no file's length shows.
    "fallocate": (Check(1, (0,), errno.EOPNOTSUPP),),
    # RWF_NOWAIT reveals what is in the page cache.
    "preadv2": (Check(5, (0,), errno.EOPNOTSUPP),),
    "pwritev2": (Check(5, (0,), errno.EOPNOTSUPP),),
}
"""Calls checked to enforce limits; a setting can allow them with any arguments."""

CLONE_FILES, CLONE_THREAD, CLONE_NAMESPACES = 0x400, 0x10000, 0x7E020000
AF_UNIX, SOL_SOCKET = 1, 1
# Buffer sizes and timeouts, for both directions, and sender credentials; no attaching of BPF programs.
SOCKET_OPTIONS = (7, 8, 16, 20, 21, 66, 67)
PRCTL = (
    # names of threads and of memory, timer slack, huge pages
    *(15, 16, 0x53564D41, 29, 30, 41, 42),
    # read only: death signal, dumpable, seccomp, capabilities, no new privileges, vectors, speculation, tags
    *(2, 3, 21, 23, 39, 51, 52, 56),
)
FCNTL = (
    # duplicates, flags, both kinds of locks, pipe sizes, seals
    *(0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034),
)
LOCKS = (6, 7, 37, 38)
CLOCKS = "clock_gettime clock_getres clock_nanosleep timer_create"
# Clocks of other processes have larger numbers. Ingestion's clock would let a model tell one start from another.
OWN_CLOCKS = 0xF
# Terminals: settings, controlling terminal, faking input, pasting, console, line discipline.
TERMINAL_IOCTLS = (0x5402, 0x5403, 0x5404, 0x540E, 0x5412, 0x541C, 0x541D, 0x5423)
# By the second byte: file flags and attributes (f, X, v, Btrfs, F2FS); sockets, which can send signals to other
# processes; page faults; virtual machines.
IOCTL_TYPES = (0x6600, 0x5800, 0x7600, 0x9400, 0xF500, 0x8900, 0xAA00, 0xAE00)
# Without its owner's rights, nobody could count or remove the content of a folder.
OWNERS_RIGHTS = 0o700
O_ACCESS, O_TRUNC = 0o3, 0o1000
WRITING = 0o1 | 0o2 | 0o100 | O_TRUNC | 0o2000  # O_WRONLY, O_RDWR, O_CREAT, O_APPEND


def _walls(pid: int) -> dict[str, Rule]:
    """Return the rules of calls checked to keep the sandbox closed; no setting can lift them."""
    own = Check(0, (0, pid), errno.EPERM)
    return {
        "clone": (
            # Only threads that share their open files, which `LimitMonitor` counts.
            Check(0, (CLONE_THREAD | CLONE_FILES,), errno.EAGAIN, mask=CLONE_THREAD | CLONE_FILES),
            Check(0, (0,), errno.EPERM, mask=CLONE_NAMESPACES),
        ),
        # Pretended, as above, except with the current time: programs that touch a file create it if that fails.
        "utimensat": (Check(2, (0,), errno.EPERM, among=False), Check(2, (0,), PRETENCE)),
        "kill": (own,),
        "tgkill": (Check(0, (pid,), errno.EPERM),),
        "prlimit64": (own,),
        "prctl": (Check(0, PRCTL, errno.EPERM),),
        # Locks on parts of files take uncounted kernel memory, and do not exclude threads of the same process.
        "fcntl": (Check(1, FCNTL, errno.EPERM), Check(1, LOCKS, PRETENCE, among=False)),
        **dict.fromkeys(CLOCKS.split(), (Check(0, (0,), errno.EINVAL, mask=ALL_BITS ^ OWN_CLOCKS),)),
        "ioctl": (
            Check(1, TERMINAL_IOCTLS, errno.EPERM, among=False),
            Check(1, IOCTL_TYPES, errno.ENOTTY, mask=0xFF00, among=False),
        ),
        "umask": (Check(0, (0,), errno.EPERM, mask=OWNERS_RIGHTS),),
        "socketpair": (Check(0, (AF_UNIX,), errno.EACCES),),
        "setsockopt": (Check(1, (SOL_SOCKET,), errno.ENOPROTOOPT), Check(2, SOCKET_OPTIONS, errno.ENOPROTOOPT)),
        # Only to the other end of a pair: with an address, it could reach any local socket.
        "sendto": (Check(5, (0,), errno.EACCES),),
    }


def _paths(landlock: int) -> dict[str, Rule]:
    """Return the rules of calls that change files by path, which nothing else restricts without Landlock."""
    watched = landlock > 0

    def opening(flags: int) -> tuple[Check, ...]:
        if not watched:
            return (Check(flags, (0,), errno.EACCES, mask=WRITING),)
        # Before version 3, Landlock cannot forbid truncating a file, by path or when opening it for reading.
        return (Check(flags, (O_TRUNC, O_TRUNC | O_ACCESS), errno.EACCES, mask=O_TRUNC | O_ACCESS, among=False),)

    def making(mode: int) -> Rule:
        return (Check(mode, (OWNERS_RIGHTS,), errno.EACCES, mask=OWNERS_RIGHTS),) if watched else errno.EACCES

    rules: dict[str, Rule] = dict.fromkeys(CHANGING_PATHS.split(), () if watched else errno.EACCES)
    rules |= {"mkdir": making(1), "mkdirat": making(2)}
    emptying: Rule = () if landlock >= 3 else errno.EACCES
    return {**rules, "truncate": emptying, "open": opening(1), "openat": opening(2)}


def rules(pid: int, landlock: int, also_allowed: tuple[str, ...] = ()) -> dict[str, Rule]:
    """Return the rule of every call that the sandbox knows; all others fail as if the kernel lacked them.

    `pid`: this process, which may signal only itself.
    `landlock`: the version of Landlock that protects paths; 0 without Landlock.
    `also_allowed`: names of `addable` calls to allow as well.
    """
    refused = {name: code for code, names in FORBIDDEN.items() for name in names.split()}
    allowed: dict[str, Rule] = {name: () for names in ALLOWED.values() for name in names.split()}
    allowed |= LIMITS | dict.fromkeys(also_allowed, ())
    return allowed | refused | dict.fromkeys(PRETENDED.split(), 0) | _walls(pid) | _paths(landlock)


def refusal(rule: Rule, arguments: Sequence[int]) -> int:
    """Return the error with which a call with these arguments fails; 0 if it passes."""
    if isinstance(rule, int):
        return rule
    for check in rule:
        value = arguments[check.argument] & ALL_BITS & check.mask
        if (value in check.values) != check.among:
            return check.error
    return 0


def known() -> set[str]:
    """Return the names of all system calls on all architectures."""
    return {name for machine in MACHINES.values() for name in machine.numbers}


def addable() -> set[str]:
    """Return the names of calls that a setting may allow: they may weaken a limit, but not break the sandbox."""
    refused = {name for names in FORBIDDEN.values() for name in names.split()} | set(PRETENDED.split())
    return known() - refused - _walls(0).keys() - _paths(0).keys()
