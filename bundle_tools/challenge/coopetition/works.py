"""Submissions with their scores and credits, and problems of the credits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from bundle_tools.challenge.compare.runs import Run
from bundle_tools.errors import BundleError


@dataclass(frozen=True)
class Credit:
    """One thing that a submission says it builds on."""

    source: str
    """Name of a run, or the address of a repository."""
    used: str
    """What was used, in the participant's words."""


@dataclass(frozen=True)
class Work:
    """One submission."""

    name: str
    team: str
    """Its team; the run's name if none was given."""
    total: float | None
    """Its explanation score, 0 to 100; None for work shared in another phase, which has no lead."""
    credits: tuple[Credit, ...]
    """Credits, each source once, without work of its own team."""


def read_works(
    runs: Sequence[Run], totals: Mapping[str, float], teams: Mapping[str, str]
) -> tuple[list[Work], list[str]]:
    """Read the credits of all runs, and find the runs that they name.

    `runs`: at least one.
    `totals`: explanation score by run; runs without one were shared in another phase.
    `teams`: team by run; a run without one is a team of its own.
    Returns the works, in the order of the runs; and remarks about credits that match nothing and are left out.
    Raises BundleError if the credits form a circle, so that somebody credits a later work.
    """
    facts = {run.name: json.loads((run.folder / "run.json").read_text("utf-8")) for run in runs}
    hashes = {name: str(fact.get("submission_sha256") or "") for name, fact in facts.items()}
    team_of = {run.name: teams.get(run.name, run.name) for run in runs}
    remarks: list[str] = []
    works = []
    for run in runs:
        credits: dict[str, Credit] = {}
        for entry in _entries(facts[run.name]):
            source = _source(entry, hashes, team_of, totals, run.name, remarks)
            if source is None:
                continue
            if team_of.get(source) == team_of[run.name]:
                remarks.append(f"{run.name}: credits its own team ({source}), which does not count.")
                continue
            credits.setdefault(source, Credit(source, str(entry.get("used", ""))[:200]))
        works.append(Work(run.name, team_of[run.name], totals.get(run.name), tuple(credits.values())))
    try:
        sources_first(works)
    except CycleError as error:
        found = " builds on ".join(reversed(error.args[1]))
        raise BundleError(f"the credits form a circle: {found}. Leave the later version of one of them out.") from None
    return works, remarks


def sources_first(works: Sequence[Work]) -> list[str]:
    """Order works and repositories so that each comes after all that it builds on.

    Raises CycleError, with the names along the circle, if there is no such order.
    """
    sources = {work.name: [credit.source for credit in work.credits] for work in works}
    return list(TopologicalSorter(dict(sorted(sources.items()))).static_order())


def read_teams(path: Path) -> dict[str, str]:
    """Read `run,team` lines.

    Raises BundleError when the file cannot be read, or with every line that is wrong.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"--teams {path}: expected lines run,team in UTF-8; found {error}.") from None
    teams, wrong = {}, []
    for number, line in enumerate(text.splitlines(), 1):
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


def _entries(facts: dict[str, Any]) -> list[dict[str, Any]]:
    given = facts.get("credits")
    return [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []


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
    found = [other for other, full in hashes.items() if digest and full.startswith(digest)]
    if len({(hashes[other], team_of[other]) for other in found}) == 1:
        # The same file, sent to several phases by the same team, is one work: take the run that is scored.
        return min(found, key=lambda other: (other not in totals, other))
    what = "is not among these runs" if not found else f"fits {', '.join(found)}"
    remarks.append(f"{name}: the submission {digest[:16]} {what}; the credit is ignored.")
    return None
