"""Limits of a run and of a model process, and what ends them."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from types import MappingProxyType

from ingest.confine import ProcessGroup, is_our_own, limits, remove, shared_files
from ingest.media.buffers import LARGEST_BLOCK

RESERVE_S = 10.0
SHARE = 0.95
TEMPORARY_FAILURE = 75
"""Exit code EX_TEMPFAIL: another attempt may succeed."""


class RunDeadline:
    """Waits in its own thread; unless disarmed before time is up, it saves the run and ends the program."""

    def __init__(self, flush_partial_run: Callable[[], bool]) -> None:
        """Take the function that saves the run and returns whether every clip had its turn."""
        self._rescue = flush_partial_run
        self._stood_down = Event()
        # Whoever holds it writes the end of the run; it is never released.
        self._turn = Lock()

    def start(self, limit_s: float, elapsed_s: float) -> None:
        """Start waiting, `elapsed_s` seconds into the platform's limit; the last 10 s, or 5 % if less, are reserved."""
        wait_s = max(limit_s - RESERVE_S, SHARE * limit_s) - elapsed_s
        Thread(target=self._watch, args=(max(0.0, wait_s),), daemon=True).start()

    def disarm(self) -> None:
        """Stop the watchdog at the end of a run; does not return if the rescue has already begun."""
        self._turn.acquire()
        self._stood_down.set()

    def _watch(self, wait_s: float) -> None:
        if self._stood_down.wait(wait_s) or not self._turn.acquire(blocking=False):
            return
        code = TEMPORARY_FAILURE
        try:
            if self._rescue():
                code = 0
        except BaseException as error:  # noqa: BLE001 - the program ends here, whatever happens
            traceback.print_tb(error.__traceback__)
        finally:
            sys.stdout.flush()
            os._exit(code)


PERIOD_S = 0.2
# Frames that ingestion shares with the model also count as the model's memory.
SHARED_FRAMES_MB = 512
SCRATCH_MB = 256
SCRATCH_FILES = 10_000
FILE_MB = 64
"""The largest file that a model may write, MB."""
OUTPUT_MB = 64
THREADS = 512
INGESTION_MB = 512
"""How much memory ingestion itself may use in its container, MB; the kept frames of a clip take up to 160."""
FLOOR_MB, FLOOR_FILES = 16, 500
"""A disk counts as full with less free space (MB) or fewer free files than this."""
PATIENCE_S = 2.0
"""How long freeing space may take after files are deleted: some file systems clean up later."""
DELETED = b" (deleted)"
"""The end of a line in /proc/PID/maps if the mapped file has been deleted."""
COUNTED = ("RssAnon", "RssFile", "VmSwap", "VmPTE")
"""Fields of /proc/PID/status that count as memory, kB: resident, swapped, and page tables. Shared memory is counted
by its files instead."""
WHOLE = ("VmRSS",)
"""What counts where a system, such as gVisor, tells no more."""
STATISTICS = (Path("/sys/fs/cgroup/memory.stat"), Path("/sys/fs/cgroup/memory/memory.stat"))
"""A container's memory statistics, in versions 2 and 1 of control groups; a machine has one of them."""

NOTHING_LENT: Mapping[int, int] = MappingProxyType({})

Excess = tuple[str, str, str]
"""What a model used too much of, the limit, and how to fix it."""


class LimitMonitor:
    """Kills a model process that exceeds a limit, and records why."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        scratch: Path,
        memory_mb: int,
        group: ProcessGroup,
        lent: Mapping[int, int] = NOTHING_LENT,
    ) -> None:
        """Start watching. `group` are all models of the run, which share the container's memory.

        `lent`: size of each block that ingestion has shared with the process, bytes, by inode; it may grow.
        """
        self._lent = lent
        self._most = group.most
        self._process = process
        self._scratch = scratch
        self._shared_before = group.shared_before
        self._memory_mb = memory_mb
        self._container_mb = _container_mb()
        # Ingestion needs threads as well.
        self._threads = min(THREADS, (limits()["processes"] or 2 * THREADS) // 2)
        self._had_room = not _room(scratch).short
        # None of the submission's code has run yet.
        self._was_open = _unnamed(process.pid, scratch) is not None
        self._headless = False
        self._done = Event()
        self.printed_bytes = 0
        """Bytes that the model has printed, counted by whoever reads them."""
        self.reason: Excess | None = None
        """Which limit was exceeded; None while all is well."""
        self.disk_filled = False
        """Whether the model was killed because other programs filled the disk."""
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(PERIOD_S):
            try:
                self.reason = self._too_much()
            except Exception as error:  # noqa: BLE001 - no model may run unwatched
                self.reason = (f"an unreadable process state ({type(error).__name__})", "a readable state", "do less")
            before = _room(self._scratch)
            if self.reason is None and not (self._had_room and before.short):
                continue
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE_S)
            # Without delay: ingestion may be waiting for space.
            remove(self._scratch)
            if self.reason is None:
                self._blame(before)
            elif self._headless and self._process.returncode != -signal.SIGKILL:
                # It had ended by itself, and its other threads took long to follow.
                self.reason = None
            return

    def _blame(self, before: "_Room") -> None:
        """Blame the model for a full disk if its end frees space, even if no count had shown that."""
        until = time.monotonic() + PATIENCE_S
        while not (back := _room(self._scratch).since(before)) and time.monotonic() < until:
            time.sleep(PERIOD_S)
        if back:
            self.reason = (f"a full disk, {back} of it the model's", "room for other programs", "keep data in memory")
        self.disk_filled = self.reason is None

    def _too_much(self) -> Excess | None:
        pid = self._process.pid
        # If the main thread ends while others go on, the system reports nothing more about the process.
        status = _status(pid)
        headless = status.get("State", "").startswith("Z") and self._process.poll() is None
        if headless and self._headless:
            return "a main thread that has ended", "a running main thread", "keep the main thread running"
        self._headless = headless
        unnamed = _unnamed(pid, self._scratch, self._lent)
        # A process that is ending cannot be inspected, either; it has no memory any more.
        if unnamed is None and self._was_open and "VmSize" in _status(pid):
            return "a process that cannot be inspected", "one that can", "do not change PR_SET_DUMPABLE"
        unnamed_mb, shared_mb = unnamed or (0, 0)
        fields = COUNTED if COUNTED[0] in status else WHOLE
        memory = (sum(int(status[name].split()[0]) for name in fields if name in status) >> 10) + shared_mb
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
    """Return the fields of /proc/PID/status by name; empty if it cannot be read."""
    with contextlib.suppress(OSError):
        # A process name may contain any character except a newline.
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").split("\n")
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {}


def _container_mb() -> int:
    """Return the memory of all processes and the kernel in a container of our own, MB; 0 if unknown."""
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
    """Free space on a disk."""

    mb: int
    """Free space, MB."""
    files: int
    """How many more files it can hold; -1 if unlimited."""

    @property
    def short(self) -> bool:
        """Whether the disk counts as full."""
        return self.mb < FLOOR_MB or 0 <= self.files < FLOOR_FILES

    def since(self, before: "_Room") -> str:
        """Describe the space freed since `before`; empty if it is little."""
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
    """Return a file's disk use, bytes, including space allocated beyond its end and data not written yet."""
    return max(file.st_size, 512 * file.st_blocks)


def _measure(folder: Path) -> tuple[int, int]:
    """Return the number of entries below a folder and their size, MB; stop counting once there are too many.

    Raises OSError when an entry cannot be read.
    """
    entries = size = 0
    waiting = [str(folder)]
    while waiting and entries <= SCRATCH_FILES:
        # Entries may disappear at any moment.
        with contextlib.suppress(FileNotFoundError), os.scandir(waiting.pop()) as listing:
            for entry in listing:
                entries += 1
                with contextlib.suppress(FileNotFoundError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    size += _taken(entry.stat(follow_symlinks=False))
    return entries, size >> 20


def _unnamed(pid: int, scratch: Path, lent: Mapping[int, int] = NOTHING_LENT) -> tuple[int, int] | None:
    """Return the size of deleted scratch files that are still in use, and of shared memory without a file, MB.

    Shared memory counts once, whether it is open, mapped or still to be received. None if the process cannot be
    inspected.

    `lent`: size of each block that ingestion has shared with it, bytes, by inode.
    """
    files: dict[int, int] = {}
    shared: dict[int, int] = {}
    mapped: Counter[int] = Counter()
    unread: dict[int, int] = {}
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                # Not by name: a path may be too long to be reported.
                file = entry.stat()
                if file.st_nlink == 0 and stat.S_ISREG(file.st_mode):
                    (shared if file.st_dev == _device_of_frames() else files)[file.st_ino] = _taken(file)
                elif stat.S_ISSOCK(file.st_mode):
                    # Descriptors that wait to be received; Linux before 5.6 does not say how many.
                    text = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text(encoding="ascii")
                    counts = [line.split()[1] for line in text.splitlines() if line.startswith("scm_fds:")]
                    unread[file.st_ino] = sum(map(int, counts))
        maps = Path(f"/proc/{pid}/maps").read_bytes()
    except PermissionError:
        return None
    except OSError:  # it has just ended, or this is not Linux
        return 0, 0
    # Names may contain any character except a newline.
    for line in maps.split(b"\n"):
        if line.endswith(DELETED):
            addresses, rights, _, _, inode, path = line.removesuffix(DELETED).split(maxsplit=5)
            if path.startswith(os.fsencode(scratch)):
                # The size of a closed file is unknown, so assume the largest.
                files.setdefault(int(inode), FILE_MB << 20)
            elif rights.endswith(b"s") and path.startswith((b"/dev/zero", b"/memfd:")):
                start, end = (int(address, 16) for address in addresses.split(b"-"))
                mapped[int(inode)] += end - start
    # Mapping one page of a block keeps all of it.
    shared |= {inode: lent.get(inode, size) for inode, size in mapped.items() if inode not in shared}
    # What waits in sockets are the newest blocks; whoever reads what it has asked for leaves one at most.
    count = max(1, sum(unread.values()))
    unseen = [size for inode, size in dict(lent).items() if inode not in shared]
    waiting = ([LARGEST_BLOCK] * count + unseen)[-count:-1]
    return sum(files.values()) >> 20, sum((*shared.values(), *waiting)) >> 20


@cache
def _device_of_frames() -> int:
    """Return the device number of memfd files, through which ingestion shares frames."""
    descriptor = os.memfd_create("frames")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _left_in_shared_memory_mb(before: set[Path]) -> int:
    """Return the size of new files in the machine's shared memory, MB; 0 unless the container is ours alone."""
    if not is_our_own():
        return 0
    size = 0
    for path in shared_files() - before:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            size += _measure(path)[1]
        with contextlib.suppress(FileNotFoundError):
            size += _taken(path.lstat()) >> 20
    return size
