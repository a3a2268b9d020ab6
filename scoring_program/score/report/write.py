"""Rendering the page: the whole text is there before a byte of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from score.messages.findings import Finding
from score.read.outcomes import Outcomes
from score.read.output.results import Results
from score.report.build import NO_SCORES, build_early_page, build_failed_page, build_page
from score.report.content.provenance import Facts
from score.report.explanations import smaller
from score.report.look import look
from score.report.scored import Scored

LARGEST_PAGE = 5_000_000
"""Bytes; the platform takes no page of more than 5 MB."""
_LAST_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta charset="utf-8">
<title>No report</title>
</head>
<body>
<h1>{headline}</h1>
<p>The fault is not yours: this page could not be made. Please show it to the organisers.</p>
</body>
</html>
"""


def report_page(scored: Scored) -> str:
    """Render the page of a scored run, at most 5 MB; what it may show is decided in score.report.scored."""
    content = build_page(scored)
    page = render("scored.html", content)
    while len(page.encode()) > LARGEST_PAGE:
        fewer = smaller(content.explanations)
        if fewer is None:
            break
        content = replace(content, explanations=fewer)
        page = render("scored.html", content)
    return page


def early_page(heading: str, results: Results, outcomes: Outcomes, findings: Sequence[Finding], worker: Facts) -> str:
    """Render what is known before the run is scored; the platform shows it meanwhile."""
    return render("early.html", build_early_page(heading, results, outcomes, findings, worker))


def failure_page(
    headline: str, findings: Sequence[Finding], worker: Facts, heading: str = "", band: str = NO_SCORES
) -> str:
    """Render the page of a run without scores or report: what happened, where, and how to fix it."""
    return render("failed.html", build_failed_page(headline, findings, worker, heading, band))


def last_page(headline: str) -> str:
    """Make a page without a template, for when no other page can be made."""
    return _LAST_PAGE.format(headline=escape(headline))


def render(template: str, page: object, own: Path | None = None) -> str:
    """Fill in a template, which sees this object and the page's look, and nothing else.

    Parameters
    ----------
    template
        Name of its file.
    page
        Content of the page.
    own
        Folder with the templates and the style sheets of another page with the report's look.
    """
    sheets = sorted(own.glob("*.css")) if own else []
    return _environment(own).get_template(template).render(page=page, look=look(*sheets))


# The early page and the one of a scored run share most templates: each is compiled once.
@lru_cache(maxsize=4)
def _environment(own: Path | None) -> Environment:
    folders = [Path(__file__).parent / "templates", *([own] if own else [])]
    # Autoescape for every template, whatever its name: nearly all text in the page is a participant's.
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
