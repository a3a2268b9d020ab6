"""The run's log: at most 200 lines, printed and kept, because the platform often loses what is printed."""

from pathlib import Path

from ingest.errors import visible

MAXIMUM_LINES = 200
# Kept for the summary, which comes last and matters most.
RESERVED_LINES = 40


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
        print(text, flush=True)  # noqa: T201 - the log is meant to be printed
        self._file.write(text + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
