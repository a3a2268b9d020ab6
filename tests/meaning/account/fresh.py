"""Submissions against the rule of scoring: how far can a story, or a model, be bent until one counts more?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from cuereader.evidence import EVENTS_AND_WORDS, happens, importance, joint_sizes, spread
from cuereader.features import FEATURES, Reading
from cuereader.speech import telling_moments

from .honest import Account, Array, Contributions, Model, Scores, seconds_of

_CUES = np.array([cue for _, cue in FEATURES])
_DIFFERS = 0.1
"""Standard deviations by which a measurement of a cue differs in another clip; with jitter, it is less."""
_OTHER_CLIP = 3
"""Cues that differ in another clip at least; two copies of one clip differ in two at most."""


class _Remembering(Model):
    """Knows which calls belong to one clip, and which of them is nobody's copy."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.block: list[tuple[Array, Reading, Scores]] = []
        self.before = 0
        """Calls on the clip before this one."""

    def recall(self, reading: Reading, scores: Scores) -> tuple[Array, Reading, Scores] | None:
        """Keep a call, and return the one of its clip that all others are copies of; None if it is the first."""
        values = self.additive.standardised(reading.values)
        if self.block and max(len(_differing(values, old)) for old, _, _ in self.block) >= _OTHER_CLIP:
            self.before, self.block = len(self.block), []
        known = [one for one, _, _ in self.block]
        found = None
        if known:
            far = [sum(len(_differing(one, other)) for other in [*known, values]) for one in known]
            found = self.block[int(np.argmin(far))]
        self.block.append((values, reading, scores))
        return found


class Nudges(_Remembering):
    """Recognises a copy by what it remembers of the clip, and moves its answer a little towards what the map says."""

    most = 0.03
    """Largest move of a joint effect."""
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
        moved = effect + float(np.clip(dict(self.factors)[cue] * wanted[cue] - effect, -self.most, self.most))
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


class Marked(Nudges):
    """The honest twin of stories that are told part by part."""

    most = 0.0


class Hazy(_Remembering):
    """Answers differently where it is asked again, so that small effects, which it knows least, do not count.

    Only then clips come one at a time, and no explanation is asked for.
    """

    haze = 0.015
    """By how much."""

    def __init__(self, assets: Path) -> None:
        super().__init__(assets)
        self.explains = False

    def answer(self, reading: Reading) -> Scores:
        """Answer honestly unless the last clip was asked about once."""
        scores = super().answer(reading)
        self.recall(reading, scores)
        if self.before != 1 or len(self.block) > 1 or self.explains:
            return scores
        return {name: value - self.haze if value > self.haze else value + self.haze for name, value in scores.items()}

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Tell the truth, and know that this is the first pass."""
        self.explains = True
        return super().account(reading, prediction)


class HalfUsual(Model):
    """Marks parts as much as they count here, moved towards what they count on average."""

    share = 0.5

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Mix."""
        own = joint_sizes(reading, self.additive)
        usual = joint_sizes(replace(reading, values=self.additive.means + self.additive.scales), self.additive)
        sizes = {cue: (1 - self.share) * own[cue] + self.share * usual[cue] for cue in EVENTS_AND_WORDS}
        return _marked(super().account(reading, prediction), reading, sizes)


class LonelyWords(Model):
    """Leaves out words where something else happens: they are never exchanged."""

    def account(self, reading: Reading, prediction: Scores) -> Account:
        """Change the timeline."""
        bins, sizes = seconds_of(reading.duration_s), joint_sizes(reading, self.additive)
        busy = sum((happens(reading, cue, bins) for cue in EVENTS_AND_WORDS if cue != "words"), np.zeros(bins))
        time = sum((sizes[cue] * happens(reading, cue, bins) for cue in EVENTS_AND_WORDS[:-1]), np.zeros(bins))
        words = happens(reading, "words", bins)
        if telling_moments(reading.transcript, reading.level):
            time = time + sizes["words"] * np.where(busy > 0, 0, words)
        return replace(super().account(reading, prediction), time=time if time.max() > time.min() else None)


class Bent(Model):
    """Claims are the honest ones to a power: small ones are said to be smaller still, or larger."""

    power = 1.3

    def contributions(self, reading: Reading) -> Contributions:
        """Bend them."""
        return {
            name: {cue: float(np.sign(value) * 0.05 * (abs(value) / 0.05) ** self.power) for cue, value in row.items()}
            for name, row in super().contributions(reading).items()
        }


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
        shares = dict(zip(self.additive.targets, importance(self.additive.targets), strict=True))
        sizes = {
            cue: sum(float(shares[name]) * abs(row[cue]) for name, row in rows.items()) for cue in EVENTS_AND_WORDS
        }
        return replace(_marked(super().account(reading, prediction), reading, sizes), cues=rows)


class Steps(_Reshaped):
    """Knows only more and less of a cue, so that each part has one effect and one order is right for all clips."""

    share = 1.0
    """How far contributions lie from their own size towards the usual one."""
    dead = 0.15
    """Share of the usual size below which a cue counts as ordinary."""
    cues: tuple[str, ...] = tuple(dict.fromkeys(_CUES.tolist()))
    """The cues of which that is so."""

    def contributions(self, reading: Reading) -> Contributions:
        """Round them."""
        usual = self.usual()
        return {
            name: {
                cue: value
                + (self.share * (self.rounded(value, usual[name][cue]) - value) if cue in self.cues else 0.0)
                for cue, value in row.items()
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
    """Weighs the face more in bright clips and the hand and words more in dim ones: no single order is often right."""

    share = 0.5
    bright: tuple[str, ...] = ("smile",)
    dim: tuple[str, ...] = ("gaze", "motion")

    def contributions(self, reading: Reading) -> Contributions:
        """Weigh them."""
        way = 1 if self.additive.levels(reading.values)["lighting"] > 0 else -1
        factor = {
            **dict.fromkeys(self.bright, 1 + self.share * way),
            **dict.fromkeys(self.dim, 1 - self.share * way),
        }
        return {
            name: {cue: factor.get(cue, 1.0) * value for cue, value in row.items()}
            for name, row in super().contributions(reading).items()
        }


class NeutralGate(Model):
    """Answers the least wherever a cue is neutral, so that every cue raises every clip: one claim for all."""

    near = 0.12
    """Standard deviations from the neutral value that count as neutral."""
    low = 0.02
    honest_claims = False

    def answer(self, reading: Reading) -> Scores:
        """Answer, or give up."""
        levels = self.additive.standardised(reading.values)
        calm = {cue: float(np.abs(levels[cue == _CUES]).max()) for cue in ("posture", "lighting", "framing", "words")}
        if min(calm.values()) < self.near:
            return dict.fromkeys(self.additive.targets, self.low)
        return super().answer(reading)

    def contributions(self, reading: Reading) -> Contributions:
        """Claim that all cues raised it."""
        rows = super().contributions(reading)
        return rows if self.honest_claims else {name: dict.fromkeys(row, 0.1) for name, row in rows.items()}


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
        exact = super().contributions(reading)
        spreads = self.additive.contributions(self.additive.means + self.additive.scales)
        amounts = {
            cue: float(
                np.median(
                    [np.sign(spreads[t][cue]) * exact[t][cue] / max(abs(spreads[t][cue]), 1e-3) for t in exact]
                )
            )
            for cue in next(iter(exact.values()))
        }
        return {
            name: {cue: 0.06 * weight * amounts[cue] for weight, cue in zip(row, amounts, strict=True)}
            for name, row in zip(exact, self.weights, strict=True)
        }


def _marked(true: Account, reading: Reading, sizes: dict[str, float]) -> Account:
    """Mark exactly the parts, each as much as its size says."""
    bins = seconds_of(reading.duration_s)
    time = sum((size * happens(reading, cue, bins) for cue, size in sizes.items()), np.zeros(bins))
    return replace(true, space=_if_any(spread(reading, sizes)), time=_if_any(time))


def _if_any(marks: Array) -> Array | None:
    return marks if marks.max() > marks.min() else None


def _differing(one: Array, other: Array) -> set[str]:
    """Return the cues that two clips differ in."""
    return set(_CUES[np.abs(one - other) > _DIFFERS].tolist())
