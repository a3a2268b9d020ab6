"""The factors of the total, and what to improve first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from score.axes.axis import Axis
from score.axes.registry import REGISTRY
from score.axes.table import power_mean
from score.cues import unclaimed
from score.diagnostics import ErrorShares
from score.errors import Problem
from score.evaluate import Estimate
from score.report.page import number, percent, plural
from score.run import MOST_DECIMALS, ScoredRun
from score.settings import AXES, ExplanationScore
from score.visible import one_line


@dataclass(frozen=True)
class Factors:
    """``total = 100 x coverage x skill factor x (sum of weight x root of the axis)^2``."""

    coverage: float
    """Share of the clips with a valid text."""
    skill_factor: float | None
    """In [0, 1]; None if it cannot be derived, because all other factors are 0."""
    axes: Mapping[str, float]
    score: ExplanationScore

    @property
    def mean(self) -> float:
        """Power mean of the axes."""
        axes = {name: np.array(value) for name, value in self.axes.items()}
        return float(power_mean(axes, self.score, frozenset(AXES) - axes.keys()))

    @property
    def rows(self) -> tuple[tuple[str, float, float, float], ...]:
        """Each axis with its value, its root (value to the power) and its share of the weights."""
        weights = {name: getattr(self.score.weights, name) for name in self.axes}
        whole = sum(weights.values())
        return tuple(
            (name, value, float(np.float64(value) ** self.score.power), weights[name] / whole if whole else 0.0)
            for name, value in self.axes.items()
        )

    @property
    def summed(self) -> float:
        """Sum of weight times root over the axes."""
        return sum(root * weight for _, _, root, weight in self.rows)

    @property
    def total(self) -> float:
        """In [0, 100]; 0 if the skill factor is unknown."""
        return 100 * self.coverage * (self.skill_factor or 0.0) * self.mean

    def gain(
        self, axes: Mapping[str, float] | None = None, coverage: float | None = None, skill_factor: float | None = None
    ) -> float:
        """Compute how many points the total would gain if some factors had other values."""
        changed = replace(
            self,
            coverage=self.coverage if coverage is None else coverage,
            skill_factor=self.skill_factor if skill_factor is None else skill_factor,
            axes={**self.axes, **(axes or {})},
        )
        return changed.total - self.total


def factors(columns: Mapping[str, float], score: ExplanationScore, left_out: frozenset[str]) -> Factors:
    """Split a total into its factors, without the axes that are left out."""
    axes = {name: columns[name] for name in AXES if name not in left_out}
    parts = Factors(columns["coverage"], 1.0, axes, score)
    whole = parts.total
    return replace(parts, skill_factor=min(1.0, columns["explanation"] / whole) if whole > 0 else None)


_NOTABLE = 0.1
"""Share below which a shortfall is not worth a sentence."""


def axis_advice(axis: Axis, error_analysis: ErrorShares) -> tuple[str, str]:
    """Choose the shortfall with the largest share of clips or claims; the first one if shares are equal.

    Returns what to do, in one sentence, and the figure behind it; the figure is empty if no share stands out.
    """
    lost = {
        kind.key: (1 - share if kind.complement else share, kind)
        for kind in axis.error_analysis
        if (share := error_analysis[kind.key]) is not None
    }
    share, largest = max(lost.values(), key=lambda pair: pair[0], default=(0.0, None))
    if largest is None or share < _NOTABLE:
        return axis.otherwise, ""
    return largest.advice, f"{percent(share)} {largest.finding}"


_MOST = 5
_FEWEST = 3
_LOST = 0.05
"""A factor of the total below which no other change gains a notable amount."""
_NOTABLE_SHARE = 0.1
"""Share of unreached perturbed copies from which advice mentions them."""
_NOTABLE_GAIN = 2.0
"""Gain in points below which a change is shown only if there are fewer than three others with more."""


@dataclass(frozen=True)
class Advice:
    """One thing to fix."""

    points: float
    """Largest possible gain of the total."""
    sentence: str
    evidence: str
    first: bool = False
    """Whether it must come first, because it raises a factor of the total that is near 0."""
    gain: str = ""
    """The gain in words; empty if that would mislead."""
    cue_by_cue: bool = False
    """Whether the table of cues shows more."""


def advice(run: ScoredRun, parts: Factors) -> tuple[Advice, ...]:
    """Choose three to five changes, fewer if no others would gain anything.

    Changes that raise a factor near 0 come first, then those with the largest gain.
    """
    # While a factor is near 0, no other change gains anything; judge the others as if that factor were 1.
    usable = replace(
        parts,
        coverage=1.0 if _is_lost(parts.coverage) else parts.coverage,
        skill_factor=1.0 if parts.skill_factor is None or _is_lost(parts.skill_factor) else parts.skill_factor,
    )
    candidates = sorted(_candidates(run, parts, usable), key=lambda change: (not change.first, -change.points))
    notable = [change for change in candidates if change.first or change.points >= _NOTABLE_GAIN]
    worthwhile = [change for change in candidates if change.first or change.points > 0]
    chosen = notable[:_MOST] if len(notable) >= _FEWEST else worthwhile[:_FEWEST]
    largest = max((change.points for change in chosen), default=0.0)

    def gain(change: Advice) -> str:
        if change.first and change.points < largest:
            return ""  # a gain of a few points would hide that all other gains depend on it
        points = round(change.points)
        return f"up to {plural(points, 'point')}" if points >= 1 else "less than 1 point"

    return tuple(replace(change, gain=gain(change)) for change in chosen)


def _is_lost(factor: float | None) -> bool:
    return factor is not None and factor < _LOST


def _candidates(run: ScoredRun, parts: Factors, usable: Factors) -> Iterable[Advice]:
    columns = {column.key: estimate for column, estimate in run.evaluation.columns}
    yield from _failed(run, parts)
    yield from _unreached(run, usable)
    yield from _skill(parts, columns)
    if parts.coverage < 1 and not run.outcomes.failed:
        share = f"Coverage is {number(parts.coverage, MOST_DECIMALS)}: explanations without a valid text score 0."
        gain = parts.gain(coverage=1.0)
        yield Advice(gain, "Write a valid text for every clip.", share, first=_is_lost(parts.coverage))
    yield from _axes(run, usable)


def _axes(run: ScoredRun, usable: Factors) -> Iterable[Advice]:
    """Advise on each axis; axes that are low for the same reason are one change."""
    error_analysis = run.evaluation.error_analysis
    reasons: dict[tuple[str, str], list[str]] = {}
    for axis, value in usable.axes.items():
        if run.results.run.results and REGISTRY[axis].needs_model:
            continue  # results without a model cannot change it
        if error_analysis and value < 1:
            reasons.setdefault(axis_advice(REGISTRY[axis], error_analysis), []).append(axis)
    titles = {column.key: column.title for column, _ in run.evaluation.columns}
    for (sentence, figure), axes in reasons.items():
        values = [
            f"{titles[axis]} is {number(usable.axes[axis], MOST_DECIMALS)}{_solution(run, axis)}." for axis in axes
        ]
        gain = usable.gain(dict.fromkeys(axes, 1.0))
        of_cues = "cue_claims" in axes and bool(run.evaluation.cues)
        names = unclaimed(run.evaluation.cues) if of_cues else ""
        unclaimed_cues = f"Moved the prediction unclaimed, on so many clips: {names}." if names else ""
        evidence = " ".join([*values, figure, unclaimed_cues]).strip()
        yield Advice(gain, sentence, evidence, cue_by_cue=of_cues)


def _failed(run: ScoredRun, parts: Factors) -> Iterable[Advice]:
    """Advise on failed clips: each counts 0 in every mean, so fixing them raises all means in proportion."""
    outcomes = run.outcomes
    clips, failed = int(outcomes.counted.sum()), outcomes.failed
    if not failed:
        return
    late = outcomes.count("not_reached")
    evidence = (
        f"{failed} of {clips} clips have no prediction: each scores 0 on every axis and counts with the largest error."
    )
    if late * 2 > failed:
        limit = run.results.run.time_limit_s
        sentence = "Make the model faster: time ran out."
        evidence += f" {late} were not reached" + (f" within {limit:.0f} s." if limit else ".")
    else:
        sentence = "Get a prediction for every clip."
        evidence += f"{_most_often(run.problems)} Catch exceptions, and fall back on the training mean."
    grown = clips / (clips - failed) if clips > failed else 1.0
    axes = {name: min(1.0, value * grown) for name, value in parts.axes.items()}
    gain = 100.0 if clips == failed else parts.gain(axes, coverage=min(1.0, parts.coverage * grown), skill_factor=1.0)
    yield Advice(gain, sentence, evidence, first=_is_lost(parts.skill_factor))


def _unreached(run: ScoredRun, usable: Factors) -> Iterable[Advice]:
    """Advise on perturbed copies that were not reached: they earn no points."""
    second = run.results.run.second_pass
    if second is None or second.planned - second.asked < max(1, _NOTABLE_SHARE * second.planned):
        return
    late = f"{second.planned - second.asked} of {second.planned} perturbed copies were not reached"
    grown = second.planned / max(1, second.asked)
    axes = {name: min(1.0, value * grown) for name, value in usable.axes.items() if REGISTRY[name].needs_model}
    sentence = "Make the model faster: perturbed copies were not reached."
    yield Advice(usable.gain(axes), sentence, f"{late}: these earn no points. Read few, small frames, once.")


def _most_often(problems: Iterable[Problem]) -> str:
    # A mistake in an explanation does not cost the prediction.
    yours = [
        problem for problem in problems if problem.yours and problem.severity == "error" and problem.stage != "explain"
    ]
    if not yours:
        return ""
    most = max(yours, key=lambda problem: problem.count)
    return f" Most often: {one_line(most.code, 60)}."


def _skill(parts: Factors, columns: Mapping[str, Estimate]) -> Iterable[Advice]:
    skill = columns["skill"].value
    if parts.skill_factor == 1:
        return
    gain = parts.gain(skill_factor=1.0)
    if skill <= 0:
        sentence = "Predict better than the training mean: without that, explanations hardly count."
        evidence = f"The skill over the constant is {number(skill, MOST_DECIMALS)}. Check signs and RGB."
    else:
        sentence = "Predict better: the skill factor multiplies the whole score."
        known = "" if parts.skill_factor is None else f"The skill factor is {number(parts.skill_factor, 2)} of 1. "
        evidence = f"{known}The skill over the constant is {number(skill, MOST_DECIMALS)}."
    lost = skill <= 0 if parts.skill_factor is None else _is_lost(parts.skill_factor)
    yield Advice(gain, sentence, evidence, first=lost)


def _solution(run: ScoredRun, axis: str) -> str:
    """Name the best example submission on an axis, if it beats this run at the shown precision."""
    column, estimate = next(pair for pair in run.evaluation.columns if pair[0].key == axis)
    places = run.spread_places(column)
    better = [
        (landmark.columns[axis], landmark.title)
        for landmark in run.landmarks.items
        if landmark.kind == "solution"
        and round(landmark.columns.get(axis, 0.0), places) > round(estimate.value, places)
    ]
    if not better:
        return ""
    best, title = max(better)
    return f"; {title} reaches {number(best, places)}"
