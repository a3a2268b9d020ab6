"""The first screen: how good it is, why, and what to fix first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from score.columns import TOTAL
from score.diagnostics.diagnose import Diagnostic
from score.report.advice import MEASURED, advice
from score.report.content.scores import Band, DiagnosticRow, Factor, Mark, ScoreRow, Scores
from score.report.factors import Factors, factors
from score.report.numbers import NO_BREAK, NONE, factor, number, percent
from score.report.score_rows import score_row
from score.report.scored import Scored
from score.report.status import status
from score.settings import Settings


def scores(scored: Scored) -> Scores:
    """Build the section."""
    settings, columns = scored.settings, scored.evaluation.columns
    values = {column.key: estimate.value for column, estimate in columns}
    parts = factors(values, settings.explanation, causes=settings.causes is not None)
    weights = _weights(settings, parts)
    rows = {column.key: score_row(column, one, scored, weight=weights.get(column.key, "")) for column, one in columns}
    total = rows[TOTAL]
    word = settings.explanation.word(values[total.key])
    return Scores(
        total=total,
        band=word,
        bands=_bands(settings.explanation.bands, word),
        verdict=tuple(_verdict(scored)),
        factors=_factors(parts),
        axes=tuple(rows[name] for name in parts.axes),
        predictions=tuple(rows[key] for key in _prediction_keys(settings)),
        rows=tuple(rows.values()),
        compared=_compared(rows.values()),
        advice=advice(scored, parts),
        status=status(scored),
        diagnostics=tuple(_diagnostic_row(one, open_=settings.report.clips) for one in scored.evaluation.diagnostics),
        level=f"{100 * settings.bootstrap.level:g}{NO_BREAK}%" if any(row.interval for row in rows.values()) else "",
    )


def _weights(settings: Settings, parts: Factors) -> dict[str, str]:
    weights = {name: getattr(settings.explanation.weights, name) for name in parts.axes}
    whole = sum(weights.values())
    return {name: percent(weight / whole) for name, weight in weights.items()} if whole else {}


def _prediction_keys(settings: Settings) -> tuple[str, ...]:
    subjects = [settings.main_target, *([settings.group.name] if settings.group else [])]
    return (*(f"{name}_{metric}" for name in subjects for metric in ("accuracy", "ccc")), "skill")


def _bands(bands: dict[str, float], here: str) -> tuple[Band, ...]:
    return tuple(
        Band(word, f"{low:g}", low, round(high - low, 2), word == here)
        for word, (low, high) in zip(bands, pairwise([*bands.values(), 100.0]), strict=True)
    )


def _factors(parts: Factors) -> tuple[Factor, ...]:
    return (
        Factor("coverage", factor(parts.coverage)),
        Factor("credit for the predictions", NONE if parts.credit is None else factor(parts.credit)),
        Factor("mean of the axes", factor(parts.mean)),
    )


def _compared(rows: Iterable[ScoreRow]) -> tuple[Mark, ...]:
    """List what the scores are compared with, each once."""
    found = {(mark.kind, mark.title): mark for row in rows for mark in row.marks}
    return tuple(found.values())


def _verdict(scored: Scored) -> Iterable[str]:
    outcomes = scored.outcomes
    if any(call.shows for calls in outcomes.probes for call in calls):
        yield (
            "This total is a diagnostic: altered copies of filmed clips can be recognised, so an honest explanation "
            "need not have the highest total."
        )
    first, _ = scored.evaluation.columns[0]
    if first.key != TOTAL:
        yield f"The leaderboard ranks by another column: {first.title.lower()}."
    if scored.results.run.results:
        *titles, last = (column.title for column, _ in scored.evaluation.columns if column.key in MEASURED)
        yield (
            f"Results were submitted instead of code. {', '.join(titles)} and {last} are measured by asking a model "
            "about altered clips; there was no model to ask, so they have their worst value."
        )
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


def _diagnostic_row(diagnostic: Diagnostic, *, open_: bool) -> DiagnosticRow:
    """Show one number; coarse where clips are closed, since a model could speak of them through its own answers."""
    value = diagnostic.value
    if value is None:
        text = NONE
    elif diagnostic.unit == "share":
        text = percent(value)
    elif diagnostic.unit == "flag":
        text = "raised" if value else "not raised"
    else:
        places = 4 if diagnostic.unit == "range" else 2
        text = number(value, places if open_ else places // 2)
    return DiagnosticRow(diagnostic.title, text, diagnostic.meaning)
