"""Landlock: which files this process may touch from now on. See the kernel's documentation, userspace-api/landlock."""

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from model_process.sandbox import kernel

if TYPE_CHECKING:
    from model_process.sandbox import SandboxPolicy

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
NEWEST = 7
"""The newest version supported here; later ones are used as if they were this one."""
RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# All rights of the first version, including making devices, sockets, pipes and links, which are never granted.
FIRST_VERSION = (1 << 13) - 1
READ = READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
# The rights that apply to a file; the kernel rejects rules that grant a folder's rights on a file.
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
TCP_BIND_AND_CONNECT = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

# Beside these lie counters of the whole machine, such as those of its network.
OF_THIS_PROCESS = """
    auxv cgroup cmdline comm environ fd fdinfo io limits maps mountinfo mounts oom_score_adj smaps smaps_rollup stat
    statm status
"""
"""What it may read in /proc/self."""
OF_ALL_PROCESSORS = "online possible present offline kernel_max isolated has_cpu has_memory has_normal_memory"
OF_EACH_PROCESSOR = """
    topology cache cpu_capacity regs cpufreq/cpuinfo_max_freq cpufreq/cpuinfo_min_freq cpulist cpumap distance
"""
"""What it may read of each processor and of each node of memory: what there is, not what has happened."""
# What an interpreter and its libraries read. Left out is anything that reveals what happened before this process began,
# such as the last process id, a container's peak memory, or what a network or a processor has done since it was
# switched on.
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/lib32", "/opt", "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/ssl"),
    *("/etc/nsswitch.conf", "/etc/passwd", "/etc/os-release", "/etc/mime.types"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/filesystems"),
    *("/proc/sys/kernel/osrelease", "/proc/sys/kernel/cap_last_cap", "/proc/sys/kernel/threads-max", "/proc/sys/vm"),
    *("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/memory.max"),
    *("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    *("/dev/zero", "/dev/random", "/dev/urandom"),
)
HARDWARE = Path("/sys/devices/system")
# Locks of multiprocessing live here.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a system folder, not a temporary file of ours
DEVICES = ("/dev/null", "/dev/full", "/dev/dri", "/dev/kfd")


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # implied by `_pack_`; Python 3.14 and later want it stated
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in use, at most `NEWEST`; 0 without Landlock."""
    try:
        return min(NEWEST, kernel.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_FLAG)))
    except OSError:
        return 0


def restrict(policy: "SandboxPolicy") -> int:
    """Restrict this process to the files it needs; return the version of Landlock in use, 0 without Landlock.

    Applies to this thread and those it starts.
    """
    abi = version()
    if abi == 0:
        return 0
    handled = _handled(abi)
    ruleset = _Ruleset(
        fs=handled,
        net=TCP_BIND_AND_CONNECT if abi >= 4 else 0,
        scoped=ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
    )
    try:
        descriptor = kernel.syscall(
            CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), ctypes.c_uint32(0)
        )
    except OSError:
        return 0
    try:
        for path, rights in _rules(policy):
            _allow(descriptor, path, rights & handled)
        kernel.syscall(RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))
    except OSError:
        return 0
    finally:
        os.close(descriptor)
    return abi


def _handled(abi: int) -> int:
    rights = FIRST_VERSION
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        rights |= right if abi >= since else 0
    return rights


def _rules(policy: "SandboxPolicy") -> Iterator[tuple[Path, int]]:
    own = Path(__file__).resolve().parent.parent
    # Not all of sys.path: a package installed as a link to a checkout would expose the checkout, labels included.
    # The folder of this code stays readable for later imports, but not the rest of the program.
    interpreter = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    for path in {*interpreter, own, policy.submission, policy.packages or own}:
        yield path, READ
    for name in (*SYSTEM, *(f"/proc/self/{name}" for name in OF_THIS_PROCESS.split()), *_hardware()):
        yield Path(name), READ
    yield HARDWARE, READ_DIR
    yield policy.scratch, WRITE
    if policy.parent == 1:
        # Only in a container of our own, where ingestion cleans it. Elsewhere it holds other programs' files.
        yield SHARED_MEMORY, WRITE & ~(MAKE_DIR | REMOVE_DIR)
    for name in (*DEVICES, *(str(path) for path in Path("/dev").glob("nvidia*"))):
        yield Path(name), DEVICE | READ_DIR


def _hardware() -> Iterator[str]:
    for kind in ("cpu", "node"):
        with contextlib.suppress(OSError):
            every = [folder for folder in (HARDWARE / kind).iterdir() if folder.name[-1].isdigit()]
            yield from (f"{HARDWARE}/{kind}/{name}" for name in OF_ALL_PROCESSORS.split())
            yield from (f"{folder}/{name}" for folder in every for name in OF_EACH_PROCESSOR.split())


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # This system lacks the path.
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_A_FILE
        rule = _PathBeneath(allowed=rights, parent=descriptor)
        kernel.syscall(
            ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        # When memory is short, the kernel forgets files of /proc and makes others, to which no rule applies. It does
        # not forget files that are open.
        if path.parts[1:2] != ("proc",):
            os.close(descriptor)
