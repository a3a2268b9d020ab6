"""What the doctor has to say about a submission."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing to know about a submission."""

    level: str
    """`error`: it would be refused; `warning`: it will not do what you mean; `note`: it is ignored."""
    code: str
    """Short name."""
    where: str
    """File, and line if there is one."""
    found: str
    """What was found."""
    fix: str
    """What to do."""

    def line(self) -> str:
        """Put it into a line."""
        return f"{self.level}: {self.where}: {self.found}. Fix: {self.fix}. [{self.code}]"
