"""The section on problems."""

from __future__ import annotations

from collections.abc import Sequence

from score.messages.findings import Finding
from score.report.content.problems import ProblemRow, Problems
from score.visible import one_line

_MOST_PROBLEMS = 60


def problems(findings: Sequence[Finding]) -> Problems:
    """Sort problems by who can solve them; at most 60 each."""
    return Problems(yours=_rows(findings, yours=True), theirs=_rows(findings, yours=False))


def _rows(findings: Sequence[Finding], *, yours: bool) -> tuple[ProblemRow, ...]:
    return tuple(_row(finding) for finding in findings if finding.yours == yours)[:_MOST_PROBLEMS]


def _row(finding: Finding) -> ProblemRow:
    problem = finding.problem
    return ProblemRow(
        severity=problem.severity,
        code=one_line(problem.code, 60),
        count=finding.count,
        where=one_line(problem.where, 120),
        found=one_line(problem.found, 900),
        expected=one_line(problem.expected, 300),
        fix=one_line(problem.fix, 300),
    )
