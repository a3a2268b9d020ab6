"""Limit what messages reveal about a model's problems: all details in an open phase, fixed words in a hidden one.

A model that sees hidden clips could leak them to its author through an exception's text, the name of a function or
key, or the shape of an array. In a hidden phase the texts of `codes` replace all of these. Only the line in the
participant's own file stays, after checking that it exists.
"""

import re
from dataclasses import replace
from pathlib import Path

from ingest.errors import Problem
from ingest.record.codes import CODES, Code

LONGEST = 600
LARGEST_SOURCE = 1 << 18
MOST_SOURCES, MOST_LINES = 50, 2000
"""For longer submissions no lines are reported: a line number among millions could encode a pixel."""
LINE = re.compile(r"(?P<file>.+?\.py) line (?P<line>[0-9]{1,7})(, in .*)?", re.DOTALL)
# Places that only the programs name.
PLACES = frozenset(
    {"model.py", "predict", "explain", "text", "image", "evidence", "space", "time", "the remaining clips"}
)


class Feedback:
    """Turns a problem caused by a model into the message for its author."""

    def __init__(self, submission: Path, targets: tuple[str, ...], *, hidden: bool) -> None:
        self._hidden = hidden
        self._places = PLACES | {f'target "{name}"' for name in targets}
        # Read before any model runs, which could otherwise invent names by writing files.
        self._lines = _count_lines(submission) if hidden else {}

    def tell(self, problem: Problem) -> Problem:
        """Return the problem as it may be recorded and printed.

        Problems for the organisers keep their own words: a model cannot influence them.
        """
        # The model process reports its own failures, and may lie.
        if problem.code not in CODES or problem.stage not in CODES[problem.code].stages:
            problem = replace(problem, code="load_failed")
        if problem.fault == "organiser":
            return problem
        if self._hidden:
            return _fixed(problem, CODES[problem.code], self._place(problem))
        return replace(
            problem,
            where=problem.where[:LONGEST],
            found=problem.found[:LONGEST],
            expected=problem.expected[:LONGEST],
            fix=(problem.fix or CODES[problem.code].fix)[:LONGEST],
        )

    def _place(self, problem: Problem) -> str:
        if problem.where in self._places:
            return problem.where
        match = LINE.fullmatch(problem.where)
        if match and 1 <= int(match["line"]) <= self._lines.get(match["file"], 0):
            return f"{match['file']} line {int(match['line'])}"
        return problem.stage


def _fixed(problem: Problem, words: Code, where: str) -> Problem:
    return replace(problem, where=where, found=words.found, expected=words.expected, fix=words.fix)


def _count_lines(submission: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in sorted(submission.rglob("*.py"))[:MOST_SOURCES]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_SOURCE:
            counts[path.relative_to(submission).as_posix()] = path.read_bytes().count(b"\n") + 1
    return {name: lines for name, lines in counts.items() if lines <= MOST_LINES}
