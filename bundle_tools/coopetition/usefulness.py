"""The measure: how much of others' lead rests on a work.

The *lead* of a submission is what its explanation score has over the baseline, 0 if it has less. A submission divides
its lead equally among all it credits. What a work receives, it passes on in the same way, but only half of it, since
it added something of its own. Repositories keep all. Nobody's score changes: usefulness is a prize of its own.

Of several runs of one team that credit the same source, only the one with the highest score counts for that source
(the first by name among equals); what the others would give it is dropped. So nobody gains by submitting often.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bundle_tools.coopetition.works import Work

PASSED_ON = 0.5
"""Share of what a work receives that goes on to what it credits itself."""


@dataclass(frozen=True)
class Use:
    """One credit, with what it is worth."""

    user: str
    """The submission that builds on the source."""
    source: str
    """The run or repository."""
    used: str
    """What was used."""
    points: float
    """What the source receives through it, in points of the explanation score, >= 0."""


@dataclass(frozen=True)
class Useful:
    """One work and how useful it was."""

    name: str
    """A run, or a repository."""
    team: str
    """Its team; empty for a repository."""
    points: float
    """All that it received, >= 0."""
    users: int
    """Teams that credit it directly."""
    total: float | None
    """Its own explanation score; None for a repository."""


def uses(works: Sequence[Work], baseline: float) -> list[Use]:
    """Share out every lead.

    Parameters
    ----------
    works
        Without circles.
    baseline
        Explanation score from which on a submission leads, 0 to 100.

    Returns
    -------
    list of Use
        One a credit, most points first; 0 points where a better run of the team credits the same source.
    """
    by_name = {work.name: work for work in works}
    best = _best_runs(works)
    received = dict.fromkeys(by_name, 0.0)
    found = []
    for name in _users_first(works):
        work = by_name[name]
        if not work.credits:
            continue
        shared = max(0.0, work.total - baseline) + PASSED_ON * received[name]
        for credit in work.credits:
            points = shared / len(work.credits) if best[work.team, credit.source] == name else 0.0
            found.append(Use(name, credit.source, credit.used, points))
            if credit.source in received:
                received[credit.source] += points
    return sorted(found, key=lambda use: (-use.points, use.source, use.user))


def usefulness(works: Sequence[Work], baseline: float) -> list[Useful]:
    """Sum what each work receives; most useful first, and works that nobody credits are left out."""
    by_name = {work.name: work for work in works}
    points: dict[str, float] = {}
    users: dict[str, set[str]] = {}
    for use in uses(works, baseline):
        points[use.source] = points.get(use.source, 0.0) + use.points
        users.setdefault(use.source, set()).add(by_name[use.user].team)
    rows = []
    for name, value in points.items():
        work = by_name.get(name)
        rows.append(Useful(name, work.team if work else "", value, len(users[name]), work.total if work else None))
    return sorted(rows, key=lambda row: (-row.points, row.name))


def _best_runs(works: Sequence[Work]) -> dict[tuple[str, str], str]:
    """Name the run that counts for each team and source."""
    best: dict[tuple[str, str], str] = {}
    for work in sorted(works, key=lambda work: (-work.total, work.name)):
        for credit in work.credits:
            best.setdefault((work.team, credit.source), work.name)
    return best


def _users_first(works: Sequence[Work]) -> list[str]:
    """Order works so that each comes before what it builds on."""
    by_name = {work.name: work for work in works}
    order: list[str] = []

    def visit(name: str) -> None:
        if name in by_name and name not in order:
            for credit in by_name[name].credits:
                visit(credit.source)
            order.append(name)

    for name in sorted(by_name):
        visit(name)
    return order[::-1]
