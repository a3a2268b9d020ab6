"""The measure of usefulness: how much of others' lead a work contributed to.

The *lead* of a team is what its best run (by explanation score; the first by name among equals) has over the baseline,
0 if it has less. It goes to what that run credits: in equal parts to each team and repository, and within a team to its
works. A work passes half of what it receives on in the same way, since it added something of its own.
Repositories keep all. Work shared in another phase has no score here: it gives nothing of its own, and passes on
what it receives by the same rule. Nobody's score changes: usefulness is a prize of its own.

Each rule closes a way to win without helping anybody. One run a team gives: else one that credits A and another that
credits B would hand out the lead twice. Nothing of a lead comes back to its own team: else a team would earn half of
its own score through a friend who credits an older run of it. Teams share, not works: else work cut into ten pieces
would get ten parts. What no rule can see is in `docs/coopetition.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bundle_tools.challenge.coopetition.works import Work, sources_first

PASSED_ON = 0.5
"""Share of what a work receives that goes on to what it credits itself."""
SHARED = "work of another phase: has no lead of its own"
SECOND = "a better submission of its team counts"


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
    gain: float | None
    """How much higher the user scores than the source; None without two scores. About 0: look for a mere copy."""
    remark: str
    """Why the user gives no lead of its own; empty for its team's best submission."""


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
    """Its own explanation score; None for a repository and for work of another phase."""


def uses(works: Sequence[Work], baseline: float) -> list[Use]:
    """Divide every team's lead among the works that it credits.

    Parameters
    ----------
    works
        Without circles.
    baseline
        Explanation score from which on a submission leads, 0 to 100.

    Returns
    -------
    list of Use
        One per credit, most points first; 0 points if there is no lead to divide.
    """
    by_name = {work.name: work for work in works}
    points = {(work.name, credit.source): 0.0 for work in works for credit in work.credits}
    givers, order = _best_runs(works), sources_first(works)
    for giver in givers:
        held = {giver.name: max(0.0, (giver.total or 0.0) - baseline)}  # what each work has of this lead to share out
        for name in reversed(order):
            parts = _parts(by_name[name], by_name) if name in held and name in by_name else {}
            for source, part in parts.items():
                if source in by_name and by_name[source].team == giver.team:
                    continue
                points[name, source] += held[name] * part
                held[source] = held.get(source, 0.0) + PASSED_ON * held[name] * part
    found = [
        Use(
            user=work.name,
            source=credit.source,
            used=credit.used,
            points=points[work.name, credit.source],
            gain=_gain(work, by_name.get(credit.source)),
            remark=SHARED if work.total is None else "" if work in givers else SECOND,
        )
        for work in works
        for credit in work.credits
    ]
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


def _gain(user: Work, source: Work | None) -> float | None:
    if user.total is None or source is None or source.total is None:
        return None
    return user.total - source.total


def _best_runs(works: Sequence[Work]) -> list[Work]:
    """Return the best run of each team: its lead is divided."""
    best: dict[str, Work] = {}
    scored = [work for work in works if work.total is not None]
    for work in sorted(scored, key=lambda work: (-(work.total or 0.0), work.name)):
        best.setdefault(work.team, work)
    return list(best.values())


def _parts(work: Work, by_name: Mapping[str, Work]) -> dict[str, float]:
    """Divide 1 among the teams and repositories that a work credits, and each team's part among its works."""
    owners = [by_name[credit.source].team if credit.source in by_name else None for credit in work.credits]
    repositories = owners.count(None)
    heads = len({owner for owner in owners if owner is not None}) + repositories
    return {
        credit.source: 1 / heads / (1 if owner is None else owners.count(owner))
        for credit, owner in zip(work.credits, owners, strict=True)
    }
