"""Limits that the kernel does not enforce, checked a few times per second while the model runs."""

import contextlib
import os
import signal
import stat
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread

from ingest.confined.container import is_our_own, limits
from ingest.confined.guard import remove, shared_files
from ingest.confined.siblings import Siblings

PERIOD_S = 0.2
# The frames that ingestion shares with the model count as the model's memory too.
SHARED_FRAMES_MB = 512
SCRATCH_MB = 256
SCRATCH_FILES = 10_000
FILE_MB = 64
"""Largest file that a model may write, MB."""
OUTPUT_MB = 64
THREADS = 512
INGESTION_MB = 512
"""What ingestion itself may add to the memory of its container, MB."""
FLOOR_MB, FLOOR_FILES = 16, 500
"""A disk with room for less than this is full, MB and number of files."""
PATIENCE_S = 2.0
"""How long room may take to come back when files are gone: some file systems clean up later."""
DELETED = b" (deleted)"
"""How a line of /proc/PID/maps ends whose file has no name any more."""
COUNTED = ("RssAnon", "RssFile", "VmSwap", "VmPTE")
"""Of /proc/PID/status, kB: in memory, moved out of it, and the tables that say what lies where. Shared memory is
counted by what is mapped of it."""
STATISTICS = (Path("/sys/fs/cgroup/memory.stat"), Path("/sys/fs/cgroup/memory/memory.stat"))
"""Of a container's memory, in the second and the first version of control groups; a machine has one of them."""

Excess = tuple[str, str, str]
"""What a model used too much of, the limit, and the fix."""


class Watch:
    """Ends a model process that takes too much, and remembers why."""

    def __init__(self, process: "subprocess.Popen[bytes]", scratch: Path, memory_mb: int, siblings: Siblings) -> None:
        """Take those beside it, too: the container's memory is all of theirs."""
        self._most = siblings.most
        self._process = process
        self._scratch = scratch
        self._shared_before = siblings.shared_before
        self._memory_mb = memory_mb
        self._container_mb = _container_mb()
        # Ingestion needs threads, too.
        self._threads = min(THREADS, (limits()["processes"] or 2 * THREADS) // 2)
        self._had_room = not _room(scratch).short
        # Nothing of the submission has run yet.
        self._was_open = _unnamed(process.pid, scratch) is not None
        self._headless = False
        self._done = Event()
        self.printed_bytes = 0
        """What the model has printed, counted by its reader."""
        self.reason: Excess | None = None
        """What it took too much of; None while all is well."""
        self.disk_filled = False
        """Whether the model was ended because others have filled the disk."""
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(PERIOD_S):
            try:
                self.reason = self._too_much()
            except Exception as error:  # noqa: BLE001 - nobody runs unwatched
                self.reason = (f"an unreadable process state ({type(error).__name__})", "a readable state", "do less")
            before = _room(self._scratch)
            if self.reason is None and not (self._had_room and before.short):
                continue
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE_S)
            # At once: ingestion may be waiting for room.
            remove(self._scratch)
            if self.reason is None:
                self._blame(before)
            return

    def _blame(self, before: "_Room") -> None:
        """Room that is given back was taken by the model, even if no count has seen it."""
        until = time.monotonic() + PATIENCE_S
        while not (back := _room(self._scratch).since(before)) and time.monotonic() < until:
            time.sleep(PERIOD_S)
        if back:
            self.reason = (f"a full disk, {back} of it the model's", "room for other programs", "keep data in memory")
        self.disk_filled = self.reason is None

    def _too_much(self) -> Excess | None:
        pid = self._process.pid
        # Threads that go on without the first one: the system tells nothing more of the process.
        status = _status(pid)
        headless = status.get("State", "").startswith("Z") and self._process.poll() is None
        if headless and self._headless:
            return "a main thread that has ended", "a running main thread", "keep the main thread running"
        self._headless = headless
        unnamed = _unnamed(pid, self._scratch)
        if unnamed is None and self._was_open:
            return "a process that cannot be inspected", "one that can", "do not change PR_SET_DUMPABLE"
        unnamed_mb, shared_mb = unnamed or (0, 0)
        memory = (sum(int(status[name].split()[0]) for name in COUNTED if name in status) >> 10) + shared_mb
        if memory > self._memory_mb + SHARED_FRAMES_MB:
            fix = "use less memory; do not keep frames"
            return f"{memory} MB of memory", f"at most {self._memory_mb} MB", fix
        grown = _container_mb() - self._container_mb
        if grown > self._most * (self._memory_mb + SHARED_FRAMES_MB + INGESTION_MB):
            fix = "use less memory, including kernel memory: pipes, sockets, many small mappings"
            return f"{grown} MB of memory of the container", f"at most {self._memory_mb} MB", fix
        files, size = _measure(self._scratch)
        size += unnamed_mb + _left_in_shared_memory_mb(self._shared_before)
        if size > SCRATCH_MB or files > SCRATCH_FILES:
            fix = "keep data in memory, and delete temporary files"
            return f"{files} temporary files of {size} MB", f"at most {SCRATCH_FILES} files and {SCRATCH_MB} MB", fix
        threads = int(status.get("Threads", 0))
        if threads > self._threads:
            return f"{threads} threads", f"at most {self._threads}", "start fewer threads"
        if self.printed_bytes > OUTPUT_MB << 20:
            return f"{self.printed_bytes >> 20} MB of printed text", f"at most {OUTPUT_MB} MB", "print less"
        return None


def _status(pid: int) -> dict[str, str]:
    """Return what /proc/PID/status says, by name; nothing where nobody tells."""
    with contextlib.suppress(OSError):
        # The name of a process may hold any sign but the end of a line.
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").split("\n")
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {}


def _container_mb() -> int:
    """Return the memory of all processes and of the kernel in a container of our own, MB; 0 where nobody tells."""
    if not is_our_own():
        return 0
    size = 0
    for path in STATISTICS:
        with contextlib.suppress(OSError, ValueError):
            for line in path.read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(" ")
                size += int(value) if name in {"anon", "rss", "shmem", "kernel"} else 0
    return size >> 20


@dataclass(frozen=True)
class _Room:
    """What is left of a disk."""

    mb: int
    """Of its space, MB."""
    files: int
    """How many more it can hold; -1 where it sets no limit."""

    @property
    def short(self) -> bool:
        """Whether it is full."""
        return self.mb < FLOOR_MB or 0 <= self.files < FLOOR_FILES

    def since(self, before: "_Room") -> str:
        """Say what came back; nothing where that is little."""
        mb, files = self.mb - before.mb, self.files - before.files
        return f"{mb} MB and {files} files" if mb >= FLOOR_MB // 2 or files >= FLOOR_FILES // 2 else ""


def _room(folder: Path) -> _Room:
    while True:
        try:
            disk = os.statvfs(folder)
        except FileNotFoundError:
            folder = folder.parent
        else:
            return _Room(disk.f_bavail * disk.f_frsize >> 20, disk.f_favail if disk.f_files else -1)


def _taken(file: os.stat_result) -> int:
    """Return what a file takes of the disk, bytes: room beyond its end too, and what is yet to be written."""
    return max(file.st_size, 512 * file.st_blocks)


def _measure(folder: Path) -> tuple[int, int]:
    """Return the number of entries below a folder and their size, MB; stops counting where it is too many anyway.

    Raises
    ------
    OSError
        When something in it cannot be looked at.
    """
    entries = size = 0
    waiting = [str(folder)]
    while waiting and entries <= SCRATCH_FILES:
        # What is there at one moment may be gone at the next.
        with contextlib.suppress(FileNotFoundError), os.scandir(waiting.pop()) as found:
            for entry in found:
                entries += 1
                with contextlib.suppress(FileNotFoundError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    size += _taken(entry.stat(follow_symlinks=False))
    return entries, size >> 20


def _unnamed(pid: int, scratch: Path) -> tuple[int, int] | None:
    """Return the size of scratch files that have no name any more, and of mapped memory without a file, MB.

    None where the process cannot be looked into.
    """
    files: dict[int, int] = {}
    shared = 0
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                # Not by its name: a path may be too long to be told.
                file = entry.stat()
                if file.st_nlink == 0 and stat.S_ISREG(file.st_mode) and file.st_dev != _device_of_frames():
                    files[file.st_ino] = _taken(file)
        maps = Path(f"/proc/{pid}/maps").read_bytes()
    except PermissionError:
        return None
    except OSError:  # it has just ended, or this is no Linux
        return 0, 0
    # Names may hold any other sign.
    for line in maps.split(b"\n"):
        if line.endswith(DELETED):
            addresses, rights, _, _, inode, path = line.removesuffix(DELETED).split(maxsplit=5)
            if path.startswith(os.fsencode(scratch)):
                # Nobody tells how large it is once it is closed.
                files.setdefault(int(inode), FILE_MB << 20)
            elif rights.endswith(b"s") and path.startswith((b"/dev/zero", b"/memfd:")):
                start, end = (int(address, 16) for address in addresses.split(b"-"))
                shared += end - start
    return sum(files.values()) >> 20, shared >> 20


@cache
def _device_of_frames() -> int:
    """Return the device of memory without a file, in which ingestion shows frames."""
    descriptor = os.memfd_create("frames")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _left_in_shared_memory_mb(before: set[Path]) -> int:
    """Return the size of what appeared in the machine's shared memory, MB, where it is the model's alone."""
    if not is_our_own():
        return 0
    size = 0
    for path in shared_files() - before:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            size += _measure(path)[1]
        with contextlib.suppress(FileNotFoundError):
            size += _taken(path.lstat()) >> 20
    return size
