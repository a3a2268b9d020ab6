"""The coopetition page: a table, and a graph of who built on whom."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bundle_tools.challenge.coopetition.usefulness import PASSED_ON, Use, Useful, usefulness, uses
from bundle_tools.challenge.coopetition.works import Work, sources_first
from bundle_tools.challenge.pages import render

_LONGEST_NAME = 21
ALONE = "No teams were named (--teams), so every run counts as its own team."


@dataclass(frozen=True)
class Box:
    """A work in the graph."""

    name: str
    """Run or repository, shortened."""
    note: str
    column: int
    """From 0; to the right of everything it builds on."""
    row: int
    """From 0. No row holds two boxes, so lines along it cross none."""
    repository: bool
    """Whether it is a repository, not a run."""


def page(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> str:
    """Write the page; it is self-contained."""
    found, rows = uses(works, baseline), usefulness(works, baseline)
    return render(
        Path(__file__).parent / "templates",
        "coopetition",
        rows=rows,
        uses=found,
        works=sorted(works, key=lambda work: (work.total is None, -(work.total or 0.0), work.name)),
        baseline=baseline,
        passed_on=PASSED_ON,
        remarks=remarks,
        alone=ALONE if _alone(works) else "",
        boxes=boxes(works, rows),
        most=max((use.points for use in found), default=0.0) or 1.0,
    )


def record(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the same as JSON data."""
    return {
        "baseline": baseline,
        "passed_on": PASSED_ON,
        "useful": [asdict(row) for row in usefulness(works, baseline)],
        "uses": [asdict(use) for use in uses(works, baseline)],
        "remarks": list(remarks),
    }


def lines(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> list[str]:
    """Return the same for a terminal."""
    text = [f"Usefulness: shares of others' lead over {baseline:.2f}", "", f"{'points':>8}  {'teams':>5}  work"]
    text += [f"{row.points:>8.2f}  {row.users:>5}  {row.name}" for row in usefulness(works, baseline)]
    if len(text) == 3:
        text.append("Nobody credits anybody.")
    text += [
        "",
        *(
            f"{use.user} uses {use.source}: {use.points:.2f} ({use.used}){_remark(use)}"
            for use in uses(works, baseline)
        ),
    ]
    return [*text, *([ALONE] if _alone(works) else []), *remarks]


def _alone(works: Sequence[Work]) -> bool:
    return all(work.team == work.name for work in works)


def boxes(works: Sequence[Work], rows: Sequence[Useful]) -> dict[str, Box]:
    """Place each work that credits another or is credited; by name."""
    by_name = {work.name: work for work in works}
    points = {row.name: row.points for row in rows}
    columns: dict[str, int] = {}
    for name in sources_first(works):
        credits = by_name[name].credits if name in by_name else ()
        columns[name] = 1 + max((columns[credit.source] for credit in credits), default=-1)
    linked = [name for name in columns if columns[name] or name in points]
    linked.sort(key=lambda name: (columns[name], -points.get(name, 0.0), name))
    return {
        name: Box(
            _short(name), _note(by_name.get(name), points.get(name, 0.0)), columns[name], row, name not in by_name
        )
        for row, name in enumerate(linked)
    }


def _note(work: Work | None, points: float) -> str:
    what = "repository" if work is None else "another phase" if work.total is None else f"score {work.total:.2f}"
    return f"{what}, {points:.2f} useful" if points else what


def _remark(use: Use) -> str:
    return f" [{use.remark}]" if use.remark else ""


def _short(name: str) -> str:
    """Shorten a name to the width of a box; addresses first lose scheme and host, because `owner/name` says most."""
    name = name.partition("://")[2].partition("/")[2] or name
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
