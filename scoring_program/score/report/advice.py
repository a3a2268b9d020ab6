"""What to fix first: the few changes that gain most, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from score.evaluation import Estimate
from score.findings import Finding
from score.report.axis_advice import axis_advice
from score.report.content.scores import Advice
from score.report.factors import Factors
from score.report.numbers import number, plural
from score.report.scored import MOST_DECIMALS, Scored
from score.visible import one_line

_MOST = 5
_FEWEST = 3
_NOTABLE_GAIN = 2.0
"""Points below which a change is only named where there are fewer than three others."""


@dataclass(frozen=True)
class _Candidate:
    """One change."""

    gain: float
    """Points of the total that it may gain, at most."""
    sentence: str
    """What to do."""
    evidence: str
    """Why."""


def advice(scored: Scored, parts: Factors) -> tuple[Advice, ...]:
    """Choose three to five changes, largest gain first; fewer where there is nothing else to gain."""
    candidates = sorted(_candidates(scored, parts), key=lambda one: -one.gain)
    notable = [one for one in candidates if one.gain >= _NOTABLE_GAIN]
    chosen = notable[:_MOST] if len(notable) >= _FEWEST else [one for one in candidates if one.gain > 0][:_FEWEST]
    return tuple(Advice(one.sentence, one.evidence, _points(one.gain)) for one in chosen)


def _points(gain: float) -> str:
    return f"up to {plural(round(gain), 'point')}" if round(gain) >= 1 else "less than 1 point"


def _candidates(scored: Scored, parts: Factors) -> Iterable[_Candidate]:
    columns = {column.key: estimate for column, estimate in scored.evaluation.columns}
    yield from _failed(scored, parts)
    yield from _skill(parts, columns)
    if parts.coverage < 1 and not scored.outcomes.failed:
        share = f"Coverage is {number(parts.coverage, MOST_DECIMALS)}: an explanation without a valid text counts 0."
        yield _Candidate(parts.gain(coverage=1.0), "Write a valid text for every clip.", share)
    found = scored.evaluation.shortfalls
    titles = {column.key: column.title for column, _ in scored.evaluation.columns}
    for axis, value in parts.axes.items():
        gain = parts.gain({axis: 1.0})
        if found is None or gain <= 0:
            continue
        sentence, figure = axis_advice(axis, found)
        known = _solution(scored, axis, value)
        evidence = f"{titles[axis]} is {number(value, MOST_DECIMALS)}{known}."
        yield _Candidate(gain, sentence, f"{evidence} {figure}".strip())


def _failed(scored: Scored, parts: Factors) -> Iterable[_Candidate]:
    """Judge failed clips: each counts 0 in every mean, so all means grow with the share of the others."""
    outcomes = scored.outcomes
    clips, failed = int(outcomes.counted.sum()), outcomes.failed
    if not failed:
        return
    late = outcomes.count("not_reached")
    evidence = f"{failed} of {clips} clips have no prediction: each counts 0 in every axis, with the largest error."
    if late * 2 > failed:
        limit = scored.results.run.time_limit_s
        sentence = "Make the model faster: time ran out."
        evidence += f" {late} were not reached" + (f" within {limit:.0f} s." if limit else ".")
    else:
        sentence = "Get a prediction for every clip."
        evidence += _most_often(scored.findings)
    grown = clips / (clips - failed) if clips > failed else 1.0
    axes = {name: min(1.0, value * grown) for name, value in parts.axes.items()}
    gain = 100.0 if clips == failed else parts.gain(axes, coverage=min(1.0, parts.coverage * grown), credit=1.0)
    yield _Candidate(gain, sentence, evidence)


def _most_often(findings: Iterable[Finding]) -> str:
    yours = [finding for finding in findings if finding.yours and finding.problem.severity == "error"]
    if not yours:
        return ""
    most = max(yours, key=lambda finding: finding.count)
    return f" Most often: {one_line(most.problem.code, 60)}."


def _skill(parts: Factors, columns: Mapping[str, Estimate]) -> Iterable[_Candidate]:
    skill = number(columns["skill"].value, MOST_DECIMALS)
    if columns["explanation"].value == 0 and columns["skill"].value <= 0:
        evidence = f"The skill over the constant is {skill}, and skill is a factor of the total."
        yield _Candidate(100.0, "Predict better than always answering the training mean.", evidence)
    elif parts.credit is not None and parts.credit < 1:
        evidence = (
            f"The credit for the predictions is {number(parts.credit, 2)} of 1; the skill over the constant is {skill}."
        )
        yield _Candidate(
            parts.gain(credit=1.0), "Predict better: the credit for it is a factor of the total.", evidence
        )


def _solution(scored: Scored, axis: str, value: float) -> str:
    """Name the example submission that is best on an axis, where it is better than this one."""
    better = [
        (landmark.columns[axis], landmark.title)
        for landmark in scored.beside.landmarks.items
        if landmark.kind == "solution" and landmark.columns.get(axis, 0.0) > value
    ]
    if not better:
        return ""
    best, title = max(better)
    return f"; the solution {title} has {number(best, MOST_DECIMALS)}"
