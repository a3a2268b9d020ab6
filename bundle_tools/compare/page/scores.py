"""Every score column, run beside run."""

from collections.abc import Iterator

from bundle_tools.compare.differences import difference
from bundle_tools.compare.field import Entry, Field
from bundle_tools.compare.judgement import TOTAL
from bundle_tools.compare.page.content import ScoreCell, ScoreGroup, ScoreRow
from bundle_tools.compare.page.shown import Shown, write
from score.bootstrap import percentile_interval
from score.columns import Column, columns
from score.explanation_settings import AXES
from score.report.numbers import number
from score.report.scored import MOST_DECIMALS

_APART = ("plausibility", "jury")
"""Columns about explanations that are in no total."""


def score_groups(field: Field, shown: Shown) -> Iterator[ScoreGroup]:
    """Write the columns by what they are about."""
    draws = field.entries[0].draws
    by_key = {column.key: column for column in columns(field.settings)}
    about_explanations = {TOTAL, *AXES, "coverage", *_APART}
    # Columns that do not apply to a phase hold 0 for every run, and say nothing here.
    apart = [key for key in _APART if any(entry.points.get(key) for entry in field.entries)]
    others = [key for key in by_key if key not in about_explanations]
    kinds = {
        "Explanations": [TOTAL, *field.weights, "coverage", *apart],
        "Predictions": [key for key in others if key in draws],
        "The run": [key for key in others if key not in draws],
    }
    for title, keys in kinds.items():
        yield ScoreGroup(title, tuple(_row(by_key[key], field, shown) for key in keys))


def _row(column: Column, field: Field, shown: Shown) -> ScoreRow:
    cells = tuple(_cell(column, one, field, shown) for one in field.entries)
    return ScoreRow(column.title, column.meaning, cells)


def _cell(column: Column, one: Entry, field: Field, shown: Shown) -> ScoreCell:
    value, leader = one.points[column.key], field.entries[0]
    if column.key not in one.draws or column.maximum is None:
        return ScoreCell(number(value, min(column.decimals, MOST_DECIMALS)), "", None, 0)
    ends = None
    if field.drawn:
        low, high = percentile_interval(one.draws[column.key], field.settings.bootstrap.level)
        ends = float(low), float(high)
    score = write(column, value, ends, shown)
    against = 0 if one is leader else difference(one, leader, column.key, drawn=field.drawn).direction
    return ScoreCell(score.value, score.interval, score.drawn, against)
