"""Who is ahead of whom: sentences, rank bands, and differences of totals."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.differences import difference
from bundle_tools.challenge.compare.field import Entry, Field
from bundle_tools.challenge.compare.judgement import DIAGNOSTIC, TOTAL
from bundle_tools.challenge.compare.page.content import Gap, GapRow, RankRow
from bundle_tools.challenge.compare.page.shown import Shown, write
from bundle_tools.challenge.compare.table import MOST_PAIRED, Row
from score.columns import spread_decimals, total_column
from score.report.numbers import interval, number, plural, signed

Names = dict[str, str]
"""Name of a run -> the same, fit to be shown."""
_DECIMALS = 2
_MOST_LISTED = 5


def verdict(field: Field, rows: Sequence[Row], names: Names) -> Iterator[str]:
    """Say in sentences what the ranking is worth."""
    first, *others = rows
    if field.settings.rank_by != "explanation":
        yield DIAGNOSTIC
    if not others:
        yield "There is nothing to compare it with."
        return
    close = [names[row.name] for row in others if first.above[row.name] < ABOVE]
    if close:
        yield f"{names[first.name]} has the highest total, but chance could have put it before {_listed(close)}."
    else:
        yield f"{names[first.name]} is ahead of all others by more than luck."
    rules = {
        "the plain mean of the axes": [row.arithmetic_place for row in rows],
        "the mean of the ranks": [row.mean_rank_place for row in rows],
    }
    for rule, places in rules.items():
        if places[0] != 1:
            best = [names[row.name] for row, place in zip(rows, places, strict=True) if place == 1]
            yield f"By {rule}, {_listed(best)} would be first."
    same: dict[tuple[bytes, tuple[str, ...]], list[str]] = defaultdict(list)
    for entry in field.entries:
        same[entry.said.prediction.tobytes(), entry.said.texts].append(names[entry.name])
    for group in same.values():
        if len(group) > 1:
            yield f"{_listed(group)} predicted and wrote the same for every clip."


def _listed(words: Sequence[str]) -> str:
    left = len(words) - _MOST_LISTED
    shown = [*words[:_MOST_LISTED], plural(left, "other")] if left > 0 else list(words)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def scale_of(rows: Sequence[Row]) -> float:
    """Choose a round upper end for the ranking's scale, so that small totals can be told apart, too."""
    top = max(row.interval[1] if row.interval else row.total for row in rows)
    return min(100.0, max(10.0, 10.0 * math.ceil(top / 10)))


def rank_rows(field: Field, rows: Sequence[Row], names: Names, shown: Shown) -> Iterator[RankRow]:
    """Write the ranking."""
    column, band = replace(total_column(field.settings), maximum=scale_of(rows), chance=None), 0
    for row in rows:
        total = write(column, row.total, row.interval, shown)
        yield RankRow(
            name=names[row.name],
            band=row.band,
            opens=row.band != band,
            place=row.place,
            total=total.value,
            interval=total.interval,
            drawn=total.drawn,
            arithmetic=number(row.arithmetic, _DECIMALS),
            arithmetic_place=row.arithmetic_place,
            mean_rank=number(row.mean_rank, _DECIMALS),
            mean_rank_place=row.mean_rank_place,
        )
        band = row.band


def gap_rows(field: Field, names: Names, shown: Shown) -> tuple[GapRow, ...]:
    """Subtract from each run's total those of the best runs; nothing for a run alone."""
    runs = field.entries
    if len(runs) == 1:
        return ()
    best = runs[:MOST_PAIRED]
    return tuple(GapRow(names[one.name], tuple(_gap(field, one, other, shown) for other in best)) for one in runs)


def _gap(field: Field, one: Entry, other: Entry, shown: Shown) -> Gap | None:
    if one is other:
        return None
    gap = difference(one, other, TOTAL, drawn=field.drawn)
    column = total_column(field.settings)
    ends = interval(gap.interval, spread_decimals(column, open_=shown.clips))
    return Gap(signed(gap.value, column.decimals), ends, gap.direction)
