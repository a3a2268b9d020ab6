"""The sandbox around a model: what each level stops, told from inside, and the filter's rules one by one."""

import contextlib
import ctypes
import errno
import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_process.sandbox import ISOLATION_LEVELS, SandboxPolicy, calls, landlock, seccomp
from model_process.sandbox.syscalls import MACHINES, Machine
from tests import ROOT

PROGRAM = ROOT / "ingestion_program"
linux = pytest.mark.skipif(sys.platform != "linux", reason="a sandbox of the Linux kernel")

# Tries everything in its table inside the policy; prints what was stopped.
INSIDE = """
import asyncio, ctypes, fcntl, json, mmap, os, resource, shutil, signal, socket, struct, subprocess, sys, tempfile
import threading, time
sys.path.insert(0, sys.argv[1])
from model_process.sandbox import SandboxPolicy, enter_sandbox
from model_process.sandbox.syscalls import this_machine
NUMBERS = this_machine().numbers
policy = SandboxPolicy.from_record(json.loads(sys.argv[2]))
os.chdir(policy.scratch)
held = enter_sandbox(policy)
outside, parent, sibling, siblings_scratch = sys.argv[3], os.getppid(), int(sys.argv[5]), sys.argv[6]

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

libc = ctypes.CDLL(None, use_errno=True)

def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")

def syscall(name, *arguments):
    done(libc.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in (NUMBERS[name], *arguments))))

def by_key(number, control):
    done(number)
    control(number, 0, None)

def seen(flags=os.O_RDONLY):
    return os.open(policy.submission / "model.py", flags)

def made():
    descriptor = os.open("made", os.O_RDWR | os.O_CREAT)
    os.write(descriptor, b"x" * 4096)
    return descriptor

def advise(advice):
    memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE)
    done(libc.madvise(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory))), 4096, advice))

def mincore():
    with mmap.mmap(seen(), 0, prot=mmap.PROT_READ) as memory:
        import numpy
        address = numpy.frombuffer(memory, "u1").__array_interface__["data"][0]
        syscall("mincore", address, 1, ctypes.create_string_buffer(8))

def address():
    ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
    return ours, bytes([0]) + sys.argv[4].encode()

def lock_out(path):
    os.chmod(path, 0)
    if os.stat(path).st_mode & 0o777:
        raise PermissionError(1, "nothing has changed")
    os.chmod(path, 0o700)  # open for what follows

def write(path):
    with open(path, "w") as file:
        file.write("x")

ends = socket.socketpair()
attempts = {
    "read outside": lambda: open(outside + "/secret").read(),
    "list outside": lambda: os.listdir(outside),
    "write outside": lambda: write(outside + "/new"),
    "read the submission": lambda: open(policy.submission / "model.py").read(),
    "write the submission": lambda: write(policy.submission / "model.py"),
    "write scratch": lambda: write("notes"),
    "a temporary file": lambda: tempfile.TemporaryFile(dir=policy.scratch).close(),
    "a link": lambda: os.symlink("/etc/hostname", "link"),
    "a pipe": lambda: os.mkfifo("pipe"),
    "a large file": lambda: open("large", "wb").truncate(65 << 20),
    "the parent's environment": lambda: open(f"/proc/{parent}/environ", "rb").read(),
    "the parent's memory": lambda: open(f"/proc/{parent}/mem", "rb").close(),
    "what the network has done": lambda: open("/proc/self/net/dev").read(),
    "what the network of a thread has done": lambda: open(f"/proc/self/task/{os.getpid()}/net/dev").read(),
    "the machine's connections": lambda: open("/proc/net/tcp").read(),
    "what memory has done": lambda: open("/sys/devices/system/node/node0/vmstat").read(),
    "how much memory a node has left": lambda: open("/sys/devices/system/node/node0/meminfo").read(),
    "its own state": lambda: [open(f"/proc/self/{name}").read() for name in ("status", "maps", "cgroup", "stat")],
    "its open files": lambda: os.listdir("/proc/self/fd"),
    "which processors there are": lambda: open("/sys/devices/system/cpu/online").read(),
    "how they are built": lambda: open("/sys/devices/system/cpu/cpu0/topology/core_id").read(),
    "signal the parent": lambda: os.kill(parent, 0),
    "signal itself": lambda: os.kill(os.getpid(), 0),
    "a sibling's memory": lambda: open(f"/proc/{sibling}/mem", "rb").close(),
    "what a sibling does": lambda: open(f"/proc/{sibling}/stat", "rb").read(),
    "notes of a sibling": lambda: open(siblings_scratch + "/notes").read(),
    "notes for a sibling": lambda: write(siblings_scratch + "/new"),
    "signal a sibling": lambda: os.kill(sibling, 0),
    "limit a sibling": lambda: resource.prlimit(sibling, resource.RLIMIT_NOFILE),
    "watch a sibling": lambda: syscall("pidfd_open", sibling, 0),
    "a sibling's clock": lambda: time.clock_gettime(~sibling << 3 | 2),
    "memory shared by a key": lambda: by_key(libc.shmget(7001, 4096, 0o1600), libc.shmctl),
    "a queue by a key": lambda: by_key(libc.msgget(7001, 0o1600), libc.msgctl),
    "limit the parent": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE),
    "fork": fork,
    "run a program": lambda: subprocess.run(["true"], check=True),
    "a thread": lambda: threading.Thread(target=int).start(),
    "internet": lambda: socket.socket().close(),
    "datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "a local socket": lambda: socket.socket(socket.AF_UNIX).close(),
    "a pair of sockets": lambda: [end.close() for end in socket.socketpair()],
    "memory without a limit": lambda: os.memfd_create("x"),
    "lock others out": lambda: lock_out(outside),
    "copy a file": lambda: shutil.copy(policy.submission / "model.py", "copied.py"),
    "io_uring": lambda: syscall("io_uring_setup", 1, ctypes.create_string_buffer(256)),
    "forget the parent": lambda: syscall("prctl", 1, 0, 0, 0, 0),
    "hide from the watch": lambda: syscall("prctl", 4, 0, 0, 0, 0),
    "room in no length": lambda: syscall("fallocate", made(), 1, 0, 8192),
    "room in the length": lambda: os.posix_fallocate(made(), 0, 8192),
    "what is cached": lambda: syscall("cachestat", seen(), bytes(16), ctypes.create_string_buffer(40), 0),
    "what is cached of a mapping": mincore,
    "read if it is cached": lambda: os.preadv(seen(), [bytearray(9)], 0, os.RWF_NOWAIT),
    "write with flags": lambda: os.pwritev(made(), [b"x"], 0, os.RWF_DSYNC),
    "forget what is cached": lambda: os.posix_fadvise(seen(), 0, 0, os.POSIX_FADV_DONTNEED),
    "advice on reading": lambda: os.posix_fadvise(seen(), 0, 0, os.POSIX_FADV_SEQUENTIAL),
    "cache what others read": lambda: syscall("readahead", seen(), 0, 4096),
    "memory paged out": lambda: advise(21),
    "memory made cold": lambda: advise(20),
    "memory given back": lambda: advise(4),
    "notice when files are opened": lambda: syscall("inotify_init1", 0),
    "notice what is in a folder": lambda: fcntl.fcntl(os.open(policy.submission, os.O_RDONLY), fcntl.F_NOTIFY, 4),
    "keep others from opening": lambda: fcntl.fcntl(seen(), fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "a hint that stays": lambda: fcntl.fcntl(seen(), 1036, struct.pack("=Q", 2)),
    "attributes of a file": lambda: syscall("file_setattr", -100, b"made", ctypes.create_string_buffer(24), 24, 0),
    "flags of a file": lambda: fcntl.ioctl(made(), 0x40086602, struct.pack("=q", 0)),
    "empty a file by opening it": lambda: seen(os.O_RDONLY | os.O_TRUNC),
    "empty a file by path": lambda: os.truncate(outside + "/secret", 1),
    "shared memory without a file": lambda: mmap.mmap(-1, 4096).close(),
    "private memory": lambda: mmap.mmap(-1, 4096, mmap.MAP_PRIVATE).close(),
    "send a descriptor": lambda: socket.send_fds(ends[0], [b"x"], [0]),
    "send many messages": lambda: syscall("sendmmsg", ends[0].fileno(), ctypes.create_string_buffer(64), 1, 0),
    "send to a stranger": lambda: [ours.sendto(b"x", to) for ours, to in [address()]],
    "connect to a stranger": lambda: [ours.connect(to) for ours, to in [address()]],
    "a pair for the network": lambda: socket.socketpair(30),
    "asyncio": lambda: asyncio.run(asyncio.sleep(0)),
    "too much memory": lambda: bytearray(300 << 20),
    "more memory allowed": lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40)),
    "numpy": lambda: __import__("numpy").ones((500, 500)) @ __import__("numpy").ones((500, 500)),
    "opencv": lambda: __import__("cv2").resize(__import__("numpy").zeros((90, 90, 3), "uint8"), (10, 10)),
}
stopped = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, MemoryError, ValueError, RuntimeError) as error:
        stopped[name] = getattr(error, "errno", None) or type(error).__name__
print(json.dumps({"level": held.level, "landlock": held.landlock, "stopped": stopped}))
"""
ALWAYS = {"too much memory", "more memory allowed", "a large file"}
# With what they are refused; the same calls succeed where there is no filter.
CLOSED = {
    "hide from the watch": errno.EPERM,
    "room in no length": errno.EOPNOTSUPP,
    "what is cached": errno.ENOSYS,
    "what is cached of a mapping": errno.ENOSYS,
    "read if it is cached": errno.EOPNOTSUPP,
    "write with flags": errno.EOPNOTSUPP,
    "forget what is cached": errno.EPERM,
    "cache what others read": errno.ENOSYS,
    "memory paged out": errno.EINVAL,
    "memory made cold": errno.EINVAL,
    "notice when files are opened": errno.ENOSYS,
    "notice what is in a folder": errno.EPERM,
    "keep others from opening": errno.EPERM,
    "a hint that stays": errno.EPERM,
    "attributes of a file": errno.EPERM,
    "flags of a file": errno.ENOTTY,
    "empty a file by opening it": errno.EACCES,
    "shared memory without a file": errno.EPERM,
    "send a descriptor": errno.ENOSYS,
    "send many messages": errno.ENOSYS,
    "send to a stranger": errno.EACCES,
    "connect to a stranger": errno.EACCES,
    "a pair for the network": errno.EACCES,
    "watch a sibling": errno.EPERM,
    "a sibling's clock": errno.EINVAL,
    "memory shared by a key": errno.EPERM,
    "a queue by a key": errno.EPERM,
}
LACKING = {
    "what is cached",
    "read if it is cached",
    "attributes of a file",
    "flags of a file",
    "a pair for the network",
}
"""What an older kernel, or the file system of temporary files, does not have either."""
BY_SECCOMP = {
    *CLOSED,
    *("signal the parent", "limit the parent", "signal a sibling", "limit a sibling", "fork", "run a program"),
    *("internet", "datagrams"),
    *("io_uring", "forget the parent", "a pipe", "a local socket", "memory without a limit", "lock others out"),
}
BY_LANDLOCK = {
    *("read outside", "list outside", "write outside", "empty a file by path", "write the submission", "a link"),
    *("the parent's environment", "the parent's memory"),
    *("what the network has done", "what the network of a thread has done", "the machine's connections"),
    *("what memory has done", "how much memory a node has left"),
    *("a sibling's memory", "what a sibling does", "notes of a sibling", "notes for a sibling"),
}
WITHOUT_PATHS = {
    "notes for a sibling",
    *("copy a file", "write outside", "write the submission", "write scratch", "a temporary file", "a link"),
    *("empty a file by path", "empty a file by opening it"),
}
NEEDS_WRITING = {"room in no length", "write with flags", "flags of a file"}
"""What is refused for another reason where no file can be opened for writing."""


def inside(tmp_path: Path, level: str) -> tuple[str, dict[str, int | str]]:
    for name in ("outside", "scratch", "submission", "sibling"):
        (tmp_path / name).mkdir()
    (tmp_path / "sibling" / "notes").write_text("what was seen so far")
    (tmp_path / "outside" / "secret").write_text("label")
    (tmp_path / "submission" / "model.py").write_text("model")
    policy = SandboxPolicy(
        at_most=level,  # type: ignore[arg-type]
        scratch=tmp_path / "scratch",
        submission=tmp_path / "submission",
        packages=None,
        memory_mb=256,
        file_mb=64,
        cpu_s=60,
        parent=os.getpid(),
    )
    service = f"fie-{os.getpid()}-{tmp_path.name}"
    arguments = [str(PROGRAM), json.dumps(policy.record()), str(tmp_path / "outside"), service]
    environment = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(tmp_path / "scratch")}
    sibling = subprocess.Popen(["sleep", "1000"])
    arguments += [str(sibling.pid), str(tmp_path / "sibling")]
    with sibling, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        if sys.platform == "linux":
            stranger.bind(f"\0{service}")
        done = subprocess.run(
            [sys.executable, "-c", INSIDE, *arguments], capture_output=True, text=True, env=environment, check=False
        )
        sibling.kill()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return told["level"], told["stopped"]


def kernels_tier() -> str:
    """Ask the kernel itself: a wall that the program fails to put up must not look like a kernel without it."""
    if not Path("/proc/sys/kernel/seccomp/actions_avail").exists():
        return "basic"
    landlock_create_ruleset, version = 444, 1
    return "full" if ctypes.CDLL(None).syscall(landlock_create_ruleset, None, 0, version) >= 1 else "seccomp"


@linux
def test_the_full_tier_stops_all_that_a_model_does_not_need(tmp_path: Path) -> None:
    level, stopped = inside(tmp_path, "full")
    assert level == kernels_tier()
    if level != "full":
        pytest.skip(f"FULL ISOLATION NOT TESTED: this machine gives {level}")
    assert stopped.keys() == ALWAYS | BY_SECCOMP | BY_LANDLOCK
    assert {name: stopped[name] for name in CLOSED} == CLOSED
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]
    assert (tmp_path / "submission" / "model.py").read_text() == "model"


@linux
def test_without_landlock_nothing_can_be_written_anywhere(tmp_path: Path) -> None:
    level, stopped = inside(tmp_path, "seccomp")
    if level != "seccomp":
        pytest.skip(f"SECCOMP NOT TESTED: this machine gives {level}")
    assert stopped.keys() >= ALWAYS | BY_SECCOMP | WITHOUT_PATHS
    assert "read outside" not in stopped
    as_written = CLOSED.keys() - NEEDS_WRITING
    assert {name: stopped[name] for name in as_written} == {name: CLOSED[name] for name in as_written}


@linux
def test_the_basic_tier_limits_resources(tmp_path: Path) -> None:
    level, stopped = inside(tmp_path, "basic")
    assert level == "basic"
    assert stopped.keys() >= ALWAYS
    assert not stopped.keys() & {"numpy", "opencv", "fork", "write scratch", "empty a file by path"}
    # What the filter closes is open without it: it is no accident that it failed above.
    assert not stopped.keys() & (CLOSED.keys() - LACKING)


def test_the_portable_tier_works_anywhere(tmp_path: Path) -> None:
    level, stopped = inside(tmp_path, "portable")
    assert level == "portable"
    assert not stopped.keys() & {"numpy", "opencv", "fork", "write scratch", "read the submission"}


@linux
def test_a_model_process_ends_with_ingestion(tmp_path: Path) -> None:
    """The middle process is killed; the confined one below it must not live on."""
    grandchild = (
        f"import sys, os, json, time; sys.path.insert(0, {str(PROGRAM)!r})\n"
        "from model_process.sandbox import SandboxPolicy, enter_sandbox\n"
        "record = json.loads(sys.argv[1]); record['parent'] = os.getppid()\n"
        "enter_sandbox(SandboxPolicy.from_record(record)); print(os.getpid(), flush=True); time.sleep(1e6)\n"
    )
    policy = SandboxPolicy("basic", tmp_path, tmp_path, None, 256, 64, 60, 0)
    middle = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {grandchild!r}, {json.dumps(policy.record())!r}])\n"
        "time.sleep(1e6)\n"
    )
    with subprocess.Popen([sys.executable, "-c", middle], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    try:
        deadline = time.monotonic() + 60
        while not is_gone(pid):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def is_gone(pid: int) -> bool:
    try:
        # Where nobody collects orphans, a dead process stays listed as a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True


Filter = list[seccomp.Instruction]


ASKED = -1
"""Found by a filter that leaves the answer to a listener."""


def run_filter(steps: Filter, machine: Machine, number: int, arguments: tuple[int, ...]) -> int | None:
    """Interpret a filter as the kernel does; return None for allowed, else the error number."""
    words = {seccomp.NUMBER_AT: number, seccomp.ARCHITECTURE_AT: machine.architecture}
    words |= {seccomp.ARGUMENTS_AT + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == seccomp.LOAD:
            accumulator = words[operand]
        elif code == seccomp.AND:
            accumulator &= operand
        elif code == seccomp.JUMP:
            at += operand
        elif code == seccomp.RETURN:
            return {seccomp.ALLOW: None, seccomp.ASK: ASKED}.get(operand, operand & 0xFFFF)
        else:
            true = {
                seccomp.JUMP_EQUAL: accumulator == operand,
                seccomp.JUMP_AT_LEAST: accumulator >= operand,
            }[code]
            at += if_true if true else if_false


PID = 4242
NEWEST = landlock.NEWEST
SIX = (0,) * 6
CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
LOOKED_INTO: list[tuple[str, tuple[int, ...], int | None]] = [
    ("clone", (0x10500,), None),
    ("clone", (0x11,), errno.EAGAIN),
    ("clone", (0x10100,), errno.EAGAIN),  # open files of its own
    ("clone", (0x10500 | 0x10000000,), errno.EPERM),
    ("kill", (PID, 9), None),
    ("kill", (0, 15), None),
    ("kill", (1, 9), errno.EPERM),
    ("kill", (-1, 9), errno.EPERM),
    ("tgkill", (PID, 5000, 6), None),
    ("tgkill", (1, 1, 6), errno.EPERM),
    ("prlimit64", (0, 7), None),
    ("prlimit64", (1, 7), errno.EPERM),
    ("utimensat", (-100, 0x1000, 0x2000, 0), 0),
    ("utimensat", (-100, 0x1000, 0, 0), errno.EPERM),  # now
    ("close_range", (3, 9, 0), None),
    ("close_range", (3, 9, 4), None),  # on exec
    ("close_range", (3, 9, 2), errno.EPERM),  # in a table of its own
    ("mmap", (0, 1 << 20, 3, 0x122), errno.EPERM),  # MAP_GROWSDOWN
    *(("prctl", (option, 0), None) for option in (15, 16, 3, 0x53564D41)),
    # death signal, dumpable, seccomp, subreaper, ptracer
    *(("prctl", (option, 0), errno.EPERM) for option in (1, 4, 22, 36, 0x59616D61)),
    # copies and flags; owner and signals, leases, notes of a folder, hints
    *(("fcntl", (3, command), None) for command in (0, 1, 2, 3, 4, 5, 36, 1030, 1034)),
    *(("fcntl", (3, command), 0) for command in (6, 7, 37, 38)),
    *((call, (clock,), None) for call in CLOCKS for clock in (0, 1, 3, 7, 11)),
    # Processor time: of process 1, of this one by its number, of one of its threads.
    *((call, (clock,), errno.EINVAL) for call in CLOCKS for clock in (~1 << 3 | 2, ~PID << 3 | 2, ~PID << 3 | 6)),
    *(("fcntl", (3, command), errno.EPERM) for command in (8, 10, 15, 1024, 1026, 1036, 1038)),
    # terminals, close on exec, bytes to read, blocking; NVIDIA's (a letter, and plain numbers), DRM's, AMD's
    *(("ioctl", (0, command), None) for command in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    *(("ioctl", (0, command), None) for command in (0xC020462A, 0xC00846D2, 0x30000001, 27, 0xC0406400, 0x80084B01)),
    *(("ioctl", (0, command), errno.EPERM) for command in (0x5412, 0x541C, 0x5423)),
    *(("ioctl", (0, command), errno.ENOTTY) for command in (0x8901, 0x8902, 0x8912)),
    *(("ioctl", (0, command), errno.ENOTTY) for command in (0xAA00, 0xAE01)),  # userfaultfd, a virtual machine
    # FS_IOC_SETFLAGS of both sizes, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, verity, Btrfs, F2FS
    *(("ioctl", (0, command), errno.ENOTTY) for command in (0x40086602, 0x40046602, 0x401C5820, 0x40087602)),
    *(("ioctl", (0, command), errno.ENOTTY) for command in (0x40806685, 0x5000940E, 0xF501)),
    # private, private without a file, of a file, of nothing
    *(("mmap", (0, 0, 0, flags), None) for flags in (0x02, 0x22, 0x4022, 0x01, 0x03)),
    *(("mmap", (0, 0, 0, flags), errno.EPERM) for flags in (0x21, 0x23, 0x4021)),
    *(("madvise", (0, 20, advice), None) for advice in (0, 1, 2, 3, 4, 8, 14, 15, 16)),
    *(("madvise", (0, 4, advice), errno.EINVAL) for advice in (5, 9, 12, 20, 21, 25, 100)),
    *(("fadvise64", (0, 0, 0, advice), errno.EPERM if advice == 4 else None) for advice in range(6)),
    ("fallocate", (3, 0, 0, 9), None),
    *(("fallocate", (3, mode, 0, 9), errno.EOPNOTSUPP) for mode in (1, 2, 3, 8, 16, 32, 64)),
    *((name, (3, 0, 1, 0, 0, 0), None) for name in ("preadv2", "pwritev2")),
    *((name, (3, 0, 1, 0, 0, 8), errno.EOPNOTSUPP) for name in ("preadv2", "pwritev2")),
    *(("umask", (mask,), None) for mask in (0, 0o22, 0o77)),
    *(("umask", (mask,), errno.EPERM) for mask in (0o777, 0o400, 0o1200, 0o100)),
    ("socketpair", (1, 1), None),
    ("socketpair", (2, 1), errno.EACCES),
    ("socketpair", (30, 1), errno.EACCES),
    ("setsockopt", (3, 1, 7), None),
    ("setsockopt", (3, 1, 26), errno.ENOPROTOOPT),
    ("setsockopt", (3, 1, 50), errno.ENOPROTOOPT),
    ("setsockopt", (3, 6, 7), errno.ENOPROTOOPT),
    ("sendto", (3, 0, 9, 0, 0, 0), None),
    ("sendto", (3, 0, 9, 0, 0x1000, 16), errno.EACCES),
]
"""Name, arguments, and what becomes of it."""
UNKNOWN = {
    *("cachestat", "mincore", "readahead", "inotify_init1", "inotify_add_watch", "file_getattr", "sendmsg", "sendmmsg"),
    *("memfd_create", "memfd_secret", "vmsplice", "splice", "io_setup", "io_submit", "seccomp", "sync", "syncfs"),
    *("remap_file_pages", "setuid", "capset", "setsid", "fanotify_mark", "landlock_restrict_self", "mlockall", "shmat"),
}
"""Some of what is not in the table: as if the kernel did not have it."""


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("version", [0, 2, 3, NEWEST])
def test_the_filter_follows_its_table(machine: Machine, version: int) -> None:
    rules = calls.rules(PID, version)
    steps = seccomp.program(machine, rules)

    def found(name: str, *arguments: int) -> int | None:
        return run_filter(steps, machine, machine.numbers[name], (*arguments, *SIX)[:6])

    for name in machine.numbers:
        rule = rules.get(name, errno.ENOSYS)
        if isinstance(rule, int) or not rule:
            assert found(name) == (rule if isinstance(rule, int) else None), name
    for name, arguments, expected in LOOKED_INTO:
        assert found(name, *arguments) == expected, (name, arguments)
    assert [name for name in UNKNOWN & machine.numbers.keys() if found(name) != errno.ENOSYS] == []
    assert found("chmod" if "chmod" in machine.numbers else "fchmodat") == 0
    assert found("truncate") == (None if version >= 3 else errno.EACCES)
    assert found("unlinkat") == (None if version else errno.EACCES)
    for mode, passes in ((0o777, True), (0o700, True), (0o1755, True), (0, False), (0o300, False), (0o677, False)):
        assert found("mkdirat", -100, 0, mode) == (None if passes and version else errno.EACCES)
    for flags in (0o1, 0o2, 0o100, 0o1102):
        assert found("openat", -100, 0, flags) == (None if version else errno.EACCES)
    assert found("openat", -100, 0, 0o2000000) is None
    for flags in (0o1000, 0o1003, 0o2001000):  # to be read, and emptied
        assert found("openat", -100, 0, flags) == errno.EACCES
    other = next(other for other in MACHINES.values() if other != machine)
    foreign = Machine(other.architecture, machine.numbers)
    assert run_filter(steps, foreign, machine.numbers["openat"], SIX) == errno.ENOSYS
    for number in (0x40000000, 0x40000001, 500, 0xFFFFFFFF):
        assert run_filter(steps, machine, number, SIX) == errno.ENOSYS
    assert len(steps) < 4096
    assert all(max(if_true, if_false) <= seccomp.FARTHEST for _, if_true, if_false, _ in steps)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_a_listener_is_told_of_what_is_refused_and_answers_alike(machine: Machine) -> None:
    rules = calls.rules(PID, NEWEST)
    plain, told = seccomp.program(machine, rules), seccomp.program(machine, rules, notify=True)
    cases = [*LOOKED_INTO, *((name, SIX, None) for name in machine.numbers), *((name, (0,), None) for name in rules)]
    for name, given, _ in cases:
        if name in machine.numbers:
            arguments = (*given, *SIX)[:6]
            error = run_filter(plain, machine, machine.numbers[name], arguments)
            asked = run_filter(told, machine, machine.numbers[name], arguments) == ASKED
            assert asked == (error not in {None, 0} and name not in calls.QUIET), name
            assert calls.refusal(rules.get(name, errno.ENOSYS), arguments) == (error or 0), name
    assert run_filter(told, machine, 0x40000000, SIX) == ASKED


def test_every_rule_that_looks_at_arguments_is_tried() -> None:
    looked_into = {name for name, rule in calls.rules(PID, NEWEST).items() if isinstance(rule, tuple) and rule}
    assert looked_into == {name for name, *_ in LOOKED_INTO} | {"open", "openat", "mkdir", "mkdirat"}


def test_no_call_stands_in_the_table_twice_or_is_misspelt() -> None:
    named = [name for group in (calls.ALLOWED, calls.FORBIDDEN) for names in group.values() for name in names.split()]
    named += [*calls.PRETENDED.split(), *calls.LIMITS, *calls._walls(PID)]
    named += [*calls.CHANGING_PATHS.split(), "truncate", "mkdir", "mkdirat"]
    assert len(named) == len(set(named))
    assert set(named) <= calls.known()
    assert calls.rules(PID, NEWEST).keys() == {*named, "open", "openat"}


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_a_setting_adds_calls_and_takes_no_wall_away(machine: Machine) -> None:
    added = tuple(sorted(calls.addable()))
    steps = seccomp.program(machine, calls.rules(PID, NEWEST, added))
    found = {name: run_filter(steps, machine, number, (1,) * 6) for name, number in machine.numbers.items()}
    assert [name for name in added if found.get(name) is not None] == []
    usual = seccomp.program(machine, calls.rules(PID, NEWEST))
    for name in machine.numbers.keys() - set(added):
        assert found[name] == run_filter(usual, machine, machine.numbers[name], (1,) * 6), name
    assert {"memfd_create", "sendmsg", "mmap", "fallocate", "inotify_init1"} <= set(added)
    policy = {
        "ptrace",
        "execve",
        "mount",
        "bpf",
        "clone",
        "clone3",
        "prctl",
        "kill",
        "socket",
        "sendto",
        "chmod",
        "openat",
    }
    assert not policy & set(added)


PINNED = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from model_process.sandbox import SandboxPolicy, enter_sandbox
enter_sandbox(SandboxPolicy.from_record(json.loads(sys.argv[2])))
links = [f"/proc/self/fd/{number}" for number in range(3, 60)]
print(json.dumps([os.readlink(link) for link in links if os.path.lexists(link)]))
"""


@linux
def test_files_of_the_system_stay_open_so_that_they_are_not_forgotten(tmp_path: Path) -> None:
    """When memory is short, the kernel would make others in their place, which may not be read."""
    if kernels_tier() != "full":
        pytest.skip("NOT TESTED: no Landlock")
    policy = SandboxPolicy("full", tmp_path, tmp_path, None, 256, 64, 60, os.getpid())
    words = [sys.executable, "-c", PINNED, str(PROGRAM), json.dumps(policy.record())]
    kept = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    names = {Path(name).name for name in kept}
    assert {*landlock.OF_THIS_PROCESS.split(), "cpuinfo", "meminfo", "osrelease"} - names == set()
    assert all(name.startswith("/proc/") for name in kept), kept


VERSIONS = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from model_process.sandbox import SandboxPolicy, enter_sandbox, landlock
policy = SandboxPolicy.from_record(json.loads(sys.argv[2]))
os.chdir(policy.scratch)

def refused(attempt):
    try:
        attempt()
    except OSError as error:
        return error.errno
    return 0

for version in range(landlock.NEWEST + 1):
    pid = os.fork()
    if pid == 0:
        landlock.NEWEST = version
        held = enter_sandbox(policy)
        open("own", "w").write("own") if version else None
        tried = {
            "read outside": lambda: open(sys.argv[3]).read(),
            "empty outside": lambda: os.truncate(sys.argv[3], 0),
            "empty the submission": lambda: os.truncate(policy.submission / "model.py", 0),
            "empty it by opening": lambda: os.open(policy.submission / "model.py", os.O_RDONLY | os.O_TRUNC),
            "empty its own": lambda: os.truncate("own", 0),
            "empty its own by opening": lambda: open("own", "w").close(),
        }
        told = {name: refused(attempt) for name, attempt in tried.items()}
        print(json.dumps([version, held.level, held.landlock, told]), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


@linux
def test_every_version_of_landlock_keeps_files_whole(tmp_path: Path) -> None:
    """The kernel's own version and all before it; what a version cannot watch over, the filter refuses."""
    if kernels_tier() != "full":
        pytest.skip("FULL ISOLATION NOT TESTED: this machine has no Landlock")
    for name in ("scratch", "submission"):
        (tmp_path / name).mkdir()
    secret, model = tmp_path / "secret", tmp_path / "submission" / "model.py"
    secret.write_text("label")
    model.write_text("model")
    policy = SandboxPolicy("full", tmp_path / "scratch", model.parent, None, 256, 64, 60, os.getpid())
    arguments = [str(PROGRAM), json.dumps({**policy.record(), "parent": 0}), str(secret)]
    script = VERSIONS.replace("json.loads(sys.argv[2])", "{**json.loads(sys.argv[2]), 'parent': os.getpid()}")
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    kernels = landlock.version()
    for version, level, used, refused in told:
        assert (level, used) == ("full" if version else "seccomp", min(version, kernels))
        paths = errno.EACCES if used else 0
        assert refused == {
            "read outside": paths,
            "empty outside": errno.EACCES,
            "empty the submission": errno.EACCES,
            "empty it by opening": errno.EACCES,
            "empty its own": 0 if used >= 3 else errno.EACCES,
            "empty its own by opening": 0 if used else errno.EACCES,
        }, version
    assert len(told) == landlock.NEWEST + 1
    assert (secret.read_text(), model.read_text()) == ("label", "model")


HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}


@pytest.mark.parametrize("name", MACHINES)
def test_numbers_are_those_of_the_kernels_headers(name: str) -> None:
    header = Path(HEADERS[name])
    if not header.is_file():
        pytest.skip(f"NUMBERS NOT COMPARED: no {header} (linux-libc-dev)")
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    numbers = MACHINES[name].numbers
    known = {call: number for call, number in numbers.items() if call in defined}
    assert {call: int(defined[call]) for call in known} == known
    # Newer calls than the installed headers have cannot be compared; one has another name in the common table.
    newest = max(known.values())
    assert {call for call, number in numbers.items() if call not in known and number < newest} <= {"newfstatat"}


def test_tiers_grow() -> None:
    assert ISOLATION_LEVELS == ("portable", "basic", "seccomp", "full")


@linux
def test_rights_are_those_that_the_kernel_knows() -> None:
    assert 0 <= landlock.version() <= landlock.NEWEST
    assert landlock._handled(1) == 0x1FFF
    assert landlock._handled(5) == 0xFFFF
    assert platform.machine() in MACHINES or landlock.version() >= 0
