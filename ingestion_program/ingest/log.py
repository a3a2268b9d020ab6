"""The run's log: at most 200 lines, printed and kept, because the platform often loses what is printed."""

import contextlib
import io
import os
import sys
import time
from pathlib import Path

from ingest.clock import Clock, minutes
from ingest.errors import visible

MAXIMUM_LINES = 200
# Reserved for the summary, which comes last and matters most.
RESERVED_LINES = 40
PROGRESS_EVERY_S = "PROGRESS_EVERY_S"
"""Environment variable: seconds between two progress lines. Tools set it when a person is watching."""
EVERY_S = 10.0
PROGRESS_LINES = 50
"""Most progress lines in one pass."""


def speak_utf8() -> None:
    """Print UTF-8 whatever the locale: a name that is not ASCII must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(line: str) -> None:
    """Print a line; failing to print never ends the run, because the record matters more."""
    try:
        print(line, flush=True)  # noqa: T201 - the log of the platform is what is printed
    except (OSError, ValueError):
        # Python would try to flush the buffer at exit and fail again.
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
            text = "… further lines omitted; the summary follows"
        text = "[ingestion] " + visible(" ".join(text.split()))
        say(text)
        # Lines that do not fit on a full disk are kept and written with a later line.
        with contextlib.suppress(OSError):
            self._file.write(text + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()


class Progress:
    """Logs from time to time how far a pass is and how long the rest will take."""

    def __init__(self, log: Log, clock: Clock, title: str, unit: str, total: int) -> None:
        self._log, self._clock = log, clock
        self._title, self._unit, self._total = title, unit, total
        self._every_s = float(os.environ.get(PROGRESS_EVERY_S, EVERY_S))
        self._begun_s = self._reported_s = time.monotonic()
        self._reported = 0

    def update(self, done: int) -> None:
        """Write a line if the last one was long enough ago, and always when the pass is done."""
        now_s = time.monotonic()
        due = now_s - self._reported_s >= self._every_s and (done - self._reported) * PROGRESS_LINES >= self._total
        if not due and done != self._total:
            return
        self._reported_s, self._reported = now_s, done
        took_s = now_s - self._begun_s
        so_far = f"{self._title}: {done} of {self._total} {self._unit}, {took_s / max(1, done):.2f} s each"
        left = f"about {minutes(took_s / max(1, done) * (self._total - done))} to go"
        budget = f"{minutes(self._clock.left_s())} of the time budget left"
        self._log.line(f"{so_far}; {left}, {budget}" if done < self._total else f"{so_far}; {budget}")
