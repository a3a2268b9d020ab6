"""From a scored run, or one without scores, to its page: one field a section."""

from __future__ import annotations

from collections.abc import Sequence

from score.messages.findings import Finding
from score.read.outcomes import Outcomes
from score.read.output.results import Results
from score.report.content.page import EarlyPage, FailedPage, Page
from score.report.content.provenance import Facts
from score.report.explanations import explanations
from score.report.headline import scores
from score.report.predictions import predictions
from score.report.problems import problems
from score.report.provenance import provenance
from score.report.record import record
from score.report.scored import Scored
from score.report.status import clips_sentence

NO_SCORES = "no scores"


def build_page(scored: Scored) -> Page:
    """Gather what participants may see; what they may not see, `scored` does not have (score.report.scored)."""
    return Page(
        heading=scored.settings.heading,
        scores=scores(scored),
        predictions=predictions(scored),
        explanations=explanations(scored),
        problems=problems(scored.findings),
        provenance=provenance(scored),
        record=record(scored),
        private=scored.beside.private,
    )


def build_early_page(
    heading: str, results: Results, outcomes: Outcomes, findings: Sequence[Finding], worker: Facts
) -> EarlyPage:
    """Say what is known before anything is compared with a label."""
    facts = (("Ingestion", f"{results.run.duration_s:.1f} s"), *worker)
    return EarlyPage(heading=heading, clips=clips_sentence(outcomes), problems=problems(findings), facts=facts)


def build_failed_page(
    headline: str, findings: Sequence[Finding], worker: Facts, heading: str = "", band: str = NO_SCORES
) -> FailedPage:
    """Explain a run without scores; problems never hold label values (score.errors)."""
    return FailedPage(band=band, heading=heading, headline=headline, problems=problems(findings), facts=worker)
