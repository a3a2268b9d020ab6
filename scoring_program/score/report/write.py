"""Render the pages as texts; no file is written here."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from score.errors import Problem
from score.read.run import Facts
from score.report.explanations import explanations, smaller
from score.report.first_screen import clips_sentence, first_screen
from score.report.page import render
from score.report.predictions import predictions
from score.report.provenance import citation, machine, method, record, versions
from score.run import Run, ScoredRun

LARGEST_PAGE = 5_000_000
"""Bytes; the platform rejects pages of more than 5 MB."""
NO_SCORES = "no scores"
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
<p>The report could not be made; the fault is not yours. Please show this page to the organisers.</p>
</body>
</html>
"""


def report_page(run: ScoredRun) -> str:
    """Render the page of a scored run, at most 5 MB; score.report.gate decides what it may show."""
    content = contents(run)
    page = render("scored.html", content)
    while len(page.encode()) > LARGEST_PAGE:
        fewer = smaller(content["explanations"])
        if fewer is None:
            break
        content["explanations"] = fewer
        page = render("scored.html", content)
    return page


def contents(run: ScoredRun) -> dict[str, Any]:
    """Build the sections, the only content that the templates of a scored run receive."""
    predicted = predictions(run)
    return {
        "heading": run.settings.heading,
        "sections": tuple(_sections(run, groups=any(attribute["shown"] for attribute in predicted["attributes"]))),
        "settings": run.settings,
        "evaluation": run.evaluation,
        "private": run.private,
        "scores": first_screen(run),
        "predictions": predicted,
        "explanations": explanations(run),
        "problems": run.problems,
        "citation": citation(run),
        "versions": versions(run),
        "machine": machine(run),
        "method": tuple(method(run)),
        "record": record(run),
    }


def _sections(run: ScoredRun, *, groups: bool) -> Iterator[tuple[str, str]]:
    """Return (anchor, title) of the page's sections."""
    yield from (("axes", "Scores"), ("status", "This run"), ("numbers", "Numbers"))
    if run.evaluation.targets:
        yield "targets", "Predictions"
    if groups:
        yield "groups", "Groups"
    if run.settings.report.clips:
        yield "clips", "Explanations"
    if run.problems:
        yield "yours" if any(problem.yours for problem in run.problems) else "theirs", "Problems"
    yield "provenance", "Provenance"


def early_page(run: Run, problems: Sequence[Problem]) -> str:
    """Render what is known before scoring; the platform shows this page until scores exist."""
    facts = (("Ingestion", f"{run.results.run.duration_s:.1f} s"), *run.worker)
    known = {
        "heading": run.settings.heading,
        "clips": clips_sentence(run.outcomes),
        "problems": problems,
        "facts": facts,
    }
    return render("early.html", known)


def failure_page(
    headline: str, problems: Sequence[Problem], worker: Facts, heading: str = "", band: str = NO_SCORES
) -> str:
    """Render the page of a run without scores or report: what happened, where, and how to fix it.

    Problems never hold label values (score.errors).
    """
    known = {"band": band, "heading": heading, "headline": headline, "problems": problems, "facts": worker}
    return render("failed.html", known)


def last_page(headline: str) -> str:
    """Make a page without a template, as a last resort."""
    return _LAST_PAGE.format(headline=escape(headline))
