"""Confined processes that live side by side: none is taken for what another one has left behind."""

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
        """How many live at the same time at most."""
        self.shared_before: set[Path] = set()
        """What lay in the machine's shared memory before the first of them."""
        self._turn = RLock()
        self._alive: set[int] = set()

    @contextlib.contextmanager
    def starting(self) -> Iterator[set[int]]:
        """Take a turn to start one; its process id belongs into the set."""
        with self._turn:
            if not self._alive:
                self.shared_before = guard.shared_files()
            yield self._alive

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill one and its group; whoever talks to it finds out."""
        with self._turn, contextlib.suppress(ProcessLookupError, PermissionError):
            if process.pid in self._alive:
                os.killpg(process.pid, signal.SIGKILL)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End one, with everything that it started."""
        with self._turn:
            self.kill(process)
            process.wait()
            self._alive.discard(process.pid)
            guard.end_descendants(self._alive)
            guard.sweep_shared_files(self.shared_before, self._alive)
