"""Problems: what went wrong, where, what was expected, and how to fix it."""

import errno
from dataclasses import asdict, dataclass
from typing import Literal

SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})

Stage = Literal["settings", "data", "load", "predict", "explain", "run"]
Severity = Literal["error", "warning"]
Fault = Literal["participant", "organiser"]


@dataclass(frozen=True)
class Problem:
    """One thing that went wrong."""

    code: str
    """Short name from a closed vocabulary, e.g. `target_missing`."""
    stage: Stage
    where: str
    """File, key, clip or line."""
    found: str
    expected: str
    fix: str
    severity: Severity = "error"
    """After a warning, the value is still used."""
    fault: Fault = "participant"

    def line(self) -> str:
        """Return the problem as one line for a log."""
        text = f"{self.code} · {self.where} · found {self.found}; expected {self.expected} · {self.fix}"
        return text if self.fault == "participant" else f"{text} · for the organisers"

    def record(self) -> dict[str, str]:
        """Return the problem as written to the output files, with unprintable characters escaped."""
        return {key: visible(text) for key, text in asdict(self).items()}


def disk_full(where: object) -> Problem:
    """Return the problem that other programs have filled the disk."""
    found, expected = "no room on the disk", "room for what a run writes"
    fix = "make room on the worker, and run the submission again"
    return Problem("disk_full", "run", str(where), found, expected, fix, fault="organiser")


def output_closed(output: object, error: OSError) -> Problem:
    """Return the problem that the output folder cannot be written; only the log can report it."""
    found = f"{error.strerror}" + (f": {error.filename}" if error.filename else "")
    expected = "a folder that can be emptied and written, with room on its disk"
    fix = "repair the worker, and run the submission again"
    return Problem("output_closed", "run", str(output), found, expected, fix, fault="organiser")


def is_shortage(error: Exception) -> bool:
    """Tell whether this process lacks descriptors or memory. While a model lives, that is the model's doing."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in SHORTAGES)


def visible(text: str) -> str:
    """Return text with control, format and unpaired characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class IngestionError(Exception):
    """The run cannot continue; carries every problem found, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.line() for problem in problems))
        self.problems = problems
