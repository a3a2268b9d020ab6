"""The walls around a model: what each tier stops, told from inside, and the filter's rules one by one."""

import contextlib
import ctypes
import errno
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_process.sandbox import TIERS, Walls, landlock, seccomp
from model_process.sandbox.syscalls import MACHINES, Machine

PROGRAM = Path(__file__).resolve().parents[2] / "ingestion_program"
linux = pytest.mark.skipif(sys.platform != "linux", reason="walls of the Linux kernel")

# Tries everything in its table inside the walls; prints what was stopped.
INSIDE = """
import ctypes, json, os, resource, shutil, signal, socket, subprocess, sys, tempfile, threading
sys.path.insert(0, sys.argv[1])
from model_process.sandbox import Walls, confine
walls = Walls.from_record(json.loads(sys.argv[2]))
os.chdir(walls.scratch)
tier = confine(walls)
outside, parent = sys.argv[3], os.getppid()

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

def syscall(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno(), "syscall")

def lock_out(path):
    os.chmod(path, 0)
    if os.stat(path).st_mode & 0o777:
        raise PermissionError(1, "nothing has changed")

def write(path):
    with open(path, "w") as file:
        file.write("x")

attempts = {
    "read outside": lambda: open(outside + "/secret").read(),
    "list outside": lambda: os.listdir(outside),
    "write outside": lambda: write(outside + "/new"),
    "read the submission": lambda: open(walls.submission / "model.py").read(),
    "write the submission": lambda: write(walls.submission / "model.py"),
    "write scratch": lambda: write("notes"),
    "a temporary file": lambda: tempfile.TemporaryFile(dir=walls.scratch).close(),
    "a link": lambda: os.symlink("/etc/hostname", "link"),
    "a pipe": lambda: os.mkfifo("pipe"),
    "a large file": lambda: open("large", "wb").truncate(65 << 20),
    "the parent's environment": lambda: open(f"/proc/{parent}/environ", "rb").read(),
    "the parent's memory": lambda: open(f"/proc/{parent}/mem", "rb").close(),
    "signal the parent": lambda: os.kill(parent, 0),
    "signal itself": lambda: os.kill(os.getpid(), 0),
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
    "copy a file": lambda: shutil.copy(walls.submission / "model.py", "copied.py"),
    "io_uring": lambda: syscall(425, 1, ctypes.create_string_buffer(256)),
    "forget the parent": lambda: syscall({"x86_64": 157, "aarch64": 167}[os.uname().machine], 1, 0, 0, 0, 0),
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
print(json.dumps({"tier": tier, "stopped": stopped}))
"""
ALWAYS = {"too much memory", "more memory allowed", "a large file"}
BY_SECCOMP = {
    *("signal the parent", "limit the parent", "fork", "run a program", "internet", "datagrams"),
    *("io_uring", "forget the parent", "a pipe", "a local socket", "memory without a limit", "lock others out"),
}
BY_LANDLOCK = {
    *("read outside", "list outside", "write outside", "write the submission", "a link"),
    *("the parent's environment", "the parent's memory"),
}
WITHOUT_PATHS = {"copy a file", "write outside", "write the submission", "write scratch", "a temporary file", "a link"}


def inside(tmp_path: Path, tier: str) -> tuple[str, set[str]]:
    for name in ("outside", "scratch", "submission"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside" / "secret").write_text("label")
    (tmp_path / "submission" / "model.py").write_text("model")
    walls = Walls(
        at_most=tier,  # type: ignore[arg-type]
        scratch=tmp_path / "scratch",
        code=tmp_path / "submission",
        submission=tmp_path / "submission",
        packages=None,
        memory_mb=256,
        file_mb=64,
        cpu_s=60,
        parent=os.getpid(),
    )
    arguments = [str(PROGRAM), json.dumps(walls.record()), str(tmp_path / "outside")]
    environment = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(tmp_path / "scratch")}
    done = subprocess.run(
        [sys.executable, "-c", INSIDE, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return told["tier"], set(told["stopped"])


def kernels_tier() -> str:
    """Ask the kernel itself: a wall that the program fails to put up must not look like a kernel without it."""
    if not Path("/proc/sys/kernel/seccomp/actions_avail").exists():
        return "basic"
    landlock_create_ruleset, version = 444, 1
    return "full" if ctypes.CDLL(None).syscall(landlock_create_ruleset, None, 0, version) >= 1 else "seccomp"


@linux
def test_the_full_tier_stops_all_that_a_model_does_not_need(tmp_path: Path) -> None:
    tier, stopped = inside(tmp_path, "full")
    assert tier == kernels_tier()
    if tier != "full":
        pytest.skip(f"FULL ISOLATION NOT TESTED: this machine gives {tier}")
    assert stopped == ALWAYS | BY_SECCOMP | BY_LANDLOCK
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]
    assert (tmp_path / "submission" / "model.py").read_text() == "model"


@linux
def test_without_landlock_nothing_can_be_written_anywhere(tmp_path: Path) -> None:
    tier, stopped = inside(tmp_path, "seccomp")
    if tier != "seccomp":
        pytest.skip(f"SECCOMP NOT TESTED: this machine gives {tier}")
    assert stopped >= ALWAYS | BY_SECCOMP | WITHOUT_PATHS
    assert "read outside" not in stopped


@linux
def test_the_basic_tier_limits_resources(tmp_path: Path) -> None:
    tier, stopped = inside(tmp_path, "basic")
    assert tier == "basic"
    assert stopped >= ALWAYS
    assert not stopped & {"numpy", "opencv", "fork", "write scratch"}


def test_the_portable_tier_works_anywhere(tmp_path: Path) -> None:
    tier, stopped = inside(tmp_path, "portable")
    assert tier == "portable"
    assert not stopped & {"numpy", "opencv", "fork", "write scratch", "read the submission"}


@linux
def test_a_model_process_ends_with_ingestion(tmp_path: Path) -> None:
    """The middle process is killed; the confined one below it must not live on."""
    grandchild = (
        f"import sys, os, json, time; sys.path.insert(0, {str(PROGRAM)!r})\n"
        "from model_process.sandbox import Walls, confine\n"
        "record = json.loads(sys.argv[1]); record['parent'] = os.getppid()\n"
        "confine(Walls.from_record(record)); print(os.getpid(), flush=True); time.sleep(1e6)\n"
    )
    walls = Walls("basic", tmp_path, tmp_path, tmp_path, None, 256, 64, 60, 0)
    middle = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {grandchild!r}, {json.dumps(walls.record())!r}])\n"
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


def run_filter(steps: list[seccomp.Instruction], machine: Machine, number: int, arguments: tuple[int, ...]) -> int:
    """Interpret a filter as the kernel does; return 0 for allowed, else the error number."""
    words = {seccomp.NUMBER_AT: number, seccomp.ARCHITECTURE_AT: machine.architecture}
    words |= {seccomp.ARGUMENTS_AT + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == seccomp.LOAD:
            accumulator = words[operand]
        elif code == seccomp.RETURN:
            return 0 if operand == seccomp.ALLOW else operand & 0xFFFF
        else:
            true = {
                seccomp.JUMP_EQUAL: accumulator == operand,
                seccomp.JUMP_AT_LEAST: accumulator >= operand,
                seccomp.JUMP_ANY_BIT: bool(accumulator & operand),
            }[code]
            at += if_true if true else if_false


PID = 4242
LOOKED_INTO: list[tuple[str, tuple[int, ...], int]] = [
    ("clone", (seccomp.CLONE_THREAD | 0x100,), 0),
    ("clone", (0x11,), errno.EAGAIN),
    ("fcntl", (3, 1), 0),
    ("fcntl", (3, 8), errno.EPERM),
    ("fcntl", (3, 10), errno.EPERM),
    ("fcntl", (3, 15), errno.EPERM),
    ("kill", (PID, 9), 0),
    ("kill", (0, 15), 0),
    ("kill", (1, 9), errno.EPERM),
    ("kill", (-1, 9), errno.EPERM),
    ("tgkill", (PID, 5000, 6), 0),
    ("tgkill", (1, 1, 6), errno.EPERM),
    ("prlimit64", (0, 7), 0),
    ("prlimit64", (1, 7), errno.EPERM),
    ("sched_setaffinity", (1, 8), errno.EPERM),
    ("setpriority", (0, 0, 5), 0),
    ("setpriority", (0, PID, 5), 0),
    ("setpriority", (0, 1, 5), errno.EPERM),
    ("setpriority", (2, 0, 5), errno.EPERM),
    ("prctl", (1, 0), errno.EPERM),
    ("prctl", (15, 0), 0),
    ("ioctl", (0, 0x5412), errno.EPERM),
    ("ioctl", (0, 0x8901), errno.EPERM),
    ("ioctl", (0, 0x5401), 0),
]


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("read_only", [False, True])
def test_the_filter_follows_its_table(machine: Machine, read_only: bool) -> None:
    steps = seccomp.program(machine, PID, read_only=read_only)
    denied = {name: code for code, names in seccomp.DENIED.items() for name in names}
    denied |= dict.fromkeys(seccomp.PRETENDED, 0)
    denied |= dict.fromkeys(seccomp.DENIED_READ_ONLY, errno.EACCES) if read_only else {}
    looked_into = {name for name, *_ in LOOKED_INTO} | ({"open", "openat"} if read_only else set())
    for name, number in machine.numbers.items():
        if name not in looked_into:
            assert run_filter(steps, machine, number, (0, 0, 0)) == denied.get(name, 0), name
    for name, arguments, expected in LOOKED_INTO:
        assert run_filter(steps, machine, machine.numbers[name], arguments) == expected, (name, arguments)
    for flags, expected in ((0, 0), (0o1, errno.EACCES), (0o2, errno.EACCES), (0o100, errno.EACCES)):
        found = run_filter(steps, machine, machine.numbers["openat"], (-100, 0, flags))
        assert found == (expected if read_only else 0)
    other = next(other for other in MACHINES.values() if other != machine)
    foreign = Machine(other.architecture, machine.numbers)
    assert run_filter(steps, foreign, machine.numbers["openat"], (0, 0, 0)) == errno.ENOSYS
    assert run_filter(steps, machine, seccomp.X32_NUMBERS + 1, (0, 0, 0)) == errno.ENOSYS
    assert len(steps) < 4096


HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}


@pytest.mark.parametrize("name", MACHINES)
def test_numbers_are_those_of_the_kernels_headers(name: str) -> None:
    header = Path(HEADERS[name])
    if not header.is_file():
        pytest.skip(f"NUMBERS NOT COMPARED: no {header} (linux-libc-dev)")
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    # Calls that are newer than the installed headers cannot be compared.
    numbers = MACHINES[name].numbers
    known = {call: number for call, number in numbers.items() if call in defined}
    assert len(known) >= len(numbers) - 5
    assert {call: int(defined[call]) for call in known} == known


def test_tiers_grow() -> None:
    assert TIERS == ("portable", "basic", "seccomp", "full")


@linux
def test_rights_are_those_that_the_kernel_knows() -> None:
    assert landlock.version() == 0 or landlock.version() >= 1
    assert landlock._handled(1) == 0x1FFF
    assert landlock._handled(5) == 0xFFFF
    assert platform.machine() in MACHINES or landlock.version() >= 0
