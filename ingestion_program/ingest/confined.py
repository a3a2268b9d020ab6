"""An untrusted process, seen from outside: start it, talk to it, and end it with everything it started.

It runs inside the sandbox of `model_process.sandbox` and communicates by messages.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import RLock, Thread
from typing import Any

from ingest import confine
from ingest.capacity import used_s
from ingest.causes import CAUSES, of_ending
from ingest.codes import Stage
from ingest.confine import DeniedCalls, ProcessGroup
from ingest.errors import IngestionError, Problem
from ingest.limits import FILE_MB, NOTHING_LENT, LimitMonitor
from ingest.requests import Confined, read_request
from ingest.settings import Isolation
from model_process.protocol import BadMessage, ChannelClosed, Message, receive, send
from model_process.sandbox import ISOLATION_LEVELS, Isolated, SandboxPolicy, calls

MAIN = Path(__file__).resolve().parents[1] / "model_process" / "__main__.py"
"""The script it runs. Its folder is the only part of this program that it may read."""
LEAST_S = 1.0
"""The shortest time-out for sending a message, seconds."""
KEPT_OUTPUT = 64 << 10
"""How much of the process's output is kept: its last bytes."""
PASSED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class Confinement:
    """What a confined process runs, may read and may use."""

    name: str
    submission: Path
    """The participant's files, which it may read."""
    packages: Path | None
    """Where packages were installed for this run."""
    memory_mb: int
    """Private memory, MB (2**20 bytes)."""
    cpu_s: int
    """Processor time over all threads, seconds."""
    isolation: Isolation


class ConfinedProcess:
    """One process in a sandbox. Once it has ended, `start` starts a new one."""

    def __init__(
        self,
        confinement: Confinement,
        group: ProcessGroup | None = None,
        lent: Mapping[int, int] = NOTHING_LENT,
    ) -> None:
        """Prepare a process; `group` are those that run side by side with it.

        `lent`: size of each block of memory that is shared with it, bytes, by inode; it may grow.
        """
        self._lent = lent
        self._confinement = confinement
        self._group = group or ProcessGroup()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._drainer: Thread | None = None
        self._scratch: Path | None = None
        self._watch: LimitMonitor | None = None
        self._denied: DeniedCalls | None = None
        # Several threads may send messages.
        self._sending = RLock()
        self._printed = bytearray()
        self.starts = 0
        """Number of starts."""
        self._deaf = False
        self._deadline = time.monotonic()
        self.killed = False
        """Whether something outside ended it."""
        self.refused: Counter[str] = Counter()
        """How often each system call was refused, by name."""
        self.isolation: Isolated | None = None
        """How it is isolated; None before the first start."""

    @property
    def alive(self) -> bool:
        """Whether it can receive messages."""
        return self._process is not None

    @property
    def output(self) -> bytes:
        """The last 64 KiB of its output."""
        return bytes(self._printed)

    @property
    def pid(self) -> int | None:
        """Its process id; None without a process."""
        return None if self._process is None else self._process.pid

    def start(self, *, again: bool = False) -> None:
        """Start the process, ending any previous one. With `again`, a repeat of the same work, it is not counted."""
        self.stop()
        self.starts += not again
        self.killed = self._deaf = False
        scratch = self._scratch = Path(tempfile.mkdtemp(prefix="model-")).resolve()
        ours, theirs = socket.socketpair()
        policy = json.dumps(self._policy(scratch).record())
        with theirs, self._group.starting() as alive:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter and our own file
                [sys.executable, "-s", "-P", str(MAIN), policy],
                # A separate descriptor would have a number by which the model could tell one start from another.
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=scratch,
                env=_environment(scratch, self._confinement.packages),
                start_new_session=True,
            )
            alive.add(self._process.pid)
        self._watch = LimitMonitor(self._process, scratch, self._confinement.memory_mb, self._group, self._lent)
        self._drainer = Thread(target=self._drain, args=(self._process, self._watch), daemon=True)
        self._drainer.start()
        self._channel = ours

    def allow(self, timeout_s: float) -> None:
        """Set the time limit for all further messages to and from the process."""
        self._deadline = time.monotonic() + timeout_s

    def check_sandbox(self) -> None:
        """Check the process's report about its sandbox against the settings, before any participant's file is opened.

        Raises IngestionError when this machine cannot isolate a process as the settings require. Raises ChannelClosed,
        BadMessage or TimeoutError when it sends no such report.
        """
        message = self._receive()
        report = read_request(message.body)
        if not isinstance(report, Confined):
            raise BadMessage("no report about its sandbox")
        self.isolation = Isolated(report.level, report.landlock)
        if message.descriptor is not None and self.pid is not None:
            rules = calls.rules(self.pid, self.isolation.landlock, self._confinement.isolation.also_allowed)
            self._denied = DeniedCalls(message.descriptor, rules, self.refused)
        require = self._confinement.isolation.require
        if ISOLATION_LEVELS.index(report.level) < ISOLATION_LEVELS.index(require):
            problem = CAUSES["isolation"].as_problem(
                "run", "this machine", level=self.isolation.level, required=require
            )
            raise IngestionError([problem])

    def send(self, body: dict[str, Any], *, blob: bytes = b"", descriptor: int | None = None) -> None:
        """Send a message.

        Raises ChannelClosed when there is no process. Raises TimeoutError when the process does not read in time.
        """
        with self._sending:
            channel = self._channel  # another thread may be ending the process
            if channel is None:
                raise ChannelClosed
            try:
                # Frames may still be announced just after a call has ended.
                channel.settimeout(max(LEAST_S, self._deadline - time.monotonic()))
                send(channel, body, blob=blob, descriptor=descriptor)
            except TimeoutError:
                # Other threads waiting to send must not wait as long again.
                self._deaf = True
                with contextlib.suppress(OSError):
                    channel.shutdown(socket.SHUT_RDWR)
                raise

    def receive(self) -> Message:
        """Wait for a message until the time limit.

        Raises ChannelClosed, BadMessage or TimeoutError when no valid message arrives.
        """
        message = self._receive()
        if message.descriptor is not None:
            os.close(message.descriptor)
            raise BadMessage("a file descriptor")
        return message

    def _receive(self) -> Message:
        if self._channel is None:
            raise ChannelClosed
        return receive(self._channel, self._deadline)

    def used_s(self) -> float:
        """Return the processor time of all threads of the process so far, seconds."""
        return 0.0 if self.pid is None else used_s(self.pid)

    def kill(self) -> None:
        """Kill the process. For other threads: the one that talks to the process notices and cleans up."""
        process, watch = self._process, self._watch
        if process is not None:
            self._group.kill(process)
        if watch is not None:  # a dying process looks strange; that is not the model's fault
            watch.stop()

    def stop(self) -> None:
        """End the process and everything it started."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            self.kill()
            self._group.end(self._process)
            self._process = None
        self._watch = None
        if self._denied is not None:
            self._denied.stop()
            self._denied = None
        if self._drainer is not None:  # the last output may still be in the pipe
            self._drainer.join(timeout=1)
            self._drainer = None
        if self._scratch is not None:
            confine.remove(self._scratch)
            self._scratch = None

    def end_badly(self, error: Exception, stage: Stage, where: str, timeout_s: float) -> Problem:
        """End the process and return the reason why it gave no answer.

        Raises IngestionError when other programs have filled the disk.
        """
        process, watch = self._process, self._watch
        status: int | None = None
        if isinstance(error, ChannelClosed) and process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = process.wait(timeout=2)
        self.stop()
        reason = None if watch is None else watch.reason
        cause = of_ending(
            TimeoutError() if self._deaf else error,
            status,
            over_limit=reason is not None,
            disk_filled=watch is not None and watch.disk_filled,
        )
        self.killed = cause == "kill"
        if CAUSES[cause].follows == "end of the run":
            raise IngestionError([CAUSES[cause].as_problem("run", tempfile.gettempdir())])
        found, expected, fix = reason or ("", "", "")
        how = "" if status is None else f" (exit {status})"
        if status is not None and status < 0:
            how = {number.value: number.name for number in signal.Signals}.get(-status, f"signal {-status}")
        return CAUSES[cause].as_problem(
            stage,
            where,
            found=found,
            expected=expected,
            fix=fix,
            limit_s=timeout_s,
            error=error,
            kind=type(error).__name__,
            name=self._confinement.name,
            how=how,
        )

    def _policy(self, scratch: Path) -> SandboxPolicy:
        return SandboxPolicy(
            at_most=self._confinement.isolation.at_most,
            scratch=scratch,
            submission=self._confinement.submission,
            packages=self._confinement.packages,
            memory_mb=self._confinement.memory_mb,
            file_mb=FILE_MB,
            cpu_s=self._confinement.cpu_s,
            parent=os.getpid(),
            also_allowed=self._confinement.isolation.also_allowed,
        )

    def _drain(self, process: "subprocess.Popen[bytes]", watch: LimitMonitor) -> None:
        if process.stdout is None:
            return
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            watch.printed_bytes += len(chunk)
            self._printed += chunk
            del self._printed[:-KEPT_OUTPUT]


def _environment(scratch: Path, packages: Path | None) -> dict[str, str]:
    """Return a clean environment: none of our variables leak, and results do not depend on the host's settings."""
    cores = str(os.cpu_count() or 1)
    return {
        **{name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ},
        **({"PYTHONPATH": str(packages)} if packages else {}),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": cores,
        "OPENBLAS_NUM_THREADS": cores,
        # Idle threads spin for 2**20 cycles before they sleep, not 2**26, which would waste 30 ms of a core.
        "OPENBLAS_THREAD_TIMEOUT": "20",
        "MKL_NUM_THREADS": cores,
    }
