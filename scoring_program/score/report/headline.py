"""The first screen: the total, the scores and the axes."""

from __future__ import annotations

from collections.abc import Iterable

from score.axes.diagnostics import Diagnostic
from score.columns import Column, spread_decimals
from score.evaluation import Estimate
from score.explanation_settings import AXES
from score.report.content.scores import AxisRow, Bar, DiagnosticRow, ScoreRow, Scores
from score.report.numbers import NONE, interval, number, percent, position
from score.report.scored import MOST_DECIMALS, Scored


def scores(scored: Scored) -> Scores:
    """Build the section."""
    open_ = scored.settings.report.clips
    (first, estimate), *others = scored.evaluation.columns
    return Scores(
        total=_score_row(first, estimate, open_=open_),
        verdict=tuple(_verdict(scored)),
        rows=tuple(_score_row(column, one, open_=open_) for column, one in others),
        axes=tuple(_axis_rows(scored)),
        diagnostics=tuple(_diagnostic_row(one, open_=open_) for one in scored.evaluation.diagnostics),
        level=f"{100 * scored.settings.bootstrap.level:g} %" if estimate.interval else "",
    )


def _score_row(column: Column, estimate: Estimate, *, open_: bool) -> ScoreRow:
    places = min(column.decimals, MOST_DECIMALS)
    return ScoreRow(
        title=column.title,
        key=column.key,
        meaning=column.meaning,
        value=number(estimate.value, places),
        interval=interval(estimate.interval, min(spread_decimals(column, open_=open_), MOST_DECIMALS)),
        baseline="" if estimate.baseline is None else number(estimate.baseline, places),
        best="" if column.maximum is None else f"{column.maximum:g}",
        bar=None if column.maximum is None else _bar(column.minimum, column.maximum, estimate),
    )


def _bar(minimum: float, maximum: float, estimate: Estimate) -> Bar:
    zero, value = position(max(0.0, minimum), minimum, maximum), position(estimate.value, minimum, maximum)
    ends = [position(end, minimum, maximum) for end in estimate.interval] if estimate.interval else None
    return Bar(
        start=min(zero, value),
        length=round(abs(value - zero), 2),
        value=value,
        interval=(ends[0], round(ends[1] - ends[0], 2)) if ends else None,
        baseline=None if estimate.baseline is None else position(estimate.baseline, minimum, maximum),
    )


def _verdict(scored: Scored) -> Iterable[str]:
    outcomes = scored.outcomes
    counted = int(outcomes.counted.sum())
    if outcomes.failed * 2 > counted:
        yield f"{outcomes.failed} of {counted} clips failed: look at the problems below first."
    elif outcomes.failed:
        yield f"{outcomes.failed} of {counted} clips failed and were scored with the worst value."
    left_out = outcomes.count("unreadable")
    if left_out:
        yield f"{left_out} clips could not be decoded and are left out for everybody: the organisers need to know."
    skill = next(estimate for column, estimate in scored.evaluation.columns if column.key == "skill")
    low, high = skill.interval or (skill.value, skill.value)
    if round(low, 2) > 0:
        yield f"The predictions remove {percent(abs(skill.value))} of the error of always answering the training mean."
    elif round(high, 2) < 0:
        yield "Always answering the training mean would have been better than these predictions."
    else:
        yield "The predictions cannot be told apart from always answering the training mean."


def _axis_rows(scored: Scored) -> Iterable[AxisRow]:
    settings = scored.settings
    estimates = {column.key: (column, estimate) for column, estimate in scored.evaluation.columns}
    weights = settings.explanation.weights
    applied = [name for name in AXES if name != "known_causes" or settings.causes]
    whole = sum(getattr(weights, name) for name in applied)
    for name in (*AXES, "plausibility"):
        column, estimate = estimates[name]
        row = _score_row(column, estimate, open_=settings.report.clips)
        weight = percent(getattr(weights, name) / whole) if name in applied and whole else NONE
        chance = "" if column.chance is None else f"{column.chance:g}"
        yield AxisRow(row.title, row.value, row.interval, chance, weight, row.meaning)


def _diagnostic_row(diagnostic: Diagnostic, *, open_: bool) -> DiagnosticRow:
    """Show one number; coarse where clips are closed, since a model could speak of them through its own answers."""
    value = diagnostic.value
    if value is None:
        text = NONE
    elif diagnostic.unit == "share":
        text = percent(value)
    else:
        places = 4 if diagnostic.unit == "range" else 2
        text = number(value, places if open_ else places // 2)
    return DiagnosticRow(diagnostic.title, text, diagnostic.meaning)
