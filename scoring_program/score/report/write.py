"""Rendering the page: the whole text is there before a byte of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from score.evaluation import Evaluation
from score.findings import Finding
from score.outcomes import Outcomes
from score.report.build import Facts, build_failure, build_report
from score.report.data import ReportData
from score.results import Results
from score.settings import Settings

LARGEST_PAGE = 5_000_000
"""Bytes; the platform takes no page of more than 5 MB."""
_LAST_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta charset="utf-8">
<title>First Impressions, Explained</title>
</head>
<body>
<h1>{headline}</h1>
<p>The fault is not yours: this page could not be made. Please show it to the organisers.</p>
</body>
</html>
"""


def report_page(
    results: Results,
    outcomes: Outcomes,
    evaluation: Evaluation,
    settings: Settings,
    findings: Sequence[Finding],
    worker: Facts,
) -> str:
    """Render the page of a scored run, at most 5 MB; what it may show is decided in score.report.build."""
    data = build_report(results, outcomes, evaluation, settings, findings, worker)
    page = _render("scored.html", data)
    while len(page.encode()) > LARGEST_PAGE and (data.cards or data.clip_groups):
        data = _smaller(data)
        page = _render("scored.html", data)
    return page


def _smaller(data: ReportData) -> ReportData:
    """Leave out every other explanation, or the last half of the tables of clips, and say so."""
    sentence = "To keep this page small, not all clips are shown."
    method = data.method if sentence in data.method else (*data.method, sentence)
    if data.cards:
        return replace(data, cards=data.cards[1::2], method=method)
    return replace(data, clip_groups=data.clip_groups[: len(data.clip_groups) // 2], method=method)


def failure_page(headline: str, findings: Sequence[Finding], worker: Facts) -> str:
    """Render the page of a run without scores: what happened, where, and how to fix it."""
    return _render("failed.html", build_failure(headline, findings, worker))


def last_page(headline: str) -> str:
    """Make a page without a template, for when no other page can be made."""
    return _LAST_PAGE.format(headline=escape(headline))


def _render(template: str, data: Any) -> str:  # noqa: ANN401 - one of the two data classes, or a test's
    loader = FileSystemLoader(Path(__file__).parent)
    # Autoescape for every template, whatever its name: nearly all text in the page is a participant's.
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(data=data)
