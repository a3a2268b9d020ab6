"""Problems as people get to see them: grouped, counted, and sorted by who can solve them.

Logs get lost on the platform, so scoring repeats what ingestion found, in its log and in its page, from this one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from score.errors import Problem
from score.messages.audience import Audience
from score.messages.naming import protected_problems
from score.read.outcomes import Outcomes
from score.read.output.results import Results

FOR_YOU = "For you"
FOR_ORGANISERS = "For the organisers"
_MOST_LINES = 50
_CONSEQUENCES = frozenset({"restarts_used_up"})
"""Codes of what comes of other errors."""


@dataclass(frozen=True)
class Finding:
    """One problem, or several of the same kind."""

    problem: Problem
    """The first of them, fit for its readers."""
    count: int
    """How often, >= 1."""

    @property
    def yours(self) -> bool:
        """Whether the participant can solve it."""
        return self.problem.fault == "participant"

    def line(self) -> str:
        """Say everything in one line, for the log."""
        often = f"{self.count} times · " if self.count > 1 else ""
        return f"{self.problem.severity.upper()} · {often}{self.problem.line()}"


def of_problems(problems: Iterable[Problem], audience: Audience) -> tuple[Finding, ...]:
    """Group problems that read alike once their readers are taken into account."""
    counts: dict[Problem, int] = {}
    for problem in problems:
        shown = audience.problem(problem)
        counts[shown] = counts.get(shown, 0) + 1
    return _sorted(Finding(problem, count) for problem, count in counts.items())


def of_run(results: Results, outcomes: Outcomes, audience: Audience) -> tuple[Finding, ...]:
    """List the problems of a scored run: those of the run one by one, those of clips by kind.

    Where single clips are closed, a kind is a code and a count: the place and what was found belong to a clip.
    """
    kinds: dict[tuple[str, ...], list[Problem]] = {}
    for clip_id in outcomes.clip_ids:
        record = results.clips.get(clip_id)
        for problem in record.problems if record else ():
            shown = problem if audience.open else replace(problem, where="", found="")
            if audience.open and clip_id not in shown.where:
                shown = replace(shown, where=" · ".join(part for part in (f"clip {clip_id}", shown.where) if part))
            kinds.setdefault((shown.code, shown.stage, shown.severity, shown.fault), []).append(shown)
    named = protected_problems(outcomes, audience)
    run = of_problems((*results.run.problems, *results.warnings, *outcomes.warnings, *named), audience)
    clips = (Finding(audience.problem(group[0]), len(group)) for group in kinds.values())
    return _sorted((*run, *clips))


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, and what caused them before what came of it."""

    def rank(finding: Finding) -> tuple[bool, bool, int]:
        problem = finding.problem
        return problem.severity != "error", problem.code in _CONSEQUENCES, -finding.count

    return tuple(sorted(findings, key=rank))


def lines(findings: Sequence[Finding]) -> list[str]:
    """Render findings for the log: two headed lists, at most 50 lines of problems, and how many are left out."""
    result = []
    room = _MOST_LINES
    for title, yours in ((FOR_YOU, True), (FOR_ORGANISERS, False)):
        chosen = [finding for finding in findings if finding.yours == yours]
        if not chosen:
            continue
        # Each list keeps half of the room, so that neither can push the other out of the log.
        shown = chosen[: room if not yours else max(_MOST_LINES // 2, room - _others(findings))]
        room -= len(shown)
        result += [f"{title}:", *(f"  - {finding.line()}" for finding in shown)]
        if len(chosen) > len(shown):
            result.append(f"  - and {len(chosen) - len(shown)} more")
    return result


def _others(findings: Sequence[Finding]) -> int:
    return sum(not finding.yours for finding in findings)
