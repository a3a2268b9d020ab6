"""A private page with the exchanged parts of all clips side by side, the worst first."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bundle_tools.atomic import write_text
from bundle_tools.page import render

FILE = "private/exchanges.html"


def write_sheet(root: Path, results: Sequence[Mapping[str, Any]], figures: Mapping[str, Any]) -> None:
    """Write the page.

    `results`: of all clips, see `job.exchange`, with their `person`. `figures`: see `measure.measure`.
    """
    shown = [result for result in results if result["pictures"]]
    shown.sort(key=lambda result: max(known["dearest"] for known in result["figures"].values()), reverse=True)
    page = render(
        Path(__file__).parent / "templates",
        "exchanges",
        clips=shown,
        kept=[result for result in results if not result["pictures"]],
        figures=figures,
    )
    write_text(root / FILE, page)
