"""Every score column, run beside run, and what is in no score."""

from collections.abc import Iterator
from dataclasses import asdict

from bundle_tools.challenge.compare.differences import difference
from bundle_tools.challenge.compare.field import Entry, Field
from bundle_tools.challenge.compare.judgement import TOTAL
from bundle_tools.challenge.compare.page.content import ScoreCell, ScoreGroup, ScoreRow
from bundle_tools.challenge.compare.page.shown import Shown, write
from score.columns import Column, columns
from score.diagnostics.reaction import LARGE, ReactionSize
from score.diagnostics.reasons import GROUNDED, TITLES, RightReasons
from score.measure.bootstrap import percentile_interval
from score.report.gate import MOST_DECIMALS
from score.report.numbers import NO_BREAK, NONE, counted, number, percent
from score.settings import AXES

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
    yield ScoreGroup("In no score", tuple(_beside(field, shown)))


def _beside(field: Field, shown: Shown) -> Iterator[ScoreRow]:
    """Write clips that are right for the right reason, or not, where labels are open; and the reaction size."""
    gate = percent(field.settings.explanation.gate)
    meaning = (
        f"Clips. Right: off by less than {gate} of the range; grounded: claims agree with known causes by {GROUNDED:g}."
    )
    found = [one.scores.reasons for one in field.entries]
    for key, title in TITLES.items() if shown.truth and all(found) else ():
        cells = tuple(ScoreCell(_share(one, key), "", None, 0) for one in found if one)
        yield ScoreRow(title[0].upper() + title[1:], meaning, cells)
    sizes = tuple(ScoreCell(_size(one.scores.reaction, shown), "", None, 0) for one in field.entries)
    meaning = (
        f"Effect of hiding the named places, beside the claims. From {LARGE:g} on the model's code deserves a look."
    )
    yield ScoreRow("Reaction size", meaning, sizes)


def _share(reasons: RightReasons, key: str) -> str:
    return counted(asdict(reasons)[key], reasons.clips)


def _size(reaction: ReactionSize, shown: Shown) -> str:
    if reaction.value is None:
        return NONE
    return number(reaction.value, 2 if shown.clips else 1) + (f"{NO_BREAK}(large)" if reaction.large else "")


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
