"""What the machine and its container offer: memory, files and processes that a run may leave behind, refused calls."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from fcntl import ioctl
from pathlib import Path
from threading import RLock, Thread
from typing import TYPE_CHECKING

from model_process.sandbox import kernel
from model_process.sandbox.calls import Rule, refusal
from model_process.sandbox.syscalls import this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


GROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")
MB = 1024 * 1024
# Version 1 of control groups writes "no limit" as a number near the largest one.
NO_LIMIT = 2**60


def container() -> dict[str, int | bool | None]:
    """Return the limits visible from inside, for `run.json`; docs/output_format.md explains them."""
    return {
        **limits(),
        "disk_mb": _size_mb(tempfile.gettempdir),
        "shared_memory_mb": _size_mb(lambda: "/dev/shm"),  # noqa: S108 - its size is what we report
        "network": _has_route(),
    }


def is_our_own() -> bool:
    """Tell whether this container is ours alone: then we are its first process."""
    return os.getpid() == 1


def limits(proc: Path = PROC, groups: Path = GROUPS) -> dict[str, int | None]:
    """Return the limits on memory (including swap) and on processes for this process's control group.

    A limit may be set on the control group or on any of its ancestors; the lowest one applies. Inside a container, the
    ancestors are usually not visible.

    Returns "memory_mb" in units of 2**20 bytes, and "processes"; None if no limit is visible.
    """
    own = _text(proc / "self" / "cgroup")
    memory = _least(own, groups, "memory", "memory.max", "memory.limit_in_bytes")
    if memory is not None:
        swap = [int(line.split()[1]) * 1024 for line in _text(proc / "meminfo").splitlines() if "SwapTotal:" in line]
        limit = _least(own, groups, "memory", "memory.swap.max")
        both = _least(own, groups, "memory", "memory.memsw.limit_in_bytes")
        memory += min([*swap, *([] if limit is None else [limit])], default=0)
        memory = memory if both is None else min(memory, both)
    return {
        "memory_mb": None if memory is None else memory // MB,
        "processes": _least(own, groups, "pids", "pids.max"),
    }


def _least(own: str, groups: Path, controller: str, *names: str) -> int | None:
    """Return the lowest limit in a control group and its ancestors, version 1 or 2.

    `own` is the text of `/proc/PID/cgroup`.
    """
    limits_set = []
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = groups / controller if controllers else groups
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                limits_set += [int(text) for name in names if (text := _text(folder / name).strip()).isdecimal()]
    return min((limit for limit in limits_set if limit < NO_LIMIT), default=None)


def _has_route() -> bool | None:
    """Tell whether there is a network route out; None if the system does not say."""
    if not (PROC / "net/route").is_file():
        return None
    ways = _text(PROC / "net/route").splitlines()[1:] + _text(PROC / "net/ipv6_route").splitlines()
    # Lines for IPv4 begin with the interface, lines for IPv6 end with it.
    return any("lo" not in (way.split()[0], way.split()[-1]) for way in ways)


def _size_mb(folder: Callable[[], str]) -> int | None:
    try:
        system = os.statvfs(folder())
    except OSError:  # also raised if no folder for temporary files is writable
        return None
    return system.f_blocks * system.f_frsize // MB


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""


MACOS_FILES = 10_240
"""The most files that a process may open there, whatever its hard limit."""
DEEPEST = 10
"""Python removes folders nested up to here; it keeps one more file open for each level."""
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a system folder, inspected and cleaned


def harden_process() -> None:
    """Keep other processes of this user from reading this one's memory, and adopt orphaned descendants.

    Also allow as many open files as the hard limit does; the soft one is for programs that cannot handle many.
    """
    with contextlib.suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most if sys.platform == "linux" else min(most, MACOS_FILES), most))
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def end_descendants(spared: Collection[int] = ()) -> None:
    """End all descendants of this process except those `spared`.

    Killing a process makes its children ours, so this repeats until none is left. Helpers of this program are in its
    session, which no confined process can join.
    """
    if sys.platform != "linux":
        return
    while children := _children(os.getpid()) - set(spared):
        for pid in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def remove(folder: Path) -> None:
    """Remove a folder and everything a model put there, however deeply nested and whatever its permissions."""
    if take_back(folder) <= DEEPEST:
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.PIPE)  # noqa: S603, S607 - our own folder, the system's rm


def take_back(folder: Path) -> int:
    """Give this user full access to a folder and all folders in it, as far as this user owns them.

    Returns how deeply they are nested.
    """
    waiting, deepest = [str(folder)], 0  # strings, since `Path` would split long names into parts
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):  # a failure shows up later, when removal fails
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | stat.S_IRWXU)  # noqa: PTH101
            waiting += [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]
        deepest = max(deepest, path.count("/"))
    return deepest - str(folder).count("/")


def shared_files() -> set[Path]:
    """Return the paths of all files in the machine's shared memory."""
    return set(SHARED_MEMORY.iterdir()) if SHARED_MEMORY.is_dir() else set()


def sweep_shared_files(before: set[Path], living: Collection[int] = ()) -> None:
    """Remove what a model left in the machine's shared memory, except files that `living` processes have open.

    This happens only in a container of our own: elsewhere other programs use that memory too.
    """
    if not is_our_own():
        return
    in_use = {path for pid in living for path in _open_files(pid)}
    for path in shared_files() - before - in_use:
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def _open_files(pid: int) -> set[Path]:
    """Return the files that a process has open or mapped."""
    links: list[Path] = []
    for folder in ("fd", "map_files"):
        with contextlib.suppress(OSError):
            links += Path(f"/proc/{pid}/{folder}").iterdir()
    inodes = set()
    for link in links:
        with contextlib.suppress(OSError):
            inodes.add(link.readlink())
    return inodes


def _children(parent: int) -> set[int]:
    children = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        # A process name may contain spaces and brackets; state, parent, group and session follow the last bracket.
        with contextlib.suppress(OSError, ValueError, IndexError):
            _, its_parent, _, session, *_ = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_parent) == parent and int(session) != os.getsid(0):
                children.add(int(path.parent.name))
    return children


class ProcessGroup:
    """All confined processes of one run."""

    def __init__(self, most: int = 1) -> None:
        self.most = most
        """How many run at the same time at most."""
        self.shared_before: set[Path] = set()
        """What the machine's shared memory held before the first process started."""
        self._turn = RLock()
        self._alive: set[int] = set()

    @contextlib.contextmanager
    def starting(self) -> Iterator[set[int]]:
        """Hold the lock while starting a process; add its process id to the set."""
        with self._turn:
            if not self._alive:
                self.shared_before = shared_files()
            yield self._alive

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process and its group; whoever talks to it will notice."""
        with self._turn, contextlib.suppress(ProcessLookupError, PermissionError):
            if process.pid in self._alive:
                os.killpg(process.pid, signal.SIGKILL)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and everything it started, and remove what it left behind."""
        with self._turn:
            self.kill(process)
            process.wait()
            self._alive.discard(process.pid)
            end_descendants(self._alive)
            sweep_shared_files(self.shared_before, self._alive)


RECEIVE, SEND = 0xC0502100, 0xC0182101
ASKED = struct.Struct("=QIIiIQ6Q")
"""id, process, flags; the call's number, architecture and address; its arguments."""
ANSWER = struct.Struct("=QqiI")
"""id, value, negated error, flags."""
MOST = 100_000
"""The most calls of a process that are answered; later ones fail as if the kernel lacked them."""
UNKNOWN, FURTHER = "unknown", "further"
"""Names under which to count calls without a known name, and calls beyond the limit."""


class DeniedCalls:
    """Answers one process's refused calls, in its own thread."""

    def __init__(self, listener: int, rules: dict[str, Rule], counts: Counter[str]) -> None:
        """Start answering. Takes ownership of the listener's file descriptor; adds to `counts`."""
        machine = this_machine()
        self._names = {number: name for name, number in machine.numbers.items()} if machine else {}
        self._listener = listener
        self._rules = rules
        self._counts = counts
        self._waking, self._end = os.pipe()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering."""
        os.close(self._end)
        self._thread.join()
        os.close(self._waking)

    def _serve(self) -> None:
        poller = select.poll()
        poller.register(self._listener, select.POLLIN)
        poller.register(self._waking, select.POLLIN)
        for _ in range(MOST):
            # Anything else means that the process has ended, or that we are to stop.
            if poller.poll() != [(self._listener, select.POLLIN)]:
                break
            # The process may have abandoned the call meanwhile.
            with contextlib.suppress(OSError):
                self._answer()
        else:
            self._counts[FURTHER] += 1
        os.close(self._listener)

    def _answer(self) -> None:
        question = bytearray(ASKED.size)
        ioctl(self._listener, RECEIVE, question)
        number_of_question, _, _, number, _, _, *arguments = ASKED.unpack(question)
        name = self._names.get(number, UNKNOWN)
        self._counts[name] += 1
        error = refusal(self._rules.get(name, errno.ENOSYS), arguments) or errno.ENOSYS
        ioctl(self._listener, SEND, ANSWER.pack(number_of_question, 0, -error, 0))
