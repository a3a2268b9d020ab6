"""Confined processes that run side by side: cleaning up after one must not harm the others."""

from __future__ import annotations

import contextlib
import os
import signal
from threading import RLock
from typing import TYPE_CHECKING

from ingest.confined import guard

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


class Siblings:
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
                self.shared_before = guard.shared_files()
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
            guard.end_descendants(self._alive)
            guard.sweep_shared_files(self.shared_before, self._alive)
