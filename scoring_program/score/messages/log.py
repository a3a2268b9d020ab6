"""Print the log: short lines, flushed at once; printing never fails a run."""

import contextlib
import io
import os
import sys
from typing import TextIO


def say(line: str, stream: TextIO | None = None) -> None:
    """Print one line of the log; a closed stream is ignored, because the scores matter more."""
    stream = stream or sys.stdout
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Discard further output; otherwise Python would fail at exit, after labels were used."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def speak_utf8() -> None:
    """Print UTF-8 in any locale: an ASCII locale must not fail a run after labels were used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
