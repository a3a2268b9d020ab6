"""The run's log: at most 200 lines, printed and kept, because the platform often loses what is printed."""

import contextlib
import io
import os
import sys
from pathlib import Path

from ingest.errors import visible

MAXIMUM_LINES = 200
# Kept for the summary, which comes last and matters most.
RESERVED_LINES = 40


def speak_utf8() -> None:
    """Print UTF-8 whatever the locale says: a name that ASCII lacks must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(line: str) -> None:
    """Print a line. Where it cannot be printed nothing changes: the record matters more."""
    try:
        print(line, flush=True)  # noqa: T201 - the log of the platform is what is printed
    except (OSError, ValueError):
        # What is left in the buffer would fail once more when Python ends.
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


class Log:
    """Writes each line to the terminal and to `log.txt` at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace")
        self._lines = 0

    def line(self, text: str, *, summary: bool = False) -> None:
        """Write one line; ordinary lines beyond the limit are dropped, the summary's are not."""
        limit = MAXIMUM_LINES if summary else MAXIMUM_LINES - RESERVED_LINES
        if self._lines == limit:
            return
        self._lines += 1
        if self._lines == limit and not summary:
            text = "… further lines are left out; the summary follows"
        text = "[ingestion] " + visible(" ".join(text.split()))
        say(text)
        # What the disk has no room for is kept, and written with a later line.
        with contextlib.suppress(OSError):
            self._file.write(text + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()
