"""The comparison as a page in the report's look: who is ahead, all scores side by side, and where the runs differ."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.compare.field import (
    DIAGNOSTIC,
    LEVEL,
    MOST_PAIRED,
    TOTAL,
    Entry,
    Field,
    Standing,
    difference,
    errors,
    held_up,
    widest,
)
from score import __version__
from score.axes.effects import evaluated_targets
from score.columns import Column, columns, spread_decimals, total_column
from score.diagnostics import GROUNDED, LARGE, TITLES
from score.evaluate import Estimate
from score.metrics import percentile_interval
from score.report.first_screen import Mark, ScoreRow
from score.report.page import NO_BREAK, NONE, counted, interval, number, percent, plural, position, render
from score.run import MOST_DECIMALS
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
class Cell:
    """One score of one run."""

    score: ScoreRow
    """Rounded as the report rounds it, also where it is drawn: a position reveals a number."""
    drawn: bool
    direction: int
    """1 above the best run, -1 below, 0 if the difference may be chance."""


def comparison_page(field: Field, rows: Sequence[Standing], *, full: bool) -> str:
    """Render the page as one self-contained file with style and script.

    `rows`: best total first. `full`: whether to include what the phase hides from participants.
    """
    by_name = {entry.name: entry for entry in field.entries}
    field = replace(field, entries=tuple(by_name[row.name] for row in rows))
    report, settings = field.settings.report, field.settings
    clips, truth = full or report.clips, full or report.truth
    names = [one_line(entry.name, _LONGEST_NAME) for entry in field.entries]
    total = total_column(settings)
    known = [dict(entry.answers.facts) for entry in field.entries]
    labels = dict.fromkeys(label for facts in known for label in facts)
    facts = {label: [one_line(facts.get(label, NONE), _LONGEST_FACT) for facts in known] for label in labels}
    content = {
        "heading": settings.heading,
        "headline": f"{plural(len(names), 'submission')} compared: {plural(rows[-1].band, 'band')}",
        "private": (clips, truth) != (report.clips, report.truth),
        "conclusion": list(_conclusion(field, rows, names)),
        "names": names,
        "rows": rows,
        "decimals": min(total.decimals, MOST_DECIMALS),
        "spread": min(spread_decimals(total, open_=clips), MOST_DECIMALS),
        "level": percent(settings.bootstrap.level) if field.drawn else "",
        "gap_level": percent(LEVEL),
        "gaps": _gaps(field) if len(names) > 1 else [],
        "scores": _scores(field, open_=clips),
        "unscored": list(_unscored(field, clips=clips, truth=truth)),
        "clips": _where_they_differ(field, truth=truth) if clips and len(names) > 1 else None,
        "target": settings.main.title,
        "truth": truth,
        "shared": [(label, values[0]) for label, values in facts.items() if len(set(values)) == 1],
        "own": {label: values for label, values in facts.items() if len(set(values)) > 1},
        "method": list(_method(field)),
    }
    return render("comparison.html", content, Path(__file__).parent / "templates")


def _conclusion(field: Field, rows: Sequence[Standing], names: Sequence[str]) -> Iterator[str]:
    """Describe in sentences how far the ranking can be trusted."""
    if field.settings.rank_by != "explanation":
        yield DIAGNOSTIC
    first, *others = rows
    if not others:
        yield "There is no other run to compare it with."
        return
    close = [name for name, row in zip(names[1:], others, strict=True) if first.above[row.name] < ABOVE]
    if close:
        yield f"{names[0]} has the highest total, but by chance it could be ahead of {_listed(close)}."
    else:
        yield f"{names[0]} is ahead of all others by more than luck."
    rules = {
        "the plain mean of the axes": [row.arithmetic_place for row in rows],
        "the mean of the ranks": [row.mean_rank_place for row in rows],
    }
    for rule, places in rules.items():
        if places[0] != 1:
            best = [name for name, rank in zip(names, places, strict=True) if rank == 1]
            yield f"By {rule}, {_listed(best)} would be first."
    same: dict[tuple[bytes, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, entry in zip(names, field.entries, strict=True):
        same[entry.answers.prediction.tobytes(), entry.answers.texts].append(name)
    for group in same.values():
        if len(group) > 1:
            yield f"{_listed(group)} gave the same predictions and texts for every clip."


def _gaps(field: Field) -> list[list[Any]]:
    """Return for each run the differences between its total and those of the best runs; None for the run itself."""
    best = field.entries[:MOST_PAIRED]
    return [
        [None if entry is other else difference(entry, other, TOTAL, drawn=field.drawn) for other in best]
        for entry in field.entries
    ]


def _scores(field: Field, *, open_: bool) -> dict[str, list[tuple[Column, list[Cell]]]]:
    """Return every score column with the scores of all runs, by kind.

    `open_`: whether intervals are as fine as their scores.
    """
    entries = field.entries
    by_key = {column.key: column for column in columns(field.settings)}
    about_explanations = {TOTAL, *AXES, "coverage", *_APART}
    # Columns that do not apply to a phase are 0 for every run.
    apart = [key for key in _APART if any(entry.points.get(key) for entry in entries)]
    others = [key for key in by_key if key not in about_explanations]
    kinds = {
        "Explanations": [TOTAL, *field.weights, "coverage", *apart],
        "Predictions": [key for key in others if key in entries[0].draws],
        "The run": [key for key in others if key not in entries[0].draws],
    }
    return {
        kind: [(by_key[key], [_cell(field, by_key[key], entry, open_=open_) for entry in entries]) for key in keys]
        for kind, keys in kinds.items()
    }


def _cell(field: Field, column: Column, entry: Entry, *, open_: bool) -> Cell:
    """Round a score as the report does, and compare it with that of the best run."""
    places = min(column.decimals, MOST_DECIMALS)
    value = round(entry.points[column.key], places)
    if column.key not in entry.draws or column.maximum is None:
        fact = ScoreRow(column, Estimate(value, None, None), number(value, places), "", (), None)
        return Cell(fact, drawn=False, direction=0)
    spread = min(spread_decimals(column, open_=open_), MOST_DECIMALS)
    ends = None
    if field.drawn:
        low, high = percentile_interval(entry.draws[column.key], field.settings.bootstrap.level)
        ends = round(float(low), spread), round(float(high), spread)
    chance: tuple[Mark, ...] = ()
    if column.chance is not None:
        at = position(column.chance, column.minimum, column.maximum)
        chance = (Mark("chance", "Chance", number(column.chance, spread), at),)
    score = ScoreRow(column, Estimate(value, ends, None), number(value, places), interval(ends, spread), chance, None)
    against = difference(entry, field.entries[0], column.key, drawn=field.drawn)
    return Cell(score, drawn=True, direction=against.direction)


def _unscored(field: Field, *, clips: bool, truth: bool) -> Iterator[tuple[str, str, list[str]]]:
    """Yield title, meaning and each run's value: clips right for the right reason or not, and the reaction size.

    `truth`: whether labels are open; the counts depend on them.
    """
    gate = percent(field.settings.explanation_score.gate)
    meaning = f"Clips. Right: off by less than {gate} of the range; grounded: claims agree with known causes by "
    all_reasons = [entry.scores.reasons for entry in field.entries]
    for key, title in TITLES.items() if truth and all(all_reasons) else ():
        counts = [counted(asdict(reasons)[key], reasons.clips) for reasons in all_reasons if reasons]
        yield title[0].upper() + title[1:], f"{meaning}{GROUNDED:g}.", counts
    sizes = [
        number(reaction.value, 2 if clips else 1) + (f"{NO_BREAK}(large)" if reaction.large else "")
        for reaction in (entry.scores.reaction for entry in field.entries)
    ]
    meaning = f"Effect of altering the picture, relative to the claims. From {LARGE:g}, look at the code."
    yield "Reaction size", meaning, sizes


def _where_they_differ(field: Field, *, truth: bool) -> dict[str, list[Any]]:
    """Return the clips on which predictions, or their errors, and explanations differ most.

    Predictions: (clip, true value, predictions). Explanations: (clip, title of the target, qualities, texts).
    """
    settings = field.settings
    main = settings.names.index(settings.main_target)
    predicted = np.stack([entry.answers.prediction[:, main] for entry in field.entries])
    quality = held_up(field)
    judged = evaluated_targets(field.clip_ids, len(settings.targets), main, settings.bootstrap.seed)
    return {
        "predictions": [
            (field.clip_ids[clip], float(field.truth[clip, main]) if truth else None, predicted[:, clip].tolist())
            for clip in widest(errors(field, main) if truth else predicted, MOST_CLIPS)
        ],
        "explanations": [
            (
                field.clip_ids[clip],
                settings.targets[judged[clip]].title,
                quality[:, clip].tolist(),
                [visible(entry.answers.texts[clip], _LONGEST_TEXT) for entry in field.entries],
            )
            for clip in widest(quality, MOST_CLIPS)
        ],
    }


def _method(field: Field) -> Iterator[str]:
    first = field.entries[0]
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
