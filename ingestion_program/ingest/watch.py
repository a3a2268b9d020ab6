"""What limits of the kernel do not cover, looked at a few times a second while the model runs."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

from ingest.guard import shared_files

PERIOD_S = 0.2
# The frames that ingestion shares with the model count as the model's memory too.
SHARED_FRAMES_MB = 512
SCRATCH_MB = 256
SCRATCH_FILES = 10_000
OUTPUT_MB = 64
THREADS = 512


class Watch:
    """Ends a model process that takes too much, and remembers why."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", scratch: Path, shared_before: set[Path], memory_mb: int
    ) -> None:
        self._process = process
        self._scratch = scratch
        self._shared_before = shared_before
        self._memory_mb = memory_mb
        self._done = Event()
        self.printed_bytes = 0
        """What the model has printed; counted by whoever reads it."""
        self.reason: tuple[str, str, str] | None = None
        """What it took too much of, what is allowed, and what to do; None while all is well."""
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(PERIOD_S):
            self.reason = self._too_much()
            if self.reason is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                return

    def _too_much(self) -> tuple[str, str, str] | None:
        memory = _resident_mb(self._process.pid)
        if memory > self._memory_mb + SHARED_FRAMES_MB:
            fix = "use less memory; do not keep frames"
            return f"{memory} MB of memory", f"at most {self._memory_mb} MB", fix
        files, size = _measure(self._scratch)
        size += _deleted_mb(self._process.pid) + _shared_mb(self._shared_before)
        if size > SCRATCH_MB or files > SCRATCH_FILES:
            fix = "keep data in memory, and delete temporary files"
            return f"{files} temporary files of {size} MB", f"at most {SCRATCH_FILES} files and {SCRATCH_MB} MB", fix
        threads = _threads(self._process.pid)
        if threads > THREADS:
            return f"{threads} threads", f"at most {THREADS}", "start fewer threads"
        if self.printed_bytes > OUTPUT_MB << 20:
            return f"{self.printed_bytes >> 20} MB of printed text", f"at most {OUTPUT_MB} MB", "print less"
        return None


def _resident_mb(pid: int) -> int:
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20
    return 0


def _measure(folder: Path) -> tuple[int, int]:
    """Return the number of entries below a folder and their size, MB; stops counting where it is too many anyway."""
    entries = size = 0
    waiting = [folder]
    while waiting and entries <= SCRATCH_FILES:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                entries += 1
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
    return entries, size >> 20


def _deleted_mb(pid: int) -> int:
    """Return the size of files that are open, and have no name any more, MB."""
    size = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                file = entry.stat()
                size += file.st_size if stat.S_ISREG(file.st_mode) and file.st_nlink == 0 else 0
    return size >> 20


def _shared_mb(before: set[Path]) -> int:
    """Return the size of what appeared in the machine's shared memory, MB, where it is the model's alone."""
    if os.getpid() != 1:
        return 0
    size = 0
    for path in shared_files() - before:
        with contextlib.suppress(OSError):
            size += path.lstat().st_size
    return size >> 20


def _threads(pid: int) -> int:
    with contextlib.suppress(OSError):
        return sum(1 for _ in os.scandir(f"/proc/{pid}/task"))
    return 0
