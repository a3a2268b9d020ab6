"""Problems as people get to see them: grouped, counted, and sorted by who can solve them.

Logs get lost on the platform, so scoring repeats what ingestion found, in its log and in its page, from this one list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

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


def of_problems(problems: Iterable[Problem], audience: Audience) -> tuple[Problem, ...]:
    """Group problems that read alike once their readers are taken into account."""
    counts = Counter(map(audience.problem, problems))
    return _sorted(replace(problem, count=count) for problem, count in counts.items())


def of_run(results: Results, outcomes: Outcomes, audience: Audience) -> tuple[Problem, ...]:
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
    clips = (replace(audience.problem(group[0]), count=len(group)) for group in kinds.values())
    return _sorted((*run, *clips))


def _sorted(findings: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors first, and what caused them before what came of it."""
    return tuple(sorted(findings, key=lambda one: (one.severity != "error", one.code in _CONSEQUENCES, -one.count)))


def lines(findings: Sequence[Problem]) -> list[str]:
    """Render findings for the log: two headed lists, at most 50 lines of problems, and how many are left out."""
    result = []
    yours, theirs = ([one for one in findings if one.yours == mine] for mine in (True, False))
    # Each list keeps half of the room, so that neither can push the other out of the log.
    room = max(_MOST_LINES // 2, _MOST_LINES - len(theirs))
    for title, chosen, most in ((FOR_YOU, yours, room), (FOR_ORGANISERS, theirs, _MOST_LINES - min(room, len(yours)))):
        if chosen:
            result += [f"{title}:", *(f"  - {_line(finding)}" for finding in chosen[:most])]
        if len(chosen) > most:
            result.append(f"  - and {len(chosen) - most} more")
    return result


def _line(finding: Problem) -> str:
    often = f"{finding.count} times · " if finding.count > 1 else ""
    return f"{finding.severity.upper()} · {often}{finding.line()}"
