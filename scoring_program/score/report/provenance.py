"""Where the numbers come from, how they were made, and how to cite them."""

from __future__ import annotations

from collections.abc import Iterable

from score import __version__
from score.columns import spread_decimals
from score.report.content.provenance import Facts, Provenance
from score.report.numbers import interval, number
from score.report.scored import Scored
from score.visible import one_line

_SHORT = 12
"""Digits of a hash in a citation: enough to tell it from any other."""


def provenance(scored: Scored) -> Provenance:
    """Build the section."""
    return Provenance(
        citation=_citation(scored),
        versions=_given(_versions(scored)),
        machine=_given(_machine(scored)),
        method=tuple(_method(scored)),
    )


def _given(facts: Facts) -> Facts:
    return tuple((label, one_line(value, 1000)) for label, value in facts if value)


def _versions(scored: Scored) -> Facts:
    run, hashes = scored.results.run, scored.beside.hashes
    return (
        ("Data", scored.settings.data_version),
        ("Input data (SHA-256)", run.data_sha256),
        ("Input settings (SHA-256)", run.settings_sha256),
        ("Scoring settings (SHA-256)", hashes.settings),
        ("Reference data (SHA-256)", hashes.labels),
        ("Submission (SHA-256)", run.submission_sha256),
        ("Seed of ingestion", "" if run.seed is None else str(run.seed)),
        ("Seed of the intervals", str(scored.settings.bootstrap.seed)),
        ("Ingestion program", run.program_version),
        ("Scoring program", __version__),
        ("Image", run.image),
    )


def _machine(scored: Scored) -> Facts:
    planted = scored.results.folder.planted.count
    ignored = f"{planted}, ignored" if planted else "none"
    duration = ("Ingestion", f"{scored.results.run.duration_s:.1f} s")
    return (duration, *scored.results.run.details, ("Other files in the results", ignored), *scored.beside.worker)


def _citation(scored: Scored) -> str:
    settings, run = scored.settings, scored.results.run
    column, estimate = scored.evaluation.columns[0]
    ends = interval(estimate.interval, spread_decimals(column, open_=settings.report.truth))
    spread = f" ({100 * settings.bootstrap.level:g} % interval {ends})" if ends else ""
    parts = [
        *([settings.challenge] if settings.challenge else []),
        f"scoring program {__version__}",
        f"phase {settings.task}",
        f"data {settings.data_version}",
        f"{column.title.lower()} {number(estimate.value, column.decimals)}{spread}",
        *(
            f"{name} {digest[:_SHORT]}"
            for name, digest in (("settings", scored.beside.hashes.settings), ("submission", run.submission_sha256))
            if digest
        ),
    ]
    return one_line(", ".join(parts), 400) + "."


def _method(scored: Scored) -> Iterable[str]:
    options = scored.settings.bootstrap
    _, total = scored.evaluation.columns[0]
    if total.interval:
        yield (
            f"Intervals: {100 * options.level:g} % percentile bootstrap, {options.resamples} resamples of the "
            f"{scored.evaluation.sources} source videos, seed {options.seed}."
        )
    else:
        yield "No intervals: they need resamples and at least two source videos."
    yield "The constant baseline answers every clip with the training mean of each target and explains nothing."
    yield (
        "A clip without a valid prediction counts with an error of the full range (accuracy 0) and an explanation "
        "worth 0; a clip that cannot be decoded is left out for everybody."
    )
    yield f"Scoring program {__version__}, data {scored.settings.data_version}."
