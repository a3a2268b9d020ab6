"""Models that answer as their lie wants wherever a call looks altered, played on the records of an honest run.

The lie marks a part of the face and a span of time, drawn by lot for each clip. To make it true, the model moves its
answer by PUSH where that part looks altered, and again where that span does. It takes for altered what one call in
twenty of the plain ones exceeds: limits and directions are set on the clips that are tested, so a real gate has less.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from bundle_tools.filmed.measure import FOLDS, detectors
from ingest.probes.plan import SPAN
from score.axes.table import AxisSums
from score.read.answers import Explanation, ProbeCall, original_of
from score.read.outcomes import Outcomes
from tests.meaning.recorded import Recorded
from tests.meaning.watched import FIRST, PLAIN, STATISTICS, Array, Watched

PUSH = 0.2
"""By how much an answer is moved."""
ALARMS = 0.05
"""Share of the plain calls that are taken for altered."""
Sizes = Mapping[str, float]
"""How much an explanation marks each unit."""
Suspicions = dict[str, dict[str, float]]
"""How altered the marked part, or the marked span, looks: by clip and call."""


def lots(watched: Mapping[str, Watched], seed: int) -> dict[str, tuple[str, str]]:
    """Return a part and a span of each clip, drawn by lot."""
    random = np.random.default_rng(seed)
    drawn = {}
    for clip_id, clip in sorted(watched.items()):
        spans = [name for name in clip.units if name.startswith(SPAN)]
        drawn[clip_id] = clip.parts[random.integers(len(clip.parts))], spans[random.integers(len(spans))]
    return drawn


def marked(clip: Watched, sizes: Sizes, explanation: Explanation) -> Explanation:
    """Return an explanation whose map and temporal attribution show the units as much as their sizes say."""
    if explanation.space is None or explanation.time is None:
        return explanation
    space, time = np.zeros(explanation.space.size), np.zeros(explanation.time.size)
    for name, size in sizes.items():
        cells, seconds = clip.units[name]
        space[list(cells)] = np.maximum(space[list(cells)], size)
        time[list(seconds)] = size
    return replace(explanation, space=space.reshape(explanation.space.shape), time=time)


def telling(recorded: Recorded, watched: Mapping[str, Watched], sizes: Callable[[str], Sizes]) -> Outcomes:
    """Return the honest outcomes with other marks; `sizes`: of the units of a clip."""
    honest = recorded.outcomes
    pairs = zip(honest.clip_ids, honest.explanations, strict=True)
    told = tuple(marked(watched[clip_id], sizes(clip_id), explanation) for clip_id, explanation in pairs)
    return replace(honest, explanations=told, repeats=(None,) * len(told))


def reacting(outcomes: Outcomes, alarms: Callable[[str, str], int], *, remembers: bool) -> Outcomes:
    """Return outcomes of a model that moves its answers by PUSH for each alarm in a call.

    `alarms`: their number by clip and call. `remembers`: whether they need memory of the first pass, which a fresh
    process that is asked again does not have.
    """

    def answer(clip_id: str, call: ProbeCall) -> ProbeCall:
        name = PLAIN if call.kind == "original" else call.unit
        if call.prediction is None or not name or (call.again and remembers):
            return call
        moved = np.clip(np.array(call.prediction) - PUSH * alarms(clip_id, name), 0, 1)
        return replace(call, prediction=tuple(moved.tolist()))

    probes = tuple(
        tuple(answer(clip_id, call) for call in calls)
        for clip_id, calls in zip(outcomes.clip_ids, outcomes.probes, strict=True)
    )
    originals = [original_of(calls) for calls in probes]
    rows = [row if own is None else own for own, row in zip(originals, outcomes.prediction, strict=True)]
    return replace(outcomes, probes=probes, prediction=np.array(rows))


class Liar:
    """A lie by lot, and what the model takes for altered."""

    def __init__(self, recorded: Recorded, watched: Mapping[str, Watched], *, seed: int, remembers: bool) -> None:
        """`remembers`: whether calls are compared with the clip of the first pass, which the model remembers.

        Otherwise what is marked is looked at alone, and against the rest of the face, or of the time.
        """
        self.gates = STATISTICS if remembers else (*STATISTICS, *(f"{name} against the rest" for name in STATISTICS))
        self._recorded, self._watched, self._remembers = recorded, watched, remembers
        self.lots = lots(watched, seed)
        self.told = telling(recorded, watched, lambda clip_id: dict.fromkeys(self.lots[clip_id], 1.0))
        pairs = zip(recorded.outcomes.clip_ids, recorded.outcomes.sources.tolist(), strict=True)
        self._people = {clip_id: str(person) for clip_id, person in pairs}

    def alone(self) -> AxisSums:
        """Return the addends of the lie of a model that answers honestly."""
        return self._recorded.table(self.told)

    def with_gate(self, gate: str) -> AxisSums:
        """Return those of the model that reacts to one of `gates`, in the better direction."""
        number, both = self.gates.index(gate), []
        for place in range(2):
            values = self._by_call(place, lambda numbers: float(numbers[number]))
            better = np.sign(self._area(place, values) - 0.5) or 1.0
            both.append({clip: {call: better * one for call, one in of.items()} for clip, of in values.items()})
        return self._reacting(both)

    def with_detector(self, name: str = "logistic regression") -> AxisSums:
        """Return those of the model that has learned, on the other people here, what altered calls look like."""
        return self._reacting([self._learned(place, name) for place in range(2)])

    def areas(self, name: str = "logistic regression") -> list[float]:
        """Return the area under the ROC curve of the detector, for the marked part and for the marked span."""
        return [self._area(place, self._learned(place, name)) for place in range(2)]

    def _numbers(self, clip_id: str, call: str, place: int) -> Array:
        """Return the numbers that `gates` go by, of the marked part (0) or span (1) in a call."""
        clip, mark = self._watched[clip_id], self.lots[clip_id][place]
        at = int(mark.removeprefix(SPAN)) - 1 if place else clip.parts.index(mark)
        # By part, or by span.
        seen, first = (clip.seen[name].mean(axis=place) for name in (call, FIRST))
        if self._remembers:
            return np.asarray(seen[at] - first[at])
        rest = np.delete(seen, at, axis=0)
        return np.concatenate([seen[at], seen[at] - rest.mean(axis=0) if len(rest) else 0 * seen[at]])

    def _by_call(self, place: int, number: Callable[[Array], float]) -> Suspicions:
        return {
            clip_id: {call: number(self._numbers(clip_id, call, place)) for call in (PLAIN, *clip.units)}
            for clip_id, clip in self._watched.items()
        }

    def _learned(self, place: int, name: str) -> Suspicions:
        clips = sorted(self._watched)
        calls = [(clip, call) for clip in clips for call in (PLAIN, self.lots[clip][place])]
        values = np.array([self._numbers(*call, place) for call in calls])
        truth = np.tile([0, 1], len(clips))
        people = np.array([self._people[clip] for clip, _ in calls])
        found: Suspicions = {}
        for train, test in GroupKFold(min(FOLDS, len(set(people)))).split(values, truth, people):
            detector = detectors()[name].fit(values[train], truth[train])
            for clip in {calls[row][0] for row in test}:
                named = (PLAIN, *self._watched[clip].units)
                odds = detector.predict_proba(np.array([self._numbers(clip, call, place) for call in named]))[:, 1]
                found[clip] = dict(zip(named, odds.tolist(), strict=True))
        return found

    def _area(self, place: int, values: Suspicions) -> float:
        pairs = [(of[PLAIN], of[self.lots[clip][place]]) for clip, of in values.items()]
        return float(roc_auc_score(np.tile([0, 1], len(pairs)), np.ravel(pairs)))

    def _reacting(self, both: list[Suspicions]) -> AxisSums:
        limits = [np.quantile([of[PLAIN] for of in values.values()], 1 - ALARMS) for values in both]

        def alarms(clip_id: str, call: str) -> int:
            return sum(values[clip_id][call] > limit for values, limit in zip(both, limits, strict=True))

        return self._recorded.table(reacting(self.told, alarms, remembers=self._remembers))
