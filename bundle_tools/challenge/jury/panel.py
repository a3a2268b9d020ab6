"""All answers of a jury as arrays, and which jurors count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.jury.answers import Answers
from bundle_tools.challenge.jury.criteria import Rules
from bundle_tools.challenge.jury.key import Key

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Juror:
    """One juror, with the results of the control items."""

    number: int
    """From 1, in the order of the sheets."""
    repeat_difference: float
    """Mean absolute difference between two ratings of the same item; NaN without a repeat."""
    boilerplate_gap: float
    """How much lower boilerplate texts were rated than the genuine ones they replace; only reported."""
    rated: int
    cannot_judge: int
    """Genuine items not judged."""
    reasons: tuple[str, ...]
    """Reasons to leave the juror out; empty for a juror who counts."""

    @property
    def counts(self) -> bool:
        """Whether the ratings enter the result."""
        return not self.reasons


@dataclass(frozen=True)
class Panel:
    """A jury's answers."""

    jurors: tuple[Juror, ...]
    ratings: Array
    """(jurors, clips, teams, criteria) of genuine items; NaN without a rating, the lowest for missing explanations."""
    missing: NDArray[np.bool_]
    """(clips, teams) whether the explanation is missing."""
    imagined: Array
    """(jurors, clips, teams) 1 if the effect of a missing cue was guessed right, else 0; NaN if not asked."""
    passed: NDArray[np.bool_]
    """(jurors, clips, teams) whether the juror could not judge the item."""

    def counting(self) -> "Panel":
        """Keep the jurors who count."""
        kept = [number for number, juror in enumerate(self.jurors) if juror.counts]
        return Panel(
            tuple(self.jurors[number] for number in kept),
            self.ratings[kept],
            self.missing,
            self.imagined[kept],
            self.passed[kept],
        )


def gather(key: Key, rules: Rules, answers: Sequence[Answers]) -> Panel:
    """Collect the answers of all jurors."""
    letters = {team.letter: number for number, team in enumerate(key.teams)}
    places = {clip_id: number for number, clip_id in enumerate(key.clips)}
    shape = len(answers), len(key.clips), len(key.teams)
    ratings = np.full((*shape, len(rules.criteria)), np.nan)
    imagined, passed = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    for juror, given in enumerate(answers):
        for item in key.items:
            answer = given.items.get(item.item_id)
            if item.kind != "genuine" or answer is None:
                continue
            place = juror, places[item.clip_id], letters[item.letter]
            if answer.effect and item.effect:
                imagined[place] = answer.effect == item.effect
            if answer.ratings is not None:
                ratings[place] = answer.ratings
            passed[place] = answer.ratings is None
    missing = np.zeros(shape[1:], dtype=bool)
    for letter, clip_id in key.missing:
        missing[places[clip_id], letters[letter]] = True
    ratings[:, missing] = rules.lowest
    jurors = tuple(_juror(given, key, rules) for given in answers)
    return Panel(jurors, ratings, missing, imagined, passed)


def _juror(given: Answers, key: Key, rules: Rules) -> Juror:
    genuine = [given.items.get(item.item_id) for item in key.items if item.kind == "genuine"]
    repeats = _mean([float(np.abs(np.subtract(own, other)).mean()) for own, other in _pairs(given, key, "repeat")])
    rated = sum(answer is not None and answer.ratings is not None for answer in genuine)
    reasons = [] if rated else ["rated nothing"]
    if rated and np.isnan(repeats) and any(item.kind == "repeat" for item in key.items):
        reasons.append("did not judge the repeated items, so the quality of the other ratings is unknown")
    if repeats > rules.exclusion.largest_repeat_difference:
        reasons.append(f"rated the same item differently the second time (by {repeats:.2f} on average)")
    return Juror(
        number=given.juror,
        repeat_difference=repeats,
        boilerplate_gap=_mean([float(np.subtract(*pair).mean()) for pair in _pairs(given, key, "boilerplate")]),
        rated=rated,
        cannot_judge=sum(answer is not None and answer.ratings is None for answer in genuine),
        reasons=tuple(reasons),
    )


def _pairs(given: Answers, key: Key, kind: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the ratings of each genuine item and of its control, if both were rated."""
    rated = {item_id: answer.ratings for item_id, answer in given.items.items() if answer.ratings is not None}
    controls = (item for item in key.items if item.kind == kind)
    return [(rated[item.of], rated[item.item_id]) for item in controls if item.of in rated and item.item_id in rated]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
