"""From scored runs to the content of the page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.differences import LEVEL
from bundle_tools.challenge.compare.field import Entry, Field
from bundle_tools.challenge.compare.judgement import TOTAL
from bundle_tools.challenge.compare.page.clips import clips
from bundle_tools.challenge.compare.page.content import ComparisonPage, Facts
from bundle_tools.challenge.compare.page.ranking import gap_rows, rank_rows, scale_of, verdict
from bundle_tools.challenge.compare.page.scores import score_groups
from bundle_tools.challenge.compare.page.shown import Shown
from bundle_tools.challenge.compare.table import Row
from score import __version__
from score.report.numbers import NONE, percent, plural
from score.visible import one_line

_LONGEST_NAME = 60
_LONGEST_FACT = 400


def build_page(field: Field, rows: Sequence[Row], shown: Shown) -> ComparisonPage:
    """Gather the page.

    Parameters
    ----------
    field
        The runs.
    rows
        Their judgement, best total first.
    shown
        What the page may show.
    """
    by_name = {entry.name: entry for entry in field.entries}
    field = replace(field, entries=tuple(by_name[row.name] for row in rows))
    names = {entry.name: one_line(entry.name, _LONGEST_NAME) for entry in field.entries}
    gaps = gap_rows(field, names, shown)
    shared, own = _facts(field.entries)
    return ComparisonPage(
        heading=field.settings.heading,
        headline=f"{plural(len(rows), 'submission')} compared: {plural(rows[-1].band, 'band')}",
        private=shown.private,
        verdict=tuple(verdict(field, rows, names)),
        names=tuple(names.values()),
        scale=f"{scale_of(rows):g}",
        level=percent(field.settings.bootstrap.level) if field.drawn else "",
        gap_level=percent(LEVEL),
        ranking=tuple(rank_rows(field, rows, names, shown)),
        against=tuple(names.values())[: len(gaps[0].gaps)] if gaps else (),
        gaps=gaps,
        scores=tuple(score_groups(field, shown)),
        clips=clips(field, shown) if shown.clips and gaps else None,
        shared=shared,
        own=own,
        method=tuple(_method(field)),
    )


def _facts(entries: Sequence[Entry]) -> tuple[Facts, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Part what is the same for all runs from what is not."""
    known = [dict(entry.said.facts) for entry in entries]
    labels = dict.fromkeys(label for facts in known for label in facts)
    rows = {label: tuple(one_line(facts.get(label, NONE), _LONGEST_FACT) for facts in known) for label in labels}
    shared = tuple((label, values[0]) for label, values in rows.items() if len(set(values)) == 1)
    return shared, tuple((label, values) for label, values in rows.items() if len(set(values)) > 1)


def _method(field: Field) -> Iterator[str]:
    share, first = percent(ABOVE), field.entries[0]
    if field.drawn:
        yield (
            f"All runs are compared on the same {len(first.draws[TOTAL])} bootstrap resamples of the "
            f"{first.scores.groups} source videos, seed {field.settings.bootstrap.seed}: what makes a clip hard "
            "or easy for everybody cancels in a difference."
        )
    else:
        yield "Nothing is resampled: all clips come from one source, so totals alone make the bands."
    yield (
        f"A run is above another if its total is higher in at least {share} of the resamples. A band begins with the "
        "best run that has none, and holds those after it until one is parted from a member. These clips cannot tell "
        "runs of one band apart."
    )
    yield f"Scoring program {__version__}, data {field.settings.data_version}."
