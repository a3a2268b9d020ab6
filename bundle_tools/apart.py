"""Work in processes of their own, which end with the driver that wants their results."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

LOST = 75
"""Exit code EX_TEMPFAIL: another attempt may succeed."""
LOOK_S, GONE_S = 5.0, 180.0
"""Work ends if the driver has shown no sign of life for so long, seconds; how often it looks."""


class Lost(Exception):
    """Work ended without a result; another attempt may succeed."""


def run_apart(module: str, task: dict[str, Any], arguments: Sequence[str], alive: Path, console: Path) -> int:
    """Run a module as a program until it ends, or the driver is gone; return its exit code.

    `task`: the first line of its standard input, as JSON. `alive`: a file that the driver touches as long as it lives.
    `console`: receives what is printed.
    """
    seen, seen_s = 0.0, time.monotonic()
    checkout = Path(__file__).resolve().parents[1]
    with (
        console.open("wb") as file,
        subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=checkout,
        ) as process,
    ):
        assert process.stdin is not None  # noqa: S101 - for the type checker
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()  # and not closed: its end is that of the program
        while True:
            try:
                return process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                touched = alive.stat().st_mtime if alive.exists() else None
                if touched is not None and touched != seen:
                    seen, seen_s = touched, time.monotonic()
                if touched is None or time.monotonic() - seen_s > GONE_S:
                    process.stdin.close()


def own_task() -> dict[str, Any]:
    """Return the task of this process, see `run_apart`, which from now on ends with its parent."""
    task: dict[str, Any] = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    Thread(target=_end_with_parent, daemon=True).start()
    return task


def last_line(console: Path) -> str:
    """Return the last line that a process has printed."""
    printed = [line for line in console.read_text("utf-8", "replace").splitlines() if line.strip()]
    return printed[-1].removeprefix("bundle: ") if printed else "nothing was printed"


def _end_with_parent() -> None:
    while os.read(0, 1 << 10):  # `sys.stdin` would hold a lock that the interpreter needs at its end
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # ends the programs of the run, too
