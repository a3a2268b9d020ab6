"""The coopetition: who builds on whose work, and how useful each work was to others."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import read_json, read_text


@dataclass(frozen=True)
class NamedCredit:
    """One thing that a submission says it builds on."""

    source: str
    """Name of a run, or the address of a repository."""
    used: str
    """What was used, in the participant's words."""


@dataclass(frozen=True)
class TeamRun:
    """One submission."""

    name: str
    team: str
    """Its team; the run's name if none was given."""
    total: float | None
    """Its explanation score, 0 to 100; None for work shared in another phase, which has no lead."""
    credits: tuple[NamedCredit, ...]
    """Credits, each source once, without work of its own team."""


def read_works(
    runs: Sequence[RunFolder], totals: Mapping[str, float], teams: Mapping[str, str]
) -> tuple[list[TeamRun], list[str]]:
    """Read the credits of all runs, and find the runs that they name.

    `runs`: at least one.
    `totals`: explanation score by run; runs without one were shared in another phase.
    `teams`: team by run; a run without one is a team of its own.
    Returns the works, in the order of the runs; and remarks about credits that match nothing and are left out.
    Raises BundleError if the credits form a circle, so that somebody credits a later work.
    """
    facts = {run.name: read_json(run.folder / "run.json") for run in runs}
    hashes = {name: str(fact.get("submission_sha256") or "") for name, fact in facts.items()}
    team_of = {run.name: teams.get(run.name, run.name) for run in runs}
    remarks: list[str] = []
    works = []
    for run in runs:
        credits: dict[str, NamedCredit] = {}
        entries = facts[run.name].get("credits")
        for entry in (entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, dict)):
            source = _source(entry, hashes, team_of, totals, run.name, remarks)
            if source is None:
                continue
            if team_of.get(source) == team_of[run.name]:
                remarks.append(f"{run.name}: credits its own team ({source}), which does not count.")
                continue
            credits.setdefault(source, NamedCredit(source, str(entry.get("used", ""))[:200]))
        works.append(TeamRun(run.name, team_of[run.name], totals.get(run.name), tuple(credits.values())))
    try:
        sources_first(works)
    except CycleError as error:
        circle = " builds on ".join(reversed(error.args[1]))
        raise BundleError(f"the credits form a circle: {circle}. Leave the later version of one of them out.") from None
    return works, remarks


def sources_first(works: Sequence[TeamRun]) -> list[str]:
    """Order works and repositories so that each comes after all that it builds on.

    Raises CycleError, with the names along the circle, if there is no such order.
    """
    sources = {work.name: [credit.source for credit in work.credits] for work in works}
    return list(TopologicalSorter(dict(sorted(sources.items()))).static_order())


def read_teams(path: Path) -> dict[str, str]:
    """Read `run,team` lines.

    Raises BundleError when the file cannot be read, or with every line that is wrong.
    """
    teams, wrong = {}, []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if number == 1 and cells == ["run", "team"]:
            continue
        if len(cells) != 2 or not all(cells) or cells[0] in teams:
            wrong.append(f"line {number}: expected a run, once, and its team")
        else:
            teams[cells[0]] = cells[1]
    if wrong:
        raise BundleError(f"{path}: " + "; ".join(wrong) + ".")
    return teams


def _source(
    entry: dict[str, Any],
    hashes: Mapping[str, str],
    team_of: Mapping[str, str],
    totals: Mapping[str, float],
    name: str,
    remarks: list[str],
) -> str | None:
    if repository := entry.get("repository"):
        return str(repository).rstrip("/").removesuffix(".git")
    digest = str(entry.get("submission") or "")
    matches = [other for other, full in hashes.items() if digest and full.startswith(digest)]
    if len({(hashes[other], team_of[other]) for other in matches}) == 1:
        # The same file, sent to several phases by the same team, is one work: take the run that is scored.
        return min(matches, key=lambda other: (other not in totals, other))
    what = "is not among these runs" if not matches else f"fits {', '.join(matches)}"
    remarks.append(f"{name}: the submission {digest[:16]} {what}; the credit is ignored.")
    return None


PASSED_ON = 0.5
"""Share of what a work receives that it passes on to the works it credits."""
SHARED = "work of another phase: has no lead of its own"
SECOND = "a better submission of its team counts"


@dataclass(frozen=True)
class CreditedUse:
    """One credit, with what it is worth."""

    user: str
    source: str
    used: str
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
    users: int
    total: float | None
    """Its own explanation score; None for a repository and for work of another phase."""


def uses(works: Sequence[TeamRun], baseline: float) -> list[CreditedUse]:
    """Divide every team's lead among the works that it credits.

    `baseline`: explanation score from which a submission has a lead, 0 to 100. Returns one per credit, most points
    first; 0 points if there is no lead to divide.
    """
    by_name = {work.name: work for work in works}
    points = {(work.name, credit.source): 0.0 for work in works for credit in work.credits}
    givers, order = _best_runs(works), sources_first(works)
    for giver in givers:
        worth = {giver.name: max(0.0, (giver.total or 0.0) - baseline)}  # each work's share of this lead
        for name in reversed(order):
            parts = _parts(by_name[name], by_name) if name in worth and name in by_name else {}
            for source, part in parts.items():
                if source in by_name and by_name[source].team == giver.team:
                    continue
                points[name, source] += worth[name] * part
                worth[source] = worth.get(source, 0.0) + PASSED_ON * worth[name] * part
    result = [
        CreditedUse(
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
    return sorted(result, key=lambda use: (-use.points, use.source, use.user))


def usefulness(works: Sequence[TeamRun], baseline: float) -> list[Useful]:
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


def _gain(user: TeamRun, source: TeamRun | None) -> float | None:
    if user.total is None or source is None or source.total is None:
        return None
    return user.total - source.total


def _best_runs(works: Sequence[TeamRun]) -> list[TeamRun]:
    """Return the best run of each team, whose lead is divided."""
    best: dict[str, TeamRun] = {}
    scored = [work for work in works if work.total is not None]
    for work in sorted(scored, key=lambda work: (-(work.total or 0.0), work.name)):
        best.setdefault(work.team, work)
    return list(best.values())


def _parts(work: TeamRun, by_name: Mapping[str, TeamRun]) -> dict[str, float]:
    """Divide 1 among the teams and repositories that a work credits, and each team's part among its works."""
    owners = [by_name[credit.source].team if credit.source in by_name else None for credit in work.credits]
    repositories = owners.count(None)
    heads = len({owner for owner in owners if owner is not None}) + repositories
    return {
        credit.source: 1 / heads / (1 if owner is None else owners.count(owner))
        for credit, owner in zip(work.credits, owners, strict=True)
    }


ALONE = "No teams were named (--teams), so every run counts as its own team."


def record(works: Sequence[TeamRun], baseline: float, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the result as JSON data."""
    return {
        "baseline": baseline,
        "passed_on": PASSED_ON,
        "useful": [asdict(row) for row in usefulness(works, baseline)],
        "uses": [asdict(use) for use in uses(works, baseline)],
        "remarks": list(remarks),
    }


def lines(works: Sequence[TeamRun], baseline: float, remarks: Sequence[str]) -> list[str]:
    """Return the result for a terminal."""
    text = [f"Usefulness: shares of others' lead over {baseline:.2f}", "", f"{'points':>8}  {'teams':>5}  work"]
    text += [f"{row.points:>8.2f}  {row.users:>5}  {row.name}" for row in usefulness(works, baseline)]
    if len(text) == 3:
        text.append("Nobody credits anybody.")
    text.append("")
    for use in uses(works, baseline):
        gain = "" if use.gain is None else f", scores {use.gain:+.2f}"
        remark = f" [{use.remark}]" if use.remark else ""
        text.append(f"{use.user} uses {use.source}: {use.points:.2f} ({use.used}){gain}{remark}")
    alone = all(work.team == work.name for work in works)
    return [*text, *([ALONE] if alone else []), *remarks]
