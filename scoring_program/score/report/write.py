"""Render the pages as texts; no file is written here."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from score.errors import Problem
from score.read.run import Facts
from score.report import numbers
from score.report.explanations import explanations, smaller
from score.report.first_screen import clips_sentence, first_screen
from score.report.look import look
from score.report.predictions import predictions
from score.report.provenance import citation, machine, method, record, versions
from score.run import Run, ScoredRun
from score.visible import in_words, one_line, visible

LARGEST_PAGE = 5_000_000
"""Bytes; the platform rejects pages of more than 5 MB."""
NO_SCORES = "no scores"
_FILTERS = (
    *(numbers.number, numbers.signed, numbers.factor, numbers.percent, numbers.counted),
    *(numbers.interval, numbers.position, in_words, one_line),
)
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


def render(template: str, page: object, own: Path | None = None) -> str:
    """Render a template, which receives only this object and the page's look.

    `own`: folder with templates of another page that shares the report's look.
    """
    folders = (Path(__file__).parent / "templates", *([own] if own else []))
    return environment(*folders).get_template(template).render(page=page, look=look())


# The early page and the report share most templates, so keep them compiled.
@lru_cache(maxsize=4)
def environment(*folders: Path) -> Environment:
    """Return the templates of some folders, with the filters for numbers; all texts are escaped and made harmless."""
    # Escape in all templates, whatever their names: nearly all text comes from participants.
    templates = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update({function.__name__: function for function in _FILTERS})
    templates.tests["finite"] = math.isfinite
    templates.filters["zip"] = zip
    return templates


def _harmless(value: object) -> object:
    """Make hidden characters visible in every text that a template inserts, before escaping.

    Values with ``__html__`` are the templates' own markup and stay as they are.
    """
    return visible(value, len(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value
