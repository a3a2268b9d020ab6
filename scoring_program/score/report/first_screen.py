"""The first screen: what happened, the total and its parts, and all scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from score.axes.registry import OF_CAUSES, REGISTRY, axis_weights
from score.columns import SKILL, TOTAL, Column
from score.evaluate import Estimate
from score.read.outcomes import Outcomes
from score.read.run import ISOLATION, Determinism
from score.report.advice import advice, factors
from score.report.page import NO_BREAK, interval, number, percent, plural, position
from score.report.predictions import TOO_GOOD, stated_error
from score.run import MOST_DECIMALS, ScoredRun
from score.visible import one_line

STATUS_WORDS = {
    "ok": "ok",
    "failed": "failed",
    "not_reached": "not reached in time",
    "missing": "no record",
    "unreadable": "unreadable, left out",
}
_SEAL = {
    True: ("sealed", "unchanged since ingestion", "good"),
    False: ("unsealed", "hashes checked, origin not verified", "plain"),
}
_NEARLY_ALL = 0.9
"""Share of the time limit from which a run counts as slow."""
MOST_IDS = 20
"""Most clips that a sentence names."""


StatusItem = tuple[str, str, str, str]
"""(title, value, detail, tone): the tone is ``good``, ``warning``, ``error`` or ``plain``."""


def status(run: ScoredRun) -> tuple[StatusItem, ...]:
    """List clips, time, isolation, seal and determinism."""
    facts = run.results.run
    level = one_line(facts.isolation, 40)
    return (
        _clips(run),
        _time(run),
        ("Isolation", level or "not recorded", ISOLATION.get(level, ""), "plain"),
        ("Records", *_SEAL[run.results.folder.sealed]),
        _same_twice("Same answer twice", facts.determinism, "clip", "clips"),
        _same_twice("Same answer twice, perturbed", facts.receipt_of_copies, "perturbed copy", "perturbed copies"),
    )


def clips_sentence(outcomes: Outcomes) -> str:
    """Count the clips by how they went, in one sentence."""
    return f"{plural(len(outcomes.clip_ids), 'clip')}: {', '.join(_counts(outcomes, tuple(STATUS_WORDS)))}."


def _counts(outcomes: Outcomes, statuses: tuple[str, ...]) -> list[str]:
    return [f"{outcomes.count(status)} {STATUS_WORDS[status]}" for status in statuses if outcomes.count(status)]


def _clips(run: ScoredRun) -> StatusItem:
    outcomes = run.outcomes
    counts = _counts(outcomes, tuple(status for status in STATUS_WORDS if status != "ok"))
    failed = outcomes.failed
    value = plural(failed, "failed clip") if failed else f"all {outcomes.count('ok')} predicted"
    tone = "error" if failed else "warning" if counts else "good"
    return "Clips", value, ", ".join(counts) or "no clip failed", tone


def _time(run: ScoredRun) -> StatusItem:
    facts = run.results.run
    ended = {"complete": "", "partial": "the run ended early"}[facts.status]
    if not facts.time_limit_s:
        return "Time", f"{facts.duration_s:.1f} s", ended, "warning" if ended else "plain"
    share = facts.duration_s / facts.time_limit_s
    late = facts.second_pass.planned - facts.second_pass.asked if facts.second_pass else 0
    unreached = f"{plural(late, 'perturbed copy', 'perturbed copies')} not reached" if late else ""
    note = ended or unreached or f"{percent(share)} of the limit"
    close = bool(ended or unreached) or share >= _NEARLY_ALL
    return "Time", f"{facts.duration_s:.1f} s of {facts.time_limit_s:.0f} s", note, "warning" if close else "good"


def _same_twice(title: str, determinism: Determinism | None, singular: str, several: str) -> StatusItem:
    if determinism is None:
        return title, "not asked", f"no {singular} was asked twice", "plain"
    if determinism.identical == determinism.clips:
        return title, "yes", f"{plural(determinism.clips, singular, several)} asked twice, identical", "good"
    size = determinism.largest_difference  # two digits, because a model can choose it
    by = f" by up to {size:.2g}" if size is not None and size > 0 else ""
    different = determinism.clips - determinism.identical
    return title, "no", f"{different} of {determinism.clips} {several} asked twice differ{by}", "warning"


_DRAWN = ("chance", "constant", "solution")
"""Kinds of marks drawn on the bars."""
_UNANSWERED = "probes_unanswered"
"""For ingestion this is a warning, since predictions stay valid; but here it can cost whole axes."""
SUM_DECIMALS = 6
"""Decimals of the total's factors if labels are open, so that readers can recompute it exactly."""


@dataclass(frozen=True)
class Mark:
    """A value to compare with, drawn on a score's bar."""

    kind: str
    """``chance``, or the kind of a landmark; decides colour and shape."""
    title: str
    value: str
    """Its rounded score."""
    position: float
    """Percentage of the scale's length."""
    number: int = 0
    """Place among the solutions, from 0: each has a shape of its own."""

    @property
    def drawn(self) -> bool:
        """Whether the bars of the first screen show it; the table shows all marks."""
        return self.kind in _DRAWN


@dataclass(frozen=True)
class ScoreRow:
    """One score column."""

    column: Column
    estimate: Estimate
    value: str
    """Rounded value."""
    interval: str
    """Rounded interval, or an empty text."""
    marks: tuple[Mark, ...]
    weight: float | None
    """Weight in the total, for an axis."""


def first_screen(run: ScoredRun) -> dict[str, Any]:
    """Build what the template needs besides settings and evaluation."""
    settings, columns = run.settings, run.evaluation.columns
    parts = factors(
        {column.key: estimate.value for column, estimate in columns},
        settings.explanation_score,
        run.evaluation.left_out,
    )
    shares = axis_weights(settings.explanation_score, run.evaluation.left_out)
    rows = {
        column.key: ScoreRow(
            column,
            estimate,
            number(estimate.value, min(column.decimals, MOST_DECIMALS)),
            interval(estimate.interval, run.spread_places(column)),
            tuple(_marks(column, estimate, run)),
            shares.get(column.key),
        )
        for column, estimate in columns
    }
    subjects = [settings.main_target, *([settings.group.name] if settings.group else [])]
    predicted = [*(f"{name}_{metric}" for name in subjects for metric in ("accuracy", "ccc")), SKILL]
    limits = settings.explanation_score.bands
    word = settings.explanation_score.word(rows[TOTAL].estimate.value)
    return {
        "total": rows[TOTAL],
        # What the leaderboard ranks by.
        "headline": rows[columns[0][0].key],
        # No word praises a run that knows no more than the training mean.
        "band": word if _skill_range(run)[0] > 0 or word == next(iter(limits)) else "",
        "tone": _tone(list(limits).index(word), len(limits)),
        "errors": [
            problem
            for problem in run.problems
            if problem.yours and (problem.severity == "error" or problem.code == _UNANSWERED)
        ],
        "invalid_texts": run.evaluation.error_analysis.get("invalid_text"),
        # Closed values are already rounded.
        "digits": SUM_DECIMALS if settings.report.truth else MOST_DECIMALS,
        # (word, begin, end) of the scale, lowest first.
        "bands": [(word, *ends) for word, ends in zip(limits, pairwise([*limits.values(), 100.0]), strict=True)],
        "not_comparable": run.results.run.not_comparable,
        "verdict": list(_verdict(run)),
        "parts": parts,
        "axes": [rows[name] for name in parts.axes],
        "predictions": [rows[key] for key in predicted],
        "rows": [
            row
            for row in rows.values()
            if (getattr(settings, row.column.file) if row.column.file else not row.column.hidden or row.estimate.value)
        ],
        "landmarks": run.landmarks.items,
        # One mark of each kind that occurs, for the legend and the headings of the table.
        "compared": list({(mark.kind, mark.title): mark for row in rows.values() for mark in row.marks}.values()),
        "advice": advice(run, parts),
        "status": status(run),
        # Nominal coverage of the intervals; empty without intervals.
        "level": f"{100 * settings.bootstrap.level:g}{NO_BREAK}%" if any(row.interval for row in rows.values()) else "",
    }


def _tone(step: int, steps: int) -> str:
    """Name the colour of a band: the lowest is chance; the others are split into thirds."""
    share = step / max(1, steps - 1)
    return "chance" if not step else "low" if share <= 1 / 3 else "middle" if share <= 2 / 3 else "high"


def _marks(column: Column, estimate: Estimate, run: ScoredRun) -> Iterator[Mark]:
    """Return chance, the constant on the same clips if open, and the landmarks of the phase."""
    if column.maximum is None:
        return
    low, high = column.minimum, column.maximum
    places = min(column.decimals, run.spread_places(column))
    landmarks = run.landmarks
    known: list[tuple[str, str, float | None]] = [
        ("chance", "Chance", column.chance),
        ("constant", "Constant", estimate.baseline),
    ]
    for landmark in landmarks.items:
        if landmark.kind != "constant" or estimate.baseline is None:
            known.append((landmark.kind, landmark.title, landmark.columns.get(column.key)))
    order = {landmark.title: rank for rank, landmark in enumerate(landmarks.of_kind("solution"))}
    for kind, title, value in known:
        if value is not None:
            at = position(min(high, max(low, value)), low, high)
            yield Mark(kind, title, number(value, places), at, order.get(title, 0))


def _verdict(run: ScoredRun) -> Iterator[str]:
    outcomes = run.outcomes
    if run.results.run.not_comparable:
        yield (
            "This score is not comparable with others: the machine was busy with other work, which cost this run time. "
            "That is no fault of yours: ask the organisers to run it again."
        )
    yield from _untested(run)
    first, _ = run.evaluation.columns[0]
    if first.key != TOTAL:
        yield f"The leaderboard ranks by {first.title.lower()}, the number at the top."
    if run.results.run.results:
        *titles, last = (axis.title for axis in REGISTRY.values() if axis.needs_model)
        yield (
            f"Results were submitted instead of code. {', '.join(titles)} and {last} need a model to answer altered "
            "clips; there was none, so they get their worst value."
        )
    counted = int(outcomes.counted.sum())
    if outcomes.failed * 2 > counted:
        yield f"{outcomes.failed} of {counted} clips failed: fix the problems below first."
    elif outcomes.failed:
        yield f"{outcomes.failed} of {counted} clips failed and got the worst score."
    left_out = outcomes.count("unreadable")
    if left_out:
        yield f"{left_out} clips could not be decoded and count for nobody: please tell the organisers."
    low, high, value = _skill_range(run)
    if low > 0:
        yield f"The predictions remove {percent(abs(value))} of the error of always answering the training mean."
    elif high < 0:
        yield "These predictions are worse than always answering the training mean."
    else:
        yield "These predictions cannot be distinguished from always answering the training mean."
    if (stated := stated_error(run)) and stated["too_good"]:
        yield TOO_GOOD
    if run.settings.report.truth and run.settings.report.clips:
        yield "This phase shows its true values: its scores are feedback, not evidence."


def _untested(run: ScoredRun) -> Iterator[str]:
    """Say which clips cannot be tested, and which axes are left out."""
    clip_ids, shows_ids = run.outcomes.clip_ids, run.settings.report.clips
    for tested, what, name in (
        (run.outcomes.exchanged, "exchanges", "faithfulness"),
        (run.outcomes.edited, "cue edits", "cue claims"),
    ):
        without = [clip_ids[number] for number in np.flatnonzero(~tested)]
        if without:
            ids = f": {', '.join(without[:MOST_IDS])}{', …' if len(without) > MOST_IDS else ''}" if shows_ids else ""
            yield f"{len(without)} of {len(clip_ids)} clips have no {what} and are left out of {name}{ids}."
    if missing := [axis.title for key, axis in REGISTRY.items() if key in run.evaluation.left_out - OF_CAUSES]:
        yield (
            f"The total leaves out {' and '.join(missing)}: no clip can be tested. The other axes share the weight. "
            "Organisers make exchanges of filmed clips with bundle data exchanges."
        )


def _skill_range(run: ScoredRun) -> tuple[float, float, float]:
    """Return both ends of the skill's interval, rounded, and the skill."""
    skill = next(estimate for column, estimate in run.evaluation.columns if column.key == SKILL)
    low, high = skill.interval or (skill.value, skill.value)
    return round(low, 2), round(high, 2), skill.value
