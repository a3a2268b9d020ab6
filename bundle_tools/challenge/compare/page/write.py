"""The page as one text."""

from collections.abc import Sequence
from pathlib import Path

from bundle_tools.challenge.compare.field import Field
from bundle_tools.challenge.compare.page.build import build_page
from bundle_tools.challenge.compare.page.shown import what_to_show
from bundle_tools.challenge.compare.table import Row
from score.report.write import render


def comparison_page(field: Field, rows: Sequence[Row], *, full: bool) -> str:
    """Render the page: one file with style and script inside, which asks nothing of a network.

    Parameters
    ----------
    field
        The runs.
    rows
        Their judgement, best total first.
    full
        Whether to show what the phase closes to participants, too.
    """
    content = build_page(field, rows, what_to_show(field, full=full))
    return render("comparison.html", content, Path(__file__).parent)
