"""Problems: what went wrong, where, what was expected, and how to fix it."""

from dataclasses import asdict, dataclass
from typing import Literal

from ingest.codes import CODES, Stage

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
    excused: bool = False
    """Whether it is the organisers' fault whatever its code says, because others kept the machine busy."""

    @property
    def fault(self) -> Fault:
        """Whose fault it is, which its code decides."""
        ours = self.excused or (self.code in CODES and CODES[self.code].kind == "O")
        return "organiser" if ours else "participant"

    def line(self) -> str:
        """Return the problem as one line for a log."""
        text = f"{self.code} · {self.where} · found {self.found}; expected {self.expected} · {self.fix}"
        return text if self.fault == "participant" else f"{text} · for the organisers"

    def record(self) -> dict[str, str]:
        """Return the problem as written to the output files, with unprintable characters escaped."""
        words = {key: text for key, text in asdict(self).items() if key != "excused"}
        return {key: visible(text) for key, text in {**words, "fault": self.fault}.items()}


def visible(text: str) -> str:
    """Return text with control, format and unpaired characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class IngestionError(Exception):
    """The run cannot continue; carries every problem found, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.line() for problem in problems))
        self.problems = problems
