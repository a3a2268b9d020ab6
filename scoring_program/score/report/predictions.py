"""The section on predictions: metrics compared with baselines, plots, and gaps between groups of people."""

import math
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from score.fairness import ENOUGH_PEOPLE, FEWEST_PEOPLE, AttributeGaps, Fairness, Summary
from score.metrics import percentile_interval, resampled
from score.report.drawings import calibration, residuals, scatter
from score.report.page import interval, number, plural
from score.run import MOST_DECIMALS, ScoredRun
from score.settings import Settings
from score.visible import in_words

_RATIO_PLACES = 2
_FEWEST_COMPARED = 10
"""With fewer people, an interval by resampling is too narrow to blame anybody."""


def predictions(run: ScoredRun) -> dict[str, Any]:
    """Build what the template needs besides settings and evaluation."""
    settings, fairness = run.settings, run.evaluation.fairness
    main = settings.names.index(settings.main_target)
    return {
        "place": main,
        # Only landmarks with metrics per target, which coarse ones lack.
        "landmarks": [item for item in run.landmarks.items if item.targets],
        "plots": _plots(run),
        "stated": stated_error(run),
        "rule": _rule(fairness, settings) if fairness else "",
        # If only the rough summaries are open, there are no gaps.
        "attributes": [
            _attribute(summary, gaps, main) for summary, gaps in zip_longest(fairness.summaries, fairness.attributes)
        ]
        if fairness
        else [],
    }


def stated_error(run: ScoredRun) -> dict[str, Any] | None:
    """Compare the error on these clips with the submission's own for people who were left out of its training.

    Too good: the upper end of the bootstrap interval over people lies below the stated error, which is itself a mean
    over so many people: the interval is widened by ``sqrt(1 + people here / people there)``. Returns None if true
    values are closed, nothing is stated, or there is one person.
    """
    settings, training = run.settings, run.results.run.training
    outcomes = run.outcomes.only_counted()
    _, sources = np.unique(outcomes.sources, return_inverse=True)
    people = int(sources.max(initial=0)) + 1
    if not settings.report.truth or training is None or people < 2 or not settings.bootstrap.resamples:
        return None
    span = outcomes.span
    error = np.nan_to_num(np.abs(outcomes.prediction - outcomes.truth) / span, nan=1.0).mean(axis=1)
    sums = np.stack([np.bincount(sources, error), np.bincount(sources) * 1.0], axis=1)
    drawn_error, drawn_clips = resampled(sums, settings.bootstrap.resamples, settings.bootstrap.seed).T
    drawn = drawn_error / drawn_clips
    value, stated = float(error.mean()), float(np.mean([training.error[name] for name in settings.names] / span))
    wide = value + (drawn - value) * math.sqrt(1 + people / training.people)
    low, high = map(float, percentile_interval(wide, settings.bootstrap.level))
    accuracies = 1 - np.array(list(training.error.values())) / span
    return {
        "accuracy": dict(zip(training.error, accuracies.tolist(), strict=True)),
        "too_good": high < stated and min(people, training.people) >= _FEWEST_COMPARED,
        "sentence": (
            f"For {training.people} groups by {training.grouped_by or 'an unknown column'} that were left out of "
            f"training, the submission states a mean absolute error of {number(stated, MOST_DECIMALS)} of the range. "
            f"Here it is {number(value, MOST_DECIMALS)} ({interval((max(0.0, low), high), MOST_DECIMALS)})."
        ),
    }


TOO_GOOD = (
    "These clips are predicted better than the submission's own cross-validation explains: they, or other clips of "
    "these people, were probably in its training. Final will tell: train on the public data alone."
)


def _plots(run: ScoredRun) -> list[dict[str, Any]]:
    """Draw every target, the main one first; nothing if true values are closed or no clip has a prediction."""
    settings, outcomes = run.settings, run.outcomes
    good = np.array([status == "ok" for status in outcomes.statuses])
    if not settings.report.truth or not good.any():
        return []
    _, people = np.unique(outcomes.sources[good], return_inverse=True)
    resamples = settings.bootstrap.resamples if people.max() else 0
    by_person = partial(resampled, resamples=resamples, seed=settings.bootstrap.seed)
    drawn = []
    for at, target in enumerate(settings.targets):
        truth, predicted = outcomes.truth[good, at], outcomes.prediction[good, at]
        drawn.append(
            {
                "target": target,
                "scatter": scatter(truth, predicted, target),
                "calibration": calibration(truth, predicted, people, by_person, settings.bootstrap.level),
                "residuals": residuals(truth, predicted, target),
            }
        )
    return sorted(drawn, key=lambda drawing: drawing["target"] != settings.main)


def _rule(fairness: Fairness, settings: Settings) -> str:
    parts = [number(fairness.threshold, MOST_DECIMALS)] if math.isfinite(fairness.threshold) else []
    parts += ["the median of the labels"] if fairness.threshold_is_median else []
    return f"A clip counts as selected when the predicted {settings.main.title} is at least {', '.join(parts)}."


def _attribute(summary: Summary, gaps: AttributeGaps | None, main: int) -> dict[str, Any]:
    notes = []
    if gaps and gaps.left_out:
        notes.append(f"{plural(gaps.left_out, 'group')} with fewer than {FEWEST_PEOPLE} people left out.")
    if summary.few:
        notes.append(f"Some groups have fewer than {ENOUGH_PEOPLE} people: a gap may well be chance.")
    groups = gaps.groups if gaps else ()
    shown = [group.residual[main] for group in groups]
    ends = [abs(end) for gap in shown for end in (gap.interval or (gap.value,)) if math.isfinite(end)]
    return {
        "title": in_words(summary.name.capitalize(), 40),
        "sentence": _sentence(summary, rough=gaps is None),
        "shown": bool(groups) or (summary.groups > 0 and _is_measured(summary)),
        "note": " ".join(notes),
        "groups": groups,
        # Half-width of the scale of mean residuals around zero.
        "reach": max(ends, default=0.0) or 1.0,
    }


def _is_measured(summary: Summary) -> bool:
    return any(map(math.isfinite, (summary.residual, summary.error_gap, summary.rate_ratio)))


def _sentence(summary: Summary, *, rough: bool) -> str:
    if not summary.groups:
        return f"Not shown: a comparison needs two groups of at least {FEWEST_PEOPLE} people."
    if not _is_measured(summary):
        return (
            f"{summary.groups} groups. Shown only if every group has {ENOUGH_PEOPLE} people or more and nearly all "
            "clips have a prediction: otherwise the numbers could reveal who is in which group."
        )
    places, ratio_places = (1, 1) if rough else (MOST_DECIMALS, _RATIO_PLACES)
    return (
        f"{summary.groups} groups. Largest mean residual {number(summary.residual, places)}, largest difference of "
        f"mean absolute errors {number(summary.error_gap, places)}, lowest ratio of selection rates "
        f"{number(summary.rate_ratio, ratio_places)}."
    )
