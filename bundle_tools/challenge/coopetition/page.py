"""The coopetition as people read it: a table, and a graph of who built on whom."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bundle_tools.challenge.coopetition.usefulness import PASSED_ON, Use, Useful, usefulness, uses
from bundle_tools.challenge.coopetition.works import Work
from bundle_tools.challenge.pages import render

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 220, 46, 90, 18
_LONGEST_NAME = 21
ALONE = "Every run counts as a team of its own, since no teams were named (--teams)."


@dataclass(frozen=True)
class Node:
    """One box of the graph."""

    name: str
    """Run or repository, shortened."""
    title: str
    """The same in full."""
    note: str
    """Its score and what it received."""
    x: int
    """Left edge."""
    y: int
    """Upper edge."""
    repository: bool
    """Whether it is no run."""


@dataclass(frozen=True)
class Edge:
    """One line of the graph, from a source on the left to its user on the right."""

    path: str
    """Of the line, in SVG."""
    width: float
    """Grows with the points."""
    title: str
    """In words."""


@dataclass(frozen=True)
class Graph:
    """A drawing."""

    width: int
    """Of the whole."""
    height: int
    """Of the whole."""
    nodes: tuple[Node, ...]
    """Boxes."""
    edges: tuple[Edge, ...]
    """Lines."""


def page(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> str:
    """Write the page; it asks for nothing from outside.

    Parameters
    ----------
    works
        Submissions.
    baseline
        Explanation score from which on a submission leads.
    remarks
        Credits that were left out, and why.
    """
    found, rows = uses(works, baseline), usefulness(works, baseline)
    return render(
        "bundle_tools.challenge.coopetition",
        "coopetition",
        rows=rows,
        uses=found,
        works=sorted(works, key=lambda work: (work.total is None, -(work.total or 0.0), work.name)),
        baseline=baseline,
        passed_on=PASSED_ON,
        remarks=remarks,
        alone=ALONE if _alone(works) else "",
        graph=_graph(works, found, rows),
        box=(_WIDTH, _HEIGHT),
    )


def record(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> dict[str, Any]:
    """Give the same for a program."""
    return {
        "baseline": baseline,
        "passed_on": PASSED_ON,
        "useful": [asdict(row) for row in usefulness(works, baseline)],
        "uses": [asdict(use) for use in uses(works, baseline)],
        "remarks": list(remarks),
    }


def lines(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> list[str]:
    """Give the same for a terminal."""
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


def _graph(works: Sequence[Work], found: Sequence[Use], rows: Sequence[Useful]) -> Graph:
    """Lay the graph out in columns: each work stands to the right of everything it builds on."""
    sources = {work.name: [credit.source for credit in work.credits] for work in works}
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = 1 + max((depth(source) for source in sources.get(name, ())), default=-1)
        return depths[name]

    linked = sorted({name for use in found for name in (use.user, use.source)})
    points = {row.name: row.points for row in rows}
    totals = {work.name: work.total for work in works}
    places: dict[str, tuple[int, int]] = {}
    filled: dict[int, int] = {}
    for name in sorted(linked, key=lambda name: (-points.get(name, 0.0), name)):
        column = depth(name)
        places[name] = column * (_WIDTH + _GAP_X), filled.get(column, 0) * (_HEIGHT + _GAP_Y)
        filled[column] = filled.get(column, 0) + 1
    nodes = tuple(
        Node(
            _short(name),
            name,
            _note(totals.get(name), points.get(name, 0.0), name not in totals),
            *places[name],
            name not in totals,
        )
        for name in linked
    )
    most = max((use.points for use in found), default=0.0) or 1.0
    height = max(filled.values(), default=0) * (_HEIGHT + _GAP_Y)
    edges, passing = [], False
    for use in found:
        (x1, y1), (x2, y2) = places[use.source], places[use.user]
        start, end, middle = (x1 + _WIDTH, y1 + _HEIGHT // 2), (x2, y2 + _HEIGHT // 2), (x1 + _WIDTH + x2) // 2
        bends = (middle, start[1], middle, end[1])
        if (
            depth(use.user) > depth(use.source) + 1
        ):  # below the boxes between: a curve reaches 3/4 of the way to its bends
            passing, low = True, height * 4 // 3
            bends = (start[0] + _GAP_X, low, end[0] - _GAP_X, low)
        path = f"M{start[0]} {start[1]} C{bends[0]} {bends[1]} {bends[2]} {bends[3]} {end[0]} {end[1]}"
        edges.append(Edge(path, 1 + 5 * use.points / most, f"{use.user} uses {use.source}: {use.points:.2f} points"))
    width = (max(filled, default=0) + 1) * (_WIDTH + _GAP_X) - _GAP_X
    return Graph(width, height * 5 // 4 if passing else height, nodes, tuple(edges))


def _note(total: float | None, points: float, repository: bool) -> str:
    what = "repository" if repository else "another phase" if total is None else f"score {total:.2f}"
    return f"{what}, {points:.2f} useful" if points else what


def _remark(use: Use) -> str:
    return f" [{use.remark}]" if use.remark else ""


def _short(name: str) -> str:
    """Shorten a name to the width of a box; of an address, host and scheme go first: `owner/name` says most."""
    name = name.partition("://")[2].partition("/")[2] or name
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
