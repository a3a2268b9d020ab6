"""One finding about a bundle, and how it is shown."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from bundle_tools.codabench.keys import shown as shown  # noqa: PLC0414 - rules take it from here

Severity = Literal["error", "warning", "note"]

# Frequent descriptions of what Codabench would do.
REFUSED = "Codabench refuses the bundle and deletes the upload."
CRASHES = "Codabench's unpacker stops with a raw Python error and deletes the upload."
IGNORED = "Codabench silently ignores it."
FAILS_LATER = "Codabench accepts it; submissions fail later."

ORDER: dict[str, int] = {"error": 0, "warning": 1, "note": 2}
LONGEST_TOLD = 600


@dataclass(frozen=True)
class Finding:
    """One mistake or notable fact."""

    code: str
    """Short name of the rule, e.g. "phase-overlap"."""
    severity: Severity
    """error: the bundle would not work or would leak; warning: it would surprise; note: worth knowing."""
    where: str
    """File, with the line if known."""
    what: str
    """What was expected and what was found."""
    effect: str
    """The consequence, mostly what Codabench would do."""
    fix: str

    def lines(self) -> list[str]:
        """Return the finding as text."""
        return [f"{self.severity} [{self.code}] {self.where}", f"  {self.what}", f"  {self.effect} Fix: {self.fix}"]

    def short(self) -> "Finding":
        """Return the finding cut to a few lines: it may quote broken input of any length."""
        return self if len(self.what) <= LONGEST_TOLD else replace(self, what=self.what[: LONGEST_TOLD - 1] + "…")

    def record(self) -> dict[str, Any]:
        """Return the finding as JSON data."""
        return asdict(self)
