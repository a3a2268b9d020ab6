"""From a scored run, or one without scores, to its page: one field a section."""

from __future__ import annotations

from collections.abc import Sequence

from score.findings import Finding
from score.report.content.page import FailedPage, Page
from score.report.content.provenance import Facts
from score.report.explanations import explanations
from score.report.headline import scores
from score.report.predictions import predictions
from score.report.problems import problems
from score.report.provenance import provenance
from score.report.scored import Scored


def build_page(scored: Scored) -> Page:
    """Gather what participants may see; what they may not see, `scored` does not have (score.report.scored)."""
    return Page(
        task=scored.settings.task,
        scores=scores(scored),
        predictions=predictions(scored),
        explanations=explanations(scored),
        problems=problems(scored.findings),
        provenance=provenance(scored),
    )


def build_failed_page(headline: str, findings: Sequence[Finding], worker: Facts) -> FailedPage:
    """Explain a run without scores; problems never hold label values (score.errors)."""
    return FailedPage(headline=headline, problems=problems(findings), facts=worker)
