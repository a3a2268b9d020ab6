"""The comparison as a page: who is ahead, all scores side by side, and the clips on which the runs differ."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.differences import LEVEL, difference, errors, held_up, widest
from bundle_tools.challenge.compare.field import TOTAL, Entry, Field
from bundle_tools.challenge.compare.judgement import DIAGNOSTIC
from bundle_tools.challenge.compare.table import MOST_PAIRED, Row
from score import __version__
from score.axes.effects import evaluated_targets
from score.columns import Column, columns, spread_decimals, total_column
from score.diagnostics.reaction import LARGE
from score.diagnostics.reasons import GROUNDED, TITLES
from score.measure.bootstrap import percentile_interval
from score.report.gate import MOST_DECIMALS
from score.report.numbers import NO_BREAK, NONE, counted, interval, number, percent, plural, position, signed
from score.report.write import render
from score.settings import AXES
from score.visible import one_line, visible

MOST_CLIPS = 10
_MOST_LISTED = 5
_LONGEST_NAME = 60
_LONGEST_FACT = 400
_LONGEST_TEXT = 1200
_APART = ("plausibility", "jury")
"""Columns about explanations that do not count in the total."""


@dataclass(frozen=True)
class Bar:
    """A value on a scale; positions are percentages of the scale's length."""

    start: float
    """Where the fill begins: at zero."""
    length: float
    interval: tuple[float, float] | None
    chance: float | None
    """Position of the score that is reached without watching a clip."""


@dataclass(frozen=True)
class Cell:
    """A number in a table."""

    value: str
    """Rounded."""
    note: str = ""
    bar: Bar | None = None
    """Drawn from the rounded numbers, because a position reveals a number."""
    direction: int = 0
    """1 above the compared value, -1 below, 0 if the difference may be chance."""


@dataclass(frozen=True)
class Line:
    """One line of a table."""

    title: str
    """A run, a score or a clip."""
    about: str
    """The meaning of the score; for a clip its true value, or its evaluated target."""
    cells: tuple[Cell | None, ...]
    """One per run, best total first; None for a run against itself."""
    texts: tuple[str, ...] = ()
    """Text of each run about the clip."""


def comparison_page(field: Field, rows: Sequence[Row], *, full: bool) -> str:
    """Render the page as one self-contained file with style and script.

    `full`: whether to include what the phase hides from participants.
    """
    by_name = {entry.name: entry for entry in field.entries}
    field = replace(field, entries=tuple(by_name[row.name] for row in rows))
    content = _Page(field, rows, full or field.settings.report.clips, full or field.settings.report.truth).content()
    return render("comparison.html", content, Path(__file__).parent / "templates")


@dataclass(frozen=True)
class _Page:
    """Builds the data of the template."""

    field: Field
    """Entries in the order of the rows."""
    rows: Sequence[Row]
    """Best total first."""
    clips: bool
    """Whether to show single clips, and intervals as fine as their scores."""
    truth: bool
    """Whether to show labels, and numbers of single clips that depend on them."""

    def content(self) -> dict[str, Any]:
        """Return the content of the page."""
        field, report, names = self.field, self.field.settings.report, self._names()
        compared = len(names) > 1
        top = max(row.interval[1] if row.interval else row.total for row in self.rows)
        # A round upper end, so that small totals can be told apart, too.
        scale = min(100.0, max(10.0, 10.0 * math.ceil(top / 10)))
        total = replace(total_column(field.settings), maximum=scale, chance=None)
        known = [dict(entry.said.facts) for entry in field.entries]
        facts = {
            label: [one_line(one.get(label, NONE), _LONGEST_FACT) for one in known]
            for label in dict.fromkeys(label for one in known for label in one)
        }
        return {
            "heading": field.settings.heading,
            "headline": f"{plural(len(names), 'submission')} compared: {plural(self.rows[-1].band, 'band')}",
            "private": (self.clips, self.truth) != (report.clips, report.truth),
            "verdict": list(self._verdict()),
            "names": names,
            "scale": f"{scale:g}",
            "level": percent(field.settings.bootstrap.level) if field.drawn else "",
            "gap_level": percent(LEVEL),
            "ranking": [(row, self._score(total, row.total, row.interval)) for row in self.rows],
            "gaps": [self._gaps(one) for one in field.entries] if compared else [],
            "scores": dict(self._scores()),
            "clips": self._where_they_differ() if self.clips and compared else None,
            "target": field.settings.main.title,
            "shows_truth": self.truth,
            "shared": [(label, values[0]) for label, values in facts.items() if len(set(values)) == 1],
            "own": {label: values for label, values in facts.items() if len(set(values)) > 1},
            "method": list(self._method()),
        }

    def _names(self) -> list[str]:
        return [one_line(entry.name, _LONGEST_NAME) for entry in self.field.entries]

    def _verdict(self) -> Iterator[str]:
        """Describe in sentences how far the ranking can be trusted."""
        if self.field.settings.rank_by != "explanation":
            yield DIAGNOSTIC
        names, (first, *others) = self._names(), self.rows
        if not others:
            yield "There is no other run to compare it with."
            return
        close = [name for name, row in zip(names[1:], others, strict=True) if first.above[row.name] < ABOVE]
        if close:
            yield f"{names[0]} has the highest total, but by chance it could be ahead of {_listed(close)}."
        else:
            yield f"{names[0]} is ahead of all others by more than luck."
        rules = {
            "the plain mean of the axes": [row.arithmetic_place for row in self.rows],
            "the mean of the ranks": [row.mean_rank_place for row in self.rows],
        }
        for rule, places in rules.items():
            if places[0] != 1:
                best = [name for name, place in zip(names, places, strict=True) if place == 1]
                yield f"By {rule}, {_listed(best)} would be first."
        same: dict[tuple[bytes, tuple[str, ...]], list[str]] = defaultdict(list)
        for name, entry in zip(names, self.field.entries, strict=True):
            same[entry.said.prediction.tobytes(), entry.said.texts].append(name)
        for group in same.values():
            if len(group) > 1:
                yield f"{_listed(group)} gave the same predictions and texts for every clip."

    def _gaps(self, one: Entry) -> Line:
        """Return the differences between a run's total and those of the best runs."""
        column = total_column(self.field.settings)

        def cell(other: Entry) -> Cell:
            gap = difference(one, other, TOTAL, drawn=self.field.drawn)
            ends = interval(gap.interval, spread_decimals(column, open_=self.clips))
            return Cell(signed(gap.value, column.decimals), ends, direction=gap.direction)

        best = self.field.entries[:MOST_PAIRED]
        return Line(
            one_line(one.name, _LONGEST_NAME), "", tuple(None if one is other else cell(other) for other in best)
        )

    def _scores(self) -> Iterator[tuple[str, list[Line]]]:
        """Yield every score column by kind, then unscored values."""
        entries = self.field.entries
        by_key = {column.key: column for column in columns(self.field.settings)}
        about_explanations = {TOTAL, *AXES, "coverage", *_APART}
        # Columns that do not apply to a phase are 0 for every run.
        apart = [key for key in _APART if any(entry.points.get(key) for entry in entries)]
        others = [key for key in by_key if key not in about_explanations]
        kinds = {
            "Explanations": [TOTAL, *self.field.weights, "coverage", *apart],
            "Predictions": [key for key in others if key in entries[0].draws],
            "The run": [key for key in others if key not in entries[0].draws],
        }
        for kind, keys in kinds.items():
            yield kind, [self._column(by_key[key]) for key in keys]
        yield "In no score", list(self._beside())

    def _column(self, column: Column) -> Line:
        cells = []
        for one in self.field.entries:
            value = one.points[column.key]
            if column.key not in one.draws or column.maximum is None:
                cells.append(Cell(number(value, min(column.decimals, MOST_DECIMALS))))
                continue
            ends = None
            if self.field.drawn:
                low, high = percentile_interval(one.draws[column.key], self.field.settings.bootstrap.level)
                ends = float(low), float(high)
            against = difference(one, self.field.entries[0], column.key, drawn=self.field.drawn)
            cells.append(replace(self._score(column, value, ends), direction=against.direction))
        return Line(column.title, column.meaning, tuple(cells))

    def _beside(self) -> Iterator[Line]:
        """Yield, if labels are open, numbers of clips right for the right reason or not; and the reaction size."""
        gate = percent(self.field.settings.explanation.gate)
        meaning = f"Clips. Right: off by less than {gate} of the range; grounded: claims agree with known causes by "
        found = [one.scores.reasons for one in self.field.entries]
        for key, title in TITLES.items() if self.truth and all(found) else ():
            cells = tuple(Cell(counted(asdict(one)[key], one.clips)) for one in found if one)
            yield Line(title[0].upper() + title[1:], f"{meaning}{GROUNDED:g}.", cells)
        sizes = []
        for reaction in (one.scores.reaction for one in self.field.entries):
            large = f"{NO_BREAK}(large)" if reaction.large else ""
            value = reaction.value
            sizes.append(Cell(NONE if value is None else number(value, 2 if self.clips else 1) + large))
        meaning = f"Effect of altering the picture, relative to the claims. From {LARGE:g}, look at the code."
        yield Line("Reaction size", meaning, tuple(sizes))

    def _score(self, column: Column, value: float, ends: tuple[float, float] | None) -> Cell:
        """Write and draw a score on its column's scale, with as many decimals as the report has."""
        places = min(column.decimals, MOST_DECIMALS)
        spread = min(spread_decimals(column, open_=self.clips), MOST_DECIMALS)
        value = round(value, places)
        ends = ends and (round(ends[0], spread), round(ends[1], spread))
        low, high = column.minimum, 1.0 if column.maximum is None else column.maximum
        zero, place = position(max(0.0, low), low, high), position(value, low, high)
        start, end = (position(one, low, high) for one in ends or (value, value))
        bar = Bar(
            start=min(zero, place),
            length=round(abs(place - zero), 2),
            interval=(start, round(end - start, 2)) if ends else None,
            chance=None if column.chance is None else position(column.chance, low, high),
        )
        return Cell(number(value, places), interval(ends, spread), bar)

    def _where_they_differ(self) -> dict[str, list[Line]]:
        """Return the clips on which predictions, or their errors, and explanations differ most."""
        field, settings = self.field, self.field.settings
        main = settings.names.index(settings.main_target)
        predicted = np.stack([entry.said.prediction[:, main] for entry in field.entries])
        held = held_up(field)
        judged = evaluated_targets(field.clip_ids, len(settings.targets), main, settings.bootstrap.seed)
        return {
            "predictions": [
                self._predicted(clip, predicted[:, clip].tolist(), float(field.truth[clip, main]))
                for clip in widest(errors(field, main) if self.truth else predicted, MOST_CLIPS)
            ],
            "explanations": [
                Line(
                    title=field.clip_ids[clip],
                    about=settings.targets[judged[clip]].title,
                    cells=tuple(Cell(number(value, 2)) for value in held[:, clip].tolist()),
                    texts=tuple(visible(entry.said.texts[clip], _LONGEST_TEXT) for entry in field.entries),
                )
                for clip in widest(held, MOST_CLIPS)
            ],
        }

    def _predicted(self, clip: int, values: Sequence[float], truth: float) -> Line:
        def cell(value: float) -> Cell:
            if math.isnan(value):
                return Cell(NONE, "failed")
            return Cell(number(value, MOST_DECIMALS), signed(value - truth, MOST_DECIMALS) if self.truth else "")

        about = number(truth, MOST_DECIMALS) if self.truth else ""
        return Line(self.field.clip_ids[clip], about, tuple(cell(value) for value in values))

    def _method(self) -> Iterator[str]:
        field, first = self.field, self.field.entries[0]
        if field.drawn:
            yield (
                f"All runs are compared on the same {len(first.draws[TOTAL])} bootstrap resamples of the "
                f"{first.scores.groups} source videos, seed {field.settings.bootstrap.seed}: what makes a clip hard "
                "or easy for all runs cancels out in a difference."
            )
        else:
            yield "All clips come from one source, so nothing is resampled and bands follow from the totals alone."
        yield (
            f"A run is above another if its total is higher in at least {percent(ABOVE)} of the resamples. A band "
            "begins with the best run that has none above it, and ends before the first run that is below one of its "
            "members. These clips cannot tell runs in one band apart."
        )
        yield f"Scoring program {__version__}, data {field.settings.data_version}."


def _listed(words: Sequence[str]) -> str:
    left = len(words) - _MOST_LISTED
    shown = [*words[:_MOST_LISTED], plural(left, "other")] if left > 0 else list(words)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
