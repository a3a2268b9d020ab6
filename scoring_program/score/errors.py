"""What can go wrong, as data: problems, and the two errors that end a run.

No text in here may hold a label value: logs and reports are open to participants, whatever the phase. So one rendering
serves all readers; the report only sorts by whose fault a problem is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar

from score.visible import one_line


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; the same fields as in docs/output_format.md."""

    code: str
    """Short, stable name in snake case, such as ``label_missing``."""
    stage: str
    """``settings``, ``data``, ``load``, ``predict``, ``explain`` or ``run``."""
    where: str
    """The clip, file, line or key."""
    found: str
    """What is there; never a label value."""
    expected: str
    """What should be there."""
    fix: str
    """What to do about it."""
    severity: str = "error"
    """``error`` or ``warning``."""
    fault: str = "organiser"
    """``participant`` or ``organiser``."""

    def line(self) -> str:
        """Say everything in one line, for the log."""
        found = f"found {self.found}" if self.found else ""
        expected = f"expected {self.expected}" if self.expected else ""
        parts = (self.code, self.where, found, expected, self.fix)
        return one_line(" · ".join(part for part in parts if part), 600)


MOST_FOUND = 1000
"""Mistakes after which a reader stops: a file of another kind has one in every line."""


class ScoringError(Exception):
    """The run cannot be scored, for the reasons in ``problems``; raised only before a label is compared with anything.

    Raising it later would make "Failed" (which costs no attempt) depend on labels, and so reveal them.
    """

    exit_code: ClassVar[int]

    def __init__(self, headline: str, problems: Sequence[Problem]) -> None:
        super().__init__(headline)
        self.headline = headline
        self.problems = tuple(problems)


class NotGradableError(ScoringError):
    """The results cannot be judged: the submission is invalid, or its results are missing or damaged."""

    exit_code = 1


class OrganiserError(ScoringError):
    """Settings, reference data or the program itself are at fault; the participant is not."""

    exit_code = 2


def internal_problem(error: Exception) -> Problem:
    """Describe an unexpected error by its type and place alone: its message may quote a label."""
    frames = extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "the scoring program"
    return Problem(
        code="internal_error",
        stage="run",
        where=place,
        found=type(error).__name__,
        expected="no unexpected error",
        fix="run the scoring program on the same input by hand to see the whole error",
    )
