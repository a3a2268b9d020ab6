"""The printed log: short lines, at once, and never a reason to fail."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import TextIO


def say(line: str, stream: TextIO | None = None) -> None:
    """Print one line of the log; a reader who has gone away changes nothing."""
    with contextlib.suppress(OSError, ValueError):  # a closed pipe or a closed stream: scores matter more
        print(line, file=stream or sys.stdout, flush=True)


def speak_utf8() -> None:
    """Print UTF-8 whatever the locale says: a log in an ASCII locale must not end a run that has met labels."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
