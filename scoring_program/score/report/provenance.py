"""Where the numbers come from, how they were computed, how to cite them, and a machine-readable copy."""

import json
from collections.abc import Iterator
from typing import Any

from score import __version__
from score.columns import spread_decimals
from score.read.run import Facts
from score.report.page import interval, number
from score.run import ScoredRun
from score.visible import one_line

FORMAT_VERSION = 1
"""Version of the record's format."""
_SHORT = 12
"""Digits of a hash in a citation, enough to identify it."""


def record(run: ScoredRun) -> str:
    """Write the scores and the versions they depend on as JSON that is safe inside HTML.

    It contains no more than the page shows: if clips are closed, the numbers are already rounded.
    """
    facts, settings = run.results.run, run.settings
    content = {
        "format_version": FORMAT_VERSION,
        "task": settings.task,
        "data_version": settings.data_version,
        "scoring_version": __version__,
        "ingestion_version": facts.program_version,
        "status": facts.status,
        "clips": {"total": len(run.outcomes.clip_ids), "failed": run.outcomes.failed},
        "duration_s": round(facts.duration_s, 1),
        "isolation": facts.isolation,
        "sealed": run.results.folder.sealed,
        "level": settings.bootstrap.level,
        "scores": _scores(run),
        "input_data_sha256": facts.data_sha256 or None,
        "input_settings_sha256": facts.settings_sha256 or None,
        "scoring_settings_sha256": run.hashes.settings or None,
        "reference_data_sha256": run.hashes.labels or None,
        "submission_sha256": facts.submission_sha256 or None,
    }
    text = json.dumps(content, indent=1, allow_nan=False)
    for sign in "<>&":  # so that nothing in it can end its HTML element
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _scores(run: ScoredRun) -> dict[str, dict[str, Any]]:
    scores: dict[str, dict[str, Any]] = {}
    for column, estimate in run.evaluation.columns:
        places = spread_decimals(column, open_=run.settings.report.truth)
        ends = estimate.interval
        scores[column.key] = {
            "value": column.rounded(estimate.value),
            "interval": [round(end, places) + 0.0 for end in ends] if ends else None,
        }
    return scores


def versions(run: ScoredRun) -> Facts:
    """List data, settings, submission and seeds; files as hashes, and unknown values as empty texts."""
    facts, hashes = run.results.run, run.hashes
    return (
        ("Data", run.settings.data_version),
        ("Input data (SHA-256)", facts.data_sha256),
        ("Input settings (SHA-256)", facts.settings_sha256),
        ("Scoring settings (SHA-256)", hashes.settings),
        ("Reference data (SHA-256)", hashes.labels),
        ("Submission (SHA-256)", facts.submission_sha256),
        ("Seed of ingestion", "" if facts.seed is None else str(facts.seed)),
        ("Seed of the intervals", str(run.settings.bootstrap.seed)),
        ("Ingestion program", facts.program_version),
        ("Scoring program", __version__),
        ("Image", facts.image),
    )


def machine(run: ScoredRun) -> Facts:
    """List what the run ran on, and how long it took."""
    unexpected = run.results.folder.unexpected.count
    ignored = f"{unexpected}, ignored" if unexpected else "none"
    duration = ("Ingestion", f"{run.results.run.duration_s:.1f} s")
    return (duration, *run.results.run.details, ("Other files in the results", ignored), *run.worker)


def citation(run: ScoredRun) -> str:
    """Write a one-line citation of the score: challenge, versions, phase, data and value."""
    settings = run.settings
    column, estimate = run.evaluation.columns[0]
    ends = interval(estimate.interval, spread_decimals(column, open_=settings.report.truth))
    spread = f" ({100 * settings.bootstrap.level:g} % interval {ends})" if ends else ""
    hashes = {"settings": run.hashes.settings, "submission": run.results.run.submission_sha256}
    parts = [
        *([settings.challenge] if settings.challenge else []),
        f"scoring program {__version__}",
        f"phase {settings.task}",
        f"data {settings.data_version}",
        f"{column.title.lower()} {number(estimate.value, column.decimals)}{spread}",
        *(f"{name} {digest[:_SHORT]}" for name, digest in hashes.items() if digest),
    ]
    return one_line(", ".join(parts), 400) + "."


def method(run: ScoredRun) -> Iterator[str]:
    """Describe in sentences how the numbers were computed."""
    options = run.settings.bootstrap
    _, total = run.evaluation.columns[0]
    if total.interval:
        yield (
            f"Intervals: {100 * options.level:g} % percentile bootstrap, {options.resamples} resamples of the "
            f"{run.evaluation.sources} source videos, seed {options.seed}."
        )
    else:
        yield "No intervals: they need resampling and at least two source videos."
    yield "The constant baseline answers every clip with the training mean of each target and explains nothing."
    yield (
        "A clip without a valid prediction counts with an error of the full range (accuracy 0), and its explanation "
        "scores 0; a clip that cannot be decoded counts for nobody."
    )
    yield f"Scoring program {__version__}, data {run.settings.data_version}."
