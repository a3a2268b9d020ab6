"""Runs a command while its output is shown and kept, and ends it when its time is up."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

GRACE_S = 5.0
# One line without an end must not fill the memory.
LINE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    """0 means success; negative: ended by that signal."""
    elapsed_s: float
    """Wall-clock seconds."""
    killed: bool
    """Whether its time was up."""


def stream(
    arguments: list[str],
    log: Path,
    *,
    stop: Callable[[int], None],
    timeout_s: float | None = None,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Run a command to its end.

    Parameters
    ----------
    log
        Stem of the two files `<log>_stdout.txt` and `<log>_stderr.txt`.
    stop
        Ends what the command started, given its process id; called when the time is up or this program is interrupted.
    timeout_s
        Seconds; None waits for ever.

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
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pumps = [
        threading.Thread(target=_pump, args=(pipe, log.with_name(f"{log.name}_{name}.txt"), screen), daemon=True)
        for name, pipe, screen in (("stdout", process.stdout, sys.stdout), ("stderr", process.stderr, sys.stderr))
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
    for pump in pumps:
        # A process that the program left behind may hold the pipe open for ever.
        pump.join(GRACE_S)
    return Ended(exit_code, elapsed_s, killed)


def _reap(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _pump(pipe: IO[bytes], log: Path, screen: TextIO) -> None:
    with log.open("wb") as file:
        while line := pipe.readline(LINE_BYTES):
            file.write(line)
            file.flush()
            # A closed screen, as in `| head`, must not stop the reading: the program would wait for ever.
            with suppress(OSError, ValueError):
                encoding = screen.encoding or "utf-8"
                screen.write(line.decode("utf-8", "replace").encode(encoding, "replace").decode(encoding))
                screen.flush()
