"""What went wrong, and how to put it right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProblemRow:
    """One problem, or several of the same kind."""

    severity: str
    """``error`` or ``warning``."""
    code: str
    """Short name."""
    count: int
    """How often."""
    where: str
    """Place, of the first one."""
    found: str
    """What was found, of the first one; empty where participants must not see it."""
    expected: str
    """What was expected."""
    fix: str
    """What to do."""


@dataclass(frozen=True)
class Problems:
    """All problems of a run, by who can solve them."""

    yours: tuple[ProblemRow, ...]
    """For the participant."""
    theirs: tuple[ProblemRow, ...]
    """For the organisers."""
