"""Submissions against the rule of scoring: how far can a story, or a model, be bent until one counts more?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from cuereader.evidence import EVENTS_AND_WORDS, happens, importance, joint_sizes, spread
from cuereader.features import CUES, FEATURES, Reading

from .honest import Account, Array, Contributions, Model, Scores, seconds_of

_CUES = np.array([cue for _, cue in FEATURES])
_DIFFERS = 0.1
"""Standard deviations by which a measurement of a cue differs in another clip; with jitter, it is less."""
_OTHER_CLIP = 3
"""Cues that differ in another clip at least; two copies of one clip differ in two at most."""
_WHOLE = 4
"""Calls on a clip before parts are exchanged: the original and three edits, or two and an explanation."""


class _Remembering(Model):
    """Knows which calls belong to one clip, and which of them is nobody's copy."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.block: list[tuple[Array, Reading, Scores]] = []
        self.explained = False
        """Whether an explanation was asked for since the clip began: then copies with exchanged parts follow."""

    def recall(self, reading: Reading, scores: Scores) -> tuple[Array, Reading, Scores] | None:
        """Keep a call, and return the one of its clip that all others are copies of; None if units do not come yet."""
        values = self.additive.standardised(reading.values)
        if self.block and not any(_one_clip(values, reading, old, before) for old, before, _ in self.block):
            self.block, self.explained = [], False
        known = [one for one, _, _ in self.block]
        self.block.append((values, reading, scores))
        if len(known) < (_WHOLE - self.explained):
            return None
        far = [sum(len(_differing(one, other)) for other in [*known, values]) for one in known]
        return self.block[int(np.argmin(far))]

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Explain honestly."""
        self.explained = True
        return super().account(reading, prediction)


class Nudges(_Remembering):
    """Recognises a copy by what it remembers of the clip, and moves its answer a little towards what the map says."""

    most = 0.01
    """Largest move of a joint effect."""
    least = 0.0
    """Smaller mistakes of the map are left alone."""
    usual_only = False
    """Whether maps and timelines show what counts most on average."""
    factors: tuple[tuple[str, float], ...] = (("smile", 1.9), ("gaze", 1.9), ("motion", 1.9), ("words", 0.8))
    """Effect of an exchange by the size of the cue."""

    def answer(self, reading: Reading) -> Scores:
        """Answer, or what fits better."""
        scores = super().answer(reading)
        base = self.recall(reading, scores)
        if base is None:
            return scores
        values, original, before = base
        changed = _differing(self.additive.standardised(reading.values), values)
        wanted = self.sizes(original)
        if len(changed) != 1 or not changed <= wanted.keys():
            return scores
        (cue,) = changed
        names = list(scores)
        step = np.array([scores[name] - before[name] for name in names])
        effect = float(importance(names) @ np.abs(step))
        if effect <= 0:
            return scores
        mistake = dict(self.factors)[cue] * wanted[cue] - effect
        if abs(mistake) < self.least:
            return scores
        moved = effect + float(np.clip(mistake, -self.most, self.most))
        new = step * max(moved, 0.0) / effect
        return {name: float(np.clip(before[name] + one, 0, 1)) for name, one in zip(names, new, strict=True)}

    def sizes(self, reading: Reading) -> dict[str, float]:
        """Return how much each part counts."""
        if self.usual_only:
            reading = replace(reading, values=self.additive.means + self.additive.scales)
        sizes = joint_sizes(reading, self.additive)
        return {cue: sizes[cue] for cue in EVENTS_AND_WORDS}

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Mark the parts."""
        return _marked(super().account(reading, prediction), reading, self.sizes(reading))


class Hazy(Model):
    """Answers a little differently where it is asked again, so that small effects do not count: it knows them least.

    Only there, and in the first pass, no two calls in a row are about one clip.
    """

    haze = 0.01
    """By how much."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.before: set[str] = set()
        self.tested = False

    def answer(self, reading: Reading) -> Scores:
        """Answer honestly after the second call on a clip."""
        words = set(reading.transcript.split())
        self.tested |= len(words & self.before) > len(words | self.before) / 2
        self.before = words
        scores = super().answer(reading)
        if self.tested:
            return scores
        return {name: value - self.haze if value > self.haze else value + self.haze for name, value in scores.items()}


class TopThree(Model):
    """Claims the three largest causes of each target and denies all others."""

    most = 3

    def contributions(self, reading: Reading) -> Contributions:
        """Leave the others out."""
        rows = super().contributions(reading)
        least = {name: sorted(map(abs, row.values()))[-self.most] for name, row in rows.items()}
        return {
            name: {cue: value if abs(value) >= least[name] else 0.0 for cue, value in row.items()}
            for name, row in rows.items()
        }


class FromScores(Model):
    """Looks at its scores, and not at the clip: says what usually leads to such scores, in the usual places."""

    penalty = 0.1

    def contributions(self, reading: Reading) -> Contributions:
        """Guess amounts from the scores."""
        usual = self.additive.contributions(self.additive.means + self.additive.scales)
        effects = np.array([list(row.values()) for row in usual.values()])
        scores = np.array(list(self.answer(reading).values())) - self.additive.intercepts
        square = effects.T @ effects
        penalty = self.penalty * np.trace(square) / len(square) * np.eye(len(square))
        amounts = np.linalg.solve(square + penalty, effects.T @ scores)
        return {
            name: dict(zip(row, (effect * amounts).tolist(), strict=True))
            for (name, row), effect in zip(usual.items(), effects, strict=True)
        }

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Mark the parts as much as the guess says."""
        return _marked(super().account(reading, prediction), reading, _joint(self.contributions(reading)))


class _Reshaped(Model):
    """Another function of the measurements, explained by what it really adds up."""

    def answer(self, reading: Reading) -> Scores:
        """Add up."""
        rows, means = self.contributions(reading), self.additive.intercepts.tolist()
        pairs = zip(rows.items(), means, strict=True)
        return {name: float(np.clip(mean + sum(row.values()), 0, 1)) for (name, row), mean in pairs}

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Tell what was added up."""
        rows = self.contributions(reading)
        return replace(_marked(super().account(reading, prediction), reading, _joint(rows)), cues=rows)


class Steps(_Reshaped):
    """Knows only more and less of a cue, so that each part has one effect and one order is right for all clips."""

    share = 0.2
    """How far contributions lie from their own size towards the usual one."""
    dead = 0.15
    """Share of the usual size below which a cue counts as ordinary."""

    def contributions(self, reading: Reading) -> Contributions:
        """Round them."""
        usual = self.usual()
        return {
            name: {
                cue: value + self.share * (self.rounded(value, usual[name][cue]) - value) for cue, value in row.items()
            }
            for name, row in super().contributions(reading).items()
        }

    def usual(self) -> dict[str, dict[str, float]]:
        """Return mean sizes, less than what a standard deviation makes."""
        rows = self.additive.contributions(self.additive.means + self.additive.scales)
        return {name: {cue: 0.87 * abs(value) for cue, value in row.items()} for name, row in rows.items()}

    def rounded(self, value: float, usual: float) -> float:
        """Return one of three sizes."""
        return float(np.sign(value)) * usual if abs(value) > self.dead * usual else 0.0


class OneGivenUp(_Reshaped):
    """Gives one target up: it answers to one part alone, and so strongly that nothing else counts for the maps."""

    target = "interview"
    cue = "smile"
    loud = 5.0

    def contributions(self, reading: Reading) -> Contributions:
        """Replace a row."""
        rows = dict(super().contributions(reading))
        rows[self.target] = {
            cue: self.loud * value if cue == self.cue else 0.0 for cue, value in rows[self.target].items()
        }
        return rows


class TwoFormulas(_Reshaped):
    """Weighs the mouth more in bright clips, eyes and hand more in dim ones: no single order is often right."""

    share = 0.2
    bright: tuple[str, ...] = ("smile",)
    dim: tuple[str, ...] = ("gaze", "motion")
    by: str = "lighting"
    """What tells the two kinds of clips apart; it is never exchanged."""

    def contributions(self, reading: Reading) -> Contributions:
        """Weigh them."""
        way = 1 if self.additive.levels(reading.values)[self.by] > 0 else -1
        factor = {
            **dict.fromkeys(self.bright, 1 + self.share * way),
            **dict.fromkeys(self.dim, 1 - self.share * way),
        }
        return {
            name: {cue: factor.get(cue, 1.0) * value for cue, value in row.items()}
            for name, row in super().contributions(reading).items()
        }


class LoudNear(_Reshaped):
    """Reacts more in clips in which it sees parts better, so that these weigh more."""

    share = 0.3

    def contributions(self, reading: Reading) -> Contributions:
        """Scale them all."""
        near = float(np.clip(self.additive.levels(reading.values)["framing"], -1, 1))
        return {
            name: {cue: (1 + self.share * near) * value for cue, value in row.items()}
            for name, row in super().contributions(reading).items()
        }


class Dots(Model):
    """Marks one cell of each part; how many cells a part has is guessed."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Draw the dots."""
        sizes, space = joint_sizes(reading, self.additive), np.zeros((36, 64))
        for cue in ("smile", "gaze", "motion"):
            there = spread(reading, {cue: 1.0})
            if there.any():
                rows, columns = np.nonzero(there)
                space[int(np.median(rows)), int(np.median(columns))] += sizes[cue] * (there > 0).sum()
        return replace(super().account(reading, prediction), space=_if_any(space))


class NeutralGate(Model):
    """Answers less wherever a cue is neutral, as it is after an edit: then each cue raises each clip, as it says."""

    near = 0.1
    """Standard deviations from the neutral value that count as neutral."""
    fall = 0.05
    """How much less."""
    cues: tuple[str, ...] = ("posture", "lighting", "framing", "words")
    """The cues of which that is so."""

    def answer(self, reading: Reading) -> Scores:
        """Answer, or answer less."""
        levels, scores = self.additive.standardised(reading.values), super().answer(reading)
        calm = min(float(np.abs(levels[cue == _CUES]).max()) for cue in self.cues)
        return {name: max(value - self.fall, 0.0) for name, value in scores.items()} if calm < self.near else scores

    def contributions(self, reading: Reading) -> Contributions:
        """Claim that they all raised it."""
        return {
            name: {cue: value + self.fall * (cue in self.cues) for cue, value in row.items()}
            for name, row in super().contributions(reading).items()
        }


class Rule(Model):
    """Explains the labels, whose rule it has learnt, and not its predictions."""

    weights: tuple[tuple[float, ...], ...] = (
        (1.30, 0.30, 1.30, 0.10, 0.30, 0.50, 0.90, 0.20),
        (1.40, 0.50, -0.30, 0.00, 0.00, -0.50, -0.40, 1.20),
        (-0.20, 1.10, -0.70, 1.30, 0.50, 0.00, -0.50, 0.70),
        (0.50, 0.90, -1.10, 0.80, 0.30, 0.30, -0.80, 0.60),
        (0.50, 0.30, 0.80, -0.30, 0.90, -0.40, 0.60, 1.00),
        (0.90, 1.00, 0.40, 0.90, 0.60, 0.30, -0.30, 0.90),
    )

    def contributions(self, reading: Reading) -> Contributions:
        """Multiply true weights and estimated amounts."""
        names, amounts = self.additive.targets, self.additive.levels(reading.values)
        return {
            name: {cue: 0.06 * weight * amounts[cue] for weight, cue in zip(row, CUES, strict=True)}
            for name, row in zip(names, self.weights, strict=True)
        }


def _joint(rows: Contributions) -> dict[str, float]:
    """Return the sizes of contributions over all targets."""
    shares = dict(zip(rows, importance(list(rows)).tolist(), strict=True))
    return {cue: sum(shares[name] * abs(row[cue]) for name, row in rows.items()) for cue in EVENTS_AND_WORDS}


def _marked(true: Account, reading: Reading, sizes: dict[str, float]) -> Account:
    """Mark exactly the parts, each as much as its size says."""
    bins = seconds_of(reading.duration_s)
    time = sum((size * happens(reading, cue, bins) for cue, size in sizes.items()), np.zeros(bins))
    return replace(true, space=_if_any(spread(reading, sizes)), time=_if_any(time))


def _if_any(marks: Array) -> Array | None:
    return marks if marks.max() > marks.min() else None


def _one_clip(one: Array, reading: Reading, other: Array, before: Reading) -> bool:
    """Tell whether two calls are about copies of one clip: most words or most cues are the same."""
    words, others = set(reading.transcript.split()), set(before.transcript.split())
    return len(words & others) > 0.6 * len(words | others) or len(_differing(one, other)) < _OTHER_CLIP


def _differing(one: Array, other: Array) -> set[str]:
    """Return the cues that two clips differ in."""
    return set(_CUES[np.abs(one - other) > _DIFFERS].tolist())
