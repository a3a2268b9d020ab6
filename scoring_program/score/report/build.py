"""From the evaluation to `ReportData`: the only place that decides what enters the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from score import __version__
from score.axes.diagnostics import Diagnostic
from score.columns import Column, spread_decimals
from score.errors import Problem
from score.evaluation import ClipNumbers, Estimate, Evaluation
from score.explanation_settings import AXES
from score.findings import Finding
from score.metrics import METRICS
from score.outcomes import Outcomes
from score.report.cards import cards
from score.report.data import (
    AxisRow,
    Bar,
    ClipRow,
    DiagnosticRow,
    FailureData,
    MetricCell,
    ProblemRow,
    ReportData,
    ScoreRow,
    TargetRow,
)
from score.results import Results
from score.settings import Settings
from score.visible import one_line

METRIC_TITLES = {"accuracy": "Accuracy", "r2": "R²", "ccc": "CCC", "pearson": "Pearson", "skill": "Skill"}
STATUS_WORDS = {
    "ok": "ok",
    "failed": "failed",
    "not_reached": "not reached in time",
    "missing": "no record",
    "unreadable": "unreadable, left out",
}
_CLIPS_IN_GROUP = 50
_MOST_PROBLEMS = 60
_MOST_DECIMALS = 3
_COARSE_DECIMALS = 2

Facts = tuple[tuple[str, str], ...]


def build_report(
    results: Results,
    outcomes: Outcomes,
    evaluation: Evaluation,
    settings: Settings,
    findings: Sequence[Finding],
    worker: Facts,
) -> ReportData:
    """Gather what the settings allow participants to see.

    Where single clips are closed, a number that depends on labels and is not a score is one more equation about them.
    There intervals and targets are coarse, and what the constant baseline reaches, which is a statistic of the labels
    alone, is left out; bars are drawn from the rounded numbers, since a position is a number, too.

    Parameters
    ----------
    results
        For the run's facts, its problems and the pictures.
    outcomes
        What happened to each clip.
    evaluation
        Every number.
    settings
        ``settings.report`` is the gate: without ``truth`` no label and no error of a clip is taken, without ``clips``
        nothing about a single clip.
    findings
        Problems, fit for their readers.
    worker
        (label, value) facts from the platform.
    """
    (first, estimate), *others = evaluation.columns
    show = settings.report
    return ReportData(
        task=settings.task,
        total=_score_row(first, estimate, show.clips),
        verdict=tuple(_verdict(outcomes, evaluation)),
        scores=tuple(_score_row(column, estimate, show.clips) for column, estimate in others),
        axes=tuple(_axis_rows(evaluation, settings, show.clips)),
        diagnostics=tuple(_diagnostic_row(diagnostic, show.clips) for diagnostic in evaluation.diagnostics),
        facts=(*_run_facts(results, outcomes), *_shown(results.run.details), *worker),
        yours=_problem_rows(findings, yours=True),
        theirs=_problem_rows(findings, yours=False),
        metric_titles=tuple(METRIC_TITLES[name] for name in METRICS),
        targets=tuple(
            TargetRow(target.title, tuple(_metric_cell(metrics[name], show.clips) for name in METRICS))
            for target, metrics in evaluation.targets
        ),
        level=f"{100 * settings.bootstrap.level:g} %" if estimate.interval else "",
        method=tuple(_method(evaluation, settings, estimate)),
        main_title=settings.main.title,
        shows_clips=show.clips,
        shows_truth=show.truth,
        clip_groups=_clip_groups(results, outcomes, evaluation, settings) if show.clips else (),
        cards=cards(results.folder, outcomes, settings),
    )


def build_failure(headline: str, findings: Sequence[Finding], worker: Facts) -> FailureData:
    """Explain a run without scores; problems never hold label values (score.errors)."""
    return FailureData(
        headline=headline,
        yours=_problem_rows(findings, yours=True),
        theirs=_problem_rows(findings, yours=False),
        facts=worker,
    )


def _shown(facts: Facts) -> Facts:
    return tuple((label, one_line(value, 400)) for label, value in facts)


def _score_row(column: Column, exact: Estimate, open_: bool) -> ScoreRow:
    places = min(column.decimals, _MOST_DECIMALS)
    spread = min(spread_decimals(column, open_=open_), _MOST_DECIMALS)
    estimate = _coarse(exact, places, spread, baseline=open_)
    value, interval, baseline = _texts(estimate, places, spread)
    return ScoreRow(
        title=column.title,
        key=column.key,
        meaning=column.meaning,
        value=value,
        interval=interval,
        baseline=baseline,
        best="" if column.maximum is None else f"{column.maximum:g}",
        bar=None if column.maximum is None else _bar(column.minimum, column.maximum, estimate),
    )


def _number(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def _coarse(estimate: Estimate, places: int, spread: int, *, baseline: bool) -> Estimate:
    """Round an estimate to what is shown of it, so that nothing finer can be drawn."""
    ends = estimate.interval
    return Estimate(
        value=round(estimate.value, places),
        interval=(round(ends[0], spread), round(ends[1], spread)) if ends else None,
        baseline=round(estimate.baseline, places) if baseline and estimate.baseline is not None else None,
    )


def _texts(estimate: Estimate, places: int, spread: int) -> tuple[str, str, str]:
    interval = "{} to {}".format(*(_number(end, spread) for end in estimate.interval)) if estimate.interval else ""
    baseline = "" if estimate.baseline is None else _number(estimate.baseline, places)
    return _number(estimate.value, places), interval, baseline


def _bar(minimum: float, maximum: float, estimate: Estimate) -> Bar:
    def position(value: float) -> float:
        return round(100 * (value - minimum) / (maximum - minimum), 2)

    zero, value = position(max(0.0, minimum)), position(estimate.value)
    ends = [position(end) for end in estimate.interval] if estimate.interval else None
    return Bar(
        start=min(zero, value),
        length=round(abs(value - zero), 2),
        value=value,
        interval=(ends[0], round(ends[1] - ends[0], 2)) if ends else None,
        baseline=None if estimate.baseline is None else position(estimate.baseline),
    )


def _metric_cell(estimate: Estimate, open_: bool) -> MetricCell:
    if open_:
        return MetricCell(*_texts(estimate, _MOST_DECIMALS, _MOST_DECIMALS))
    return MetricCell(_number(estimate.value, _COARSE_DECIMALS), "", "")


def _verdict(outcomes: Outcomes, evaluation: Evaluation) -> Iterable[str]:
    counted = int(outcomes.counted.sum())
    if outcomes.failed * 2 > counted:
        yield f"{outcomes.failed} of {counted} clips failed: look at the problems below first."
    elif outcomes.failed:
        yield f"{outcomes.failed} of {counted} clips failed and were scored with the worst value."
    left_out = outcomes.count("unreadable")
    if left_out:
        yield f"{left_out} clips could not be decoded and are left out for everybody: the organisers need to know."
    skill = next(
        _coarse(estimate, 2, 2, baseline=False) for column, estimate in evaluation.columns if column.key == "skill"
    )
    share = f"{abs(skill.value):.0%}".replace("%", " %")
    low, high = skill.interval or (skill.value, skill.value)
    if low > 0:
        yield f"The predictions remove {share} of the error of always answering the training mean."
    elif high < 0:
        yield "Always answering the training mean would have been better than these predictions."
    else:
        yield "The predictions cannot be told apart from always answering the training mean."


def _run_facts(results: Results, outcomes: Outcomes) -> Facts:
    run = results.run
    limit = f" of {run.time_limit_s:.0f} s" if run.time_limit_s else ""
    counts = [f"{outcomes.count(status)} {word}" for status, word in STATUS_WORDS.items() if outcomes.count(status)]
    return (
        ("Clips", ", ".join(counts)),
        ("Run", {"complete": "complete", "partial": "ended early: see the problems"}[run.status]),
        ("Time used", f"{run.duration_s:.1f} s{limit}"),
        ("Seal", "sealed" if results.folder.sealed else "unsealed: hashes were checked, their origin was not"),
        ("Other files in the results", f"{results.folder.planted.count}, ignored"),
    )


def _problem_rows(findings: Sequence[Finding], *, yours: bool) -> tuple[ProblemRow, ...]:
    return tuple(_problem_row(finding) for finding in findings if finding.yours == yours)[:_MOST_PROBLEMS]


def _problem_row(finding: Finding) -> ProblemRow:
    problem = finding.problem
    return ProblemRow(
        severity=problem.severity,
        code=one_line(problem.code, 60),
        count=finding.count,
        where=one_line(problem.where, 120),
        found=one_line(problem.found, 900),
        expected=one_line(problem.expected, 300),
        fix=one_line(problem.fix, 300),
    )


def _method(evaluation: Evaluation, settings: Settings, estimate: Estimate) -> Iterable[str]:
    options = settings.bootstrap
    if estimate.interval:
        yield (
            f"Intervals: {100 * options.level:g} % percentile bootstrap, {options.resamples} resamples of the "
            f"{evaluation.sources} source videos, seed {options.seed}."
        )
    else:
        yield "No intervals: they need resamples and at least two source videos."
    yield "The constant baseline answers every clip with the training mean of each target and explains nothing."
    yield (
        "A clip without a valid prediction counts with an error of the full range (accuracy 0) and an explanation "
        "worth 0; a clip that cannot be decoded is left out for everybody."
    )
    yield f"Scoring program {__version__}, data {settings.data_version}."


def _clip_groups(
    results: Results, outcomes: Outcomes, evaluation: Evaluation, settings: Settings
) -> tuple[tuple[str, tuple[ClipRow, ...]], ...]:
    numbers = evaluation.clips or (None,) * len(outcomes.clip_ids)
    rows = [_clip_row(number, results, outcomes, numbers[number], settings) for number in range(len(outcomes.clip_ids))]
    failed, good = [row for row in rows if not row.good], [row for row in rows if row.good]
    groups = []
    for title, chosen in (("Clips without a prediction", failed), ("Clips with a prediction", good)):
        for start in range(0, len(chosen), _CLIPS_IN_GROUP):
            part = tuple(chosen[start : start + _CLIPS_IN_GROUP])
            groups.append((f"{title}, {start + 1} to {start + len(part)} of {len(chosen)}", part))
    return tuple(groups)


def _clip_row(
    number: int, results: Results, outcomes: Outcomes, judged: ClipNumbers | None, settings: Settings
) -> ClipRow:
    clip_id, status = outcomes.clip_ids[number], outcomes.statuses[number]
    main = settings.names.index(settings.main_target)
    good = status == "ok"
    predicted = float(outcomes.prediction[number, main]) if good else None
    truth = float(outcomes.truth[number, main]) if settings.report.truth else None
    error = "" if truth is None or predicted is None else f"{predicted - truth:+.3f}".replace("-", "−")
    record = results.clips.get(clip_id)
    return ClipRow(
        clip_id=clip_id,
        status=STATUS_WORDS[status],
        good=good,
        predicted="–" if predicted is None else f"{predicted:.3f}",
        truth="" if truth is None else f"{truth:.3f}",
        error=error,
        judged_on=judged.target if judged else "",
        axes=_clip_axes(judged, settings),
        note=_note(record.problems if record else ()),
    )


def _clip_axes(judged: ClipNumbers | None, settings: Settings) -> tuple[str, ...]:
    if judged is None:
        return ("–",) * (5 if settings.report.truth else 4)
    values: list[float | None] = [judged.space, judged.time, judged.claims, judged.text]
    if settings.report.truth:  # whether a clip counts for known causes tells how far its prediction is from its label
        values.append(judged.causes)
    return tuple("–" if value is None else _number(value, 2) for value in values)


def _axis_rows(evaluation: Evaluation, settings: Settings, open_: bool) -> Iterable[AxisRow]:
    estimates = {column.key: (column, estimate) for column, estimate in evaluation.columns}
    score = settings.explanation
    applied = [name for name in AXES if name != "known_causes" or settings.causes]
    whole = sum(getattr(score.weights, name) for name in applied)
    for name in (*AXES, "plausibility"):
        column, exact = estimates[name]
        row = _score_row(column, exact, open_)
        weight = f"{getattr(score.weights, name) / whole:.0%}".replace("%", " %") if name in applied and whole else "–"
        chance = "" if column.chance is None else f"{column.chance:g}"
        yield AxisRow(row.title, row.value, row.interval, chance, weight, row.meaning)


def _diagnostic_row(diagnostic: Diagnostic, open_: bool) -> DiagnosticRow:
    """Show one number; coarse where clips are closed, since a model could speak of them through its own answers."""
    value = diagnostic.value
    if value is None:
        text = "–"
    elif diagnostic.unit == "share":
        text = f"{value:.0%}".replace("%", " %")
    else:
        places = 4 if diagnostic.unit == "range" else 2
        text = _number(value, places if open_ else places // 2)
    return DiagnosticRow(diagnostic.title, text, diagnostic.meaning)


def _note(problems: tuple[Problem, ...]) -> str:
    if not problems:
        return ""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return one_line(f"{first.code}: {first.found}", 120)[:240] + more
