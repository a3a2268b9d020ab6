"""How the run went."""

from __future__ import annotations

from score.outcomes import Outcomes
from score.report.content.provenance import Facts
from score.results import Results

STATUS_WORDS = {
    "ok": "ok",
    "failed": "failed",
    "not_reached": "not reached in time",
    "missing": "no record",
    "unreadable": "unreadable, left out",
}


def run_facts(results: Results, outcomes: Outcomes) -> Facts:
    """List the clips by how they went, the time used, and whether the records are sealed."""
    run = results.run
    limit = f" of {run.time_limit_s:.0f} s" if run.time_limit_s else ""
    counts = [f"{outcomes.count(status)} {word}" for status, word in STATUS_WORDS.items() if outcomes.count(status)]
    return (
        ("Clips", ", ".join(counts)),
        ("Run", {"complete": "complete", "partial": "ended early: see the problems"}[run.status]),
        ("Time used", f"{run.duration_s:.1f} s{limit}"),
        ("Seal", "sealed" if results.folder.sealed else "unsealed: hashes were checked, their origin was not"),
        ("Other files in the results", f"{results.folder.planted.count}, ignored"),
    )
