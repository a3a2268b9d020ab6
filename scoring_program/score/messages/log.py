"""The printed log: short lines, at once, and never a reason to fail."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def say(line: str, stream: TextIO | None = None) -> None:
    """Print one line of the log. A reader who has gone away changes nothing: the scores matter more."""
    stream = stream or sys.stdout
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Send the rest nowhere, or else Python fails over it at exit, and with it a run that has met labels."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def speak_utf8() -> None:
    """Print UTF-8 whatever the locale says: a log in an ASCII locale must not end a run that has met labels."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
