"""Where the numbers come from, and how they were made."""

from __future__ import annotations

from collections.abc import Iterable

from score import __version__
from score.report.content.provenance import Facts, Provenance
from score.report.scored import Scored
from score.visible import one_line


def provenance(scored: Scored) -> Provenance:
    """Build the section."""
    ignored = ("Other files in the results", f"{scored.results.folder.planted.count}, ignored")
    facts = (ignored, *_shown(scored.results.run.details), *scored.beside.worker)
    return Provenance(facts, tuple(_method(scored)))


def _shown(facts: Facts) -> Facts:
    return tuple((label, one_line(value, 1000)) for label, value in facts)


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
