"""Usefulness and credits as tables: lines for a terminal, and JSON data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bundle_tools.challenge.coopetition.usefulness import PASSED_ON, usefulness, uses
from bundle_tools.challenge.coopetition.works import Work

ALONE = "No teams were named (--teams), so every run counts as its own team."


def record(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the result as JSON data."""
    return {
        "baseline": baseline,
        "passed_on": PASSED_ON,
        "useful": [asdict(row) for row in usefulness(works, baseline)],
        "uses": [asdict(use) for use in uses(works, baseline)],
        "remarks": list(remarks),
    }


def lines(works: Sequence[Work], baseline: float, remarks: Sequence[str]) -> list[str]:
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
