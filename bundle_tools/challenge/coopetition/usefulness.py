"""The measure of usefulness: how much a work contributed to the leads of others.

The *lead* of a team is how far its best run (by explanation score; ties go to the first by name) exceeds the baseline,
but at least 0. It is divided among the works that this run credits: equally among teams and repositories, and within a
team equally among its works. A work passes half of what it receives on in the same way; repositories keep all. Work
shared in another phase has no score here: it has no lead, but passes on what it receives. Usefulness changes
nobody's score: it is a prize of its own.

Each rule prevents a way to win without helping anybody. Only one run of a team gives: two runs that credit different
works would hand out the lead twice. Nothing returns to the lead's own team: a team could earn half of its own score
through a friend who credits its older run. Parts are per team, not per work: work cut into ten pieces would get ten
parts. `docs/coopetition.md` lists what no rule can prevent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bundle_tools.challenge.coopetition.works import Work, sources_first

PASSED_ON = 0.5
"""Share of what a work receives that it passes on to the works it credits."""
SHARED = "work of another phase: has no lead of its own"
SECOND = "a better submission of its team counts"


@dataclass(frozen=True)
class Use:
    """One credit, with what it is worth."""

    user: str
    """The submission that builds on the source."""
    source: str
    used: str
    """What was used."""
    points: float
    """What the source receives through it, in points of the explanation score, >= 0."""
    gain: float | None
    """How much higher the user scores than the source; None without two scores. About 0 suggests a mere copy."""
    remark: str
    """Why the user has no lead to give; empty for its team's best submission."""


@dataclass(frozen=True)
class Useful:
    """One work and how useful it was."""

    name: str
    team: str
    """Its team; empty for a repository."""
    points: float
    """Points received, >= 0."""
    users: int
    total: float | None
    """Its own explanation score; None for a repository and for work of another phase."""


def uses(works: Sequence[Work], baseline: float) -> list[Use]:
    """Divide every team's lead among the works that it credits.

    `baseline`: explanation score from which a submission has a lead, 0 to 100. Returns one per credit, most points
    first; 0 points if there is no lead to divide.
    """
    by_name = {work.name: work for work in works}
    points = {(work.name, credit.source): 0.0 for work in works for credit in work.credits}
    givers, order = _best_runs(works), sources_first(works)
    for giver in givers:
        held = {giver.name: max(0.0, (giver.total or 0.0) - baseline)}  # each work's share of this lead
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
    """Return the best run of each team, whose lead is divided."""
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
