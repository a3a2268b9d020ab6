"""Where the programs of a run are executed: as processes of this machine (here), or in containers (`docker`).

Both engines get the same `Container`: the paths that the program sees under `/app`, and its arguments. The process
engine has no `/app`; it rewrites these paths in the arguments, and in the sources of the run's own copy of the program,
because many public programs name them there. It isolates nothing and needs nothing, for quick trials.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TextIO

import psutil

from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.environment import python_for
from bundle_tools.console import Screen

# The worker gives the container these and nothing else: no id of a submission, a user or a phase.
ENVIRONMENT = {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}
# Variables that a process needs; any other could make a run differ from one on the platform.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "TEMP", "LD_LIBRARY_PATH", "SYSTEMROOT")
# Programs that know this variable report progress more often, for a person who is watching.
WATCHED = {"PROGRESS_EVERY_S": "1"}
# The worker's own data: the only mount that programs cannot write to.
WORKER_DATA = "/app/data"
GRACE_S = 5.0
# An endless line must not fill the memory.
LINE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Container:
    """One program to run."""

    name: str
    """Stem of its two log files, as the platform names them: "prediction_ingestion", "prediction" or "scoring"."""
    mounts: dict[str, Path]
    """Path inside (all under /app) -> folder outside; all are writable except `/app/data`."""
    arguments: list[str]
    """The split command, with the paths inside."""
    told: str | None = None
    """A line for its standard input, which then stays open as long as its starter lives; None for no input."""
    quiet: bool = False
    """Whether its output is only kept, not shown."""


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    exit_code: int
    """0 means success; negative: ended by that signal."""
    elapsed_s: float
    """Wall-clock seconds."""
    killed: bool = False
    """Whether it was ended at the time limit."""


class Engine(Protocol):
    """Runs one container to its end, showing and storing its output."""

    def prepare(self) -> list[str]:
        """Prepare before the clock of a job starts; report what the platform would refuse."""

    def run(self, container: Container, logs: Path, timeout_s: float | None = None) -> Outcome:
        """Run, stream both outputs to the terminal, and keep them in `logs/<name>_stdout.txt` and `..._stderr.txt`.

        Raises
        ------
        CannotStart
            When the program never ran.
        """


class ProcessEngine:
    """Runs programs as processes, each with a Python that has the packages of its own lock."""

    def prepare(self) -> list[str]:
        """See `Engine.prepare`; nothing needs preparation."""
        return []

    def run(self, container: Container, logs: Path, timeout_s: float | None = None) -> Outcome:
        """See `Engine.run`."""
        arguments = [_outside(argument, container.mounts) for argument in container.arguments]
        program = container.mounts["/app/program"]
        if arguments[0] in {"python", "python3"}:
            arguments[0] = str(python_for(program))
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment |= {"LANG": "C.UTF-8", **ENVIRONMENT, **(WATCHED if sys.stdout.isatty() else {})}
        _rewrite_sources(program, container.mounts)
        log = logs / container.name
        try:
            return stream(
                arguments, log, stop=end_tree, timeout_s=timeout_s, cwd=program, environment=environment,
                told=container.told, quiet=container.quiet,
            )  # fmt: skip
        except OSError as error:
            raise CannotStart(f"cannot start {arguments[0]!r}: {error}") from error


def end_tree(pid: int) -> None:
    """End a process and all its descendants, even in other sessions, like the end of a container."""
    try:
        top = psutil.Process(pid)
        family = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            process.kill()
        except psutil.Error:
            continue


def _outside(text: str, mounts: dict[str, Path]) -> str:
    """Replace every path under /app in an argument or a source by the folder that is mounted there."""
    for inside in sorted(mounts, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(inside)}(?![\w-])"
        text = re.sub(pattern, str(mounts[inside]).replace("\\", r"\\"), text)
    return text


def _rewrite_sources(program: Path, mounts: dict[str, Path]) -> None:
    for path in sorted(program.rglob("*")):
        if path.suffix in {".py", ".sh"} and path.is_file() and b"/app/" in path.read_bytes():
            # Bytes that are not UTF-8 are preserved.
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.write_text(_outside(text, mounts), encoding="utf-8", errors="surrogateescape")


def stream(
    arguments: list[str],
    log: Path,
    *,
    stop: Callable[[int], None],
    timeout_s: float | None = None,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    told: str | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run a command to its end.

    Parameters
    ----------
    log
        Stem of the two files `<log>_stdout.txt` and `<log>_stderr.txt`.
    stop
        Ends the processes of the command, given its process id; called at the time limit or on an interruption.
    timeout_s
        Seconds; None waits forever.
    told, quiet
        See `Container`.

    Raises
    ------
    OSError
        When the command cannot be started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - the organiser's own command, and no shell
        arguments,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL if told is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if told is not None and process.stdin is not None:
        with suppress(OSError):  # it has ended already
            process.stdin.write(f"{told}\n".encode())
            process.stdin.flush()
    screen = None if quiet else Screen()
    pumps = [
        threading.Thread(target=_pump, args=(pipe, log.with_name(f"{log.name}_{name}.txt"), ours, screen), daemon=True)
        for name, pipe, ours in (("stdout", process.stdout, sys.stdout), ("stderr", process.stderr, sys.stderr))
    ]
    for pump in pumps:
        pump.start()
    killed = False
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        killed = True
        stop(process.pid)
    except BaseException:
        stop(process.pid)
        raise
    exit_code = _reap(process)
    elapsed_s = time.monotonic() - started
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    for pump in pumps:
        # A process that the program left behind may hold the pipe open forever.
        pump.join(GRACE_S)
    return Outcome(exit_code, elapsed_s, killed)


def _reap(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _pump(pipe: IO[bytes], log: Path, stream: TextIO, screen: Screen | None) -> None:
    with log.open("wb") as file:
        while line := pipe.readline(LINE_BYTES):
            file.write(line)
            file.flush()
            # A closed screen must not stop the reading, or the program would wait forever.
            if screen is not None:
                screen.show(line.decode("utf-8", "replace"), stream)
