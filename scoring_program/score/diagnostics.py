"""Unscored numbers of a run that help to understand it, where explanations lose points, and right and wrong reasons."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Account, Share, known_mean
from score.axes.effects import Effects
from score.axes.faithfulness import KINDS, marks
from score.axes.registry import REGISTRY
from score.axes.table import ClipAxes, cause_agreement
from score.axes.text import TextNumbers
from score.order import agreement, correlation, yardstick
from score.read.answers import Explanation
from score.read.outcomes import Outcomes
from score.settings import Settings
from score.text import readability
from score.text.reading import ParsedClaims

GROUNDED = 0.5
"""Agreement of claims with known causes from which they count as grounded: halfway from chance (0) to exact claims (1).

All exact claims pass, no inverted ones, and about one in six random ones.
"""


@dataclass(frozen=True)
class RightReasons:
    """How many clips are predicted right or wrong, with claims that are grounded or not."""

    right_grounded: int
    right_ungrounded: int
    wrong_grounded: int
    wrong_ungrounded: int
    """Wrong prediction, ungrounded claims; includes failed clips."""

    @property
    def clips(self) -> int:
        """Number of clips."""
        return self.right_grounded + self.right_ungrounded + self.wrong_grounded + self.wrong_ungrounded


TITLES = {
    "right_grounded": "right, grounded",
    "right_ungrounded": "right, not grounded",
    "wrong_grounded": "wrong, grounded",
    "wrong_ungrounded": "neither",
}
"""Words for each count."""


def right_reasons(outcomes: Outcomes, axes: ClipAxes, settings: Settings) -> RightReasons | None:
    """Count the clips whose main target has known causes.

    `axes`: their axes; used are the errors, and the claims about the main target. `settings`: the main target, and the
    gate below which a prediction is right: that of the axis of known causes. Returns None if the phase has no known
    causes, or none of the main target.
    """
    main = settings.names.index(settings.main_target)
    target = np.full(len(axes.target), main)
    sums = cause_agreement(outcomes, axes.readings.claims, target, settings)["cue"]
    known = sums[:, 1] > 0
    if not known.any():
        return None
    right = axes.table.error[known, main] < settings.explanation_score.gate
    grounded = agreement(sums[known]) >= GROUNDED
    return RightReasons(
        right_grounded=int((right & grounded).sum()),
        right_ungrounded=int((right & ~grounded).sum()),
        wrong_grounded=int((~right & grounded).sum()),
        wrong_ungrounded=int((~right & ~grounded).sum()),
    )


ErrorShares = Mapping[str, Share]
"""Where explanations lose points: the share of each shortfall of each axis, by its key."""


def analyse_errors(explanations: Sequence[Explanation], axes: ClipAxes, predicted: NDArray[np.bool_]) -> ErrorShares:
    """Gather the shares of a run; `predicted`: (n,) whether a clip has a valid prediction."""
    account = Account(explanations, axes, predicted)
    return {kind.key: kind.share(account) for axis in REGISTRY.values() for kind in axis.error_analysis}


FEWEST = 5
"""Fewest clips that a rank needs for a comparison."""
CERTAIN = 3.0
"""Standard errors by which a lower rank must exceed a higher one to raise the flag: by chance, once in about 700."""


@dataclass(frozen=True)
class Rank:
    """One rank of the marks, over all clips."""

    rank: int
    """1 for the most marked place."""
    clips: int
    """Number of clips with a place of that rank, >= 1."""
    change: float
    """Mean effect of exchanging it, on the unit scale, >= 0."""
    error: float
    """Standard error of ``change``; 0 with one clip."""


@dataclass(frozen=True)
class RankCurve:
    """Effects by rank."""

    kind: str
    """``space`` or ``time``."""
    ranks: tuple[Rank, ...]
    """Ascending; empty if nothing was measured."""

    @property
    def rises(self) -> bool | None:
        """The flag: whether a lower rank has a larger effect than a higher one, by more than three standard errors.

        Ranks with fewer than five clips are left out; None if fewer than two are left.
        """
        ranks = [rank for rank in self.ranks if rank.clips >= FEWEST]
        if len(ranks) < 2:
            return None
        return any(
            lower.change - higher.change > CERTAIN * np.hypot(lower.error, higher.error)
            for higher, lower in combinations(ranks, 2)
        )


def rank_curves(explanations: Sequence[Explanation], effects: Effects) -> tuple[RankCurve, ...]:
    """Return the curves in space and in time."""
    return tuple(RankCurve(kind, _ranks(kind, explanations, effects)) for kind in KINDS)


def _ranks(kind: str, explanations: Sequence[Explanation], effects: Effects) -> tuple[Rank, ...]:
    by_rank: dict[int, list[float]] = {}
    for clip, explanation in enumerate(explanations):
        units = effects.of(clip, kind)
        weights = marks(explanation, kind, units)
        if weights is None or effects.failed[clip]:
            continue
        for rank, index in enumerate(np.argsort(-weights, kind="stable"), 1):
            by_rank.setdefault(rank, []).append(units[index].effect)
    ranks = []
    for number, changes in sorted(by_rank.items()):
        error = float(np.std(changes, ddof=1) / np.sqrt(len(changes))) if len(changes) > 1 else 0.0
        ranks.append(Rank(number, len(changes), float(np.mean(changes)), error))
    return tuple(ranks)


Array = NDArray[np.float64]

LARGE = 1.5
"""Reaction size from which the submission's code deserves a look.

On the Practice clips `cue_reader` has 0.9.
"""


@dataclass(frozen=True)
class ReactionSize:
    """How strongly a model reacts to exchanges, relative to its claims."""

    value: float | None
    """Mean sum of the effects of exchanges, divided by the mean sum of the claims' sizes; None: too few clips."""

    @property
    def large(self) -> bool | None:
        """The flag; None without a value."""
        return None if self.value is None else self.value >= LARGE


def reaction_size(effects: Effects, parsed: ParsedClaims, shares: Array) -> ReactionSize:
    """Compare the effects of exchanges with the claims, over the clips that have both.

    The effect of a clip is the sum over all parts of its picture. Its claims are the submitted contributions of visible
    cues; signs stated in a text have no size. A sum of claims below the smallest effect that counts is raised to it.

    `shares`: (k,) weight of each target in a joint effect.
    """
    units = [effects.of(clip, "space") for clip in range(len(parsed.seen))]
    sums = np.array([sum(unit.effect for unit in segments) if segments else np.nan for segments in units])
    claimed = parsed.seen @ shares
    both = ~np.isnan(sums) & ~np.isnan(claimed)
    if both.sum() < FEWEST:
        return ReactionSize(None)
    return ReactionSize(float(sums[both].mean() / max(claimed[both].mean(), effects.joint_epsilon)))


_CENTRE_SPREAD = 0.25  # of the frame's width and height: about where a head is


@dataclass(frozen=True)
class Diagnostic:
    """One number about how a submission explains."""

    title: str
    value: float | None
    """None if there was nothing to measure."""
    unit: str
    """``share``, ``range`` (of a target's range), ``correlation``, ``flag`` (0 or 1), or an empty text."""
    meaning: str


def diagnose(
    explanations: Sequence[Explanation], axes: ClipAxes, curves: Iterable[RankCurve], reaction: ReactionSize
) -> tuple[Diagnostic, ...]:
    """Gather the diagnostics of a run, its rank curves and reaction size among them; none depends on a label."""
    return (
        *_of_answers(axes),
        *_of_ranks(curves),
        *_of_reaction(reaction),
        *_of_maps(explanations, axes.effects),
        *_of_texts(explanations, axes.readings, axes.text),
    )


def gini(weights: Array) -> float:
    """Sparseness of a map: ``sum (2i - n - 1) a_(i) / (n sum a)``, from 0 (uniform) towards 1 (one place)."""
    ordered = np.sort(weights.ravel())
    count = ordered.size
    return float(((2 * np.arange(1, count + 1) - count - 1) * ordered).sum() / (count * ordered.sum()))


def entropy(weights: Array) -> float:
    """Complexity of a map: ``-sum p log p`` of its shares, in nats; 0 for one place, log n for a uniform map."""
    shares = weights.ravel() / weights.sum()
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def centre_prior(rows: int, columns: int) -> Array:
    """Return a bell curve over the middle of the frame, (rows, columns): a map that ignores the clip."""
    y, x = (np.arange(rows) + 0.5) / rows - 0.5, (np.arange(columns) + 0.5) / columns - 0.5
    return np.asarray(np.exp(-(y[:, None] ** 2 + x[None, :] ** 2) / (2 * _CENTRE_SPREAD**2)))


def _mean(values: Iterable[float]) -> float | None:
    """Return the mean; None without values."""
    return known_mean(np.array(list(values), dtype=np.float64))


def _of_answers(axes: ClipAxes) -> Iterable[Diagnostic]:
    effects, repeats = axes.effects, axes.repeats
    share = effects.answered / effects.asked if effects.asked else None
    for left, what, axes_named in (
        (axes.table.exchanged, "exchanges", "faithfulness"),
        (axes.table.edited, "cue edits", "cue claims"),
    ):
        if count := int((left == 0).sum()):
            yield Diagnostic(f"Clips without {what}", count, "", f"Clips that are left out of {axes_named}.")
    meaning = "Share of calls on perturbed copies with a valid answer."
    yield Diagnostic("Perturbed copies answered", share, "share", meaning)
    repeated = None if effects.repeated is None else float(effects.repeated.max())
    meaning = "Largest difference between two processes' answers to one perturbed copy; smaller effects are ignored."
    yield Diagnostic("Perturbed copies asked twice", repeated, "range", meaning)
    everything = axes.table.weighted(np.ones((1, len(axes.table.clips))))
    for kind, sums in (("space", everything.faithfulness_space), ("time", everything.faithfulness_time)):
        if sums[0, 2] > 0:
            meaning = "Gini correlation of the explanations and the measured effects: 1 is the exact order."
            yield Diagnostic(f"Agreement, {kind}", float(agreement(sums)[0]), "correlation", meaning)
            meaning = (
                "What the best single order of the kinds of parts would get on all clips; it is computed from effects."
            )
            yield Diagnostic(f"Always so, {kind}", float(yardstick(sums)[0]), "correlation", meaning)
    meaning = "Share that repeats in a fresh process and another order; the rest does not count."
    shares = {"saliency map": repeats.space, "temporal attribution": repeats.time}
    shares |= {"claims": repeats.claims, "text": repeats.text}
    for name, share in shares.items():
        yield Diagnostic(f"Repeats, {name}", share if repeats.clips else None, "share", meaning)


def _of_ranks(curves: Iterable[RankCurve]) -> Iterable[Diagnostic]:
    for curve in curves:
        words = "the part of the picture" if curve.kind == "space" else "the second"
        first = curve.ranks[0].change if curve.ranks else None
        meaning = f"Mean change when {words} marked most is altered."
        yield Diagnostic(f"Effect, {curve.kind}, marked most", first, "range", meaning)
        last = curve.ranks[-1].change if len(curve.ranks) > 1 else None
        meaning = f"Mean change when {words} marked least is altered."
        yield Diagnostic(f"Effect, {curve.kind}, marked least", last, "range", meaning)
        flag = None if curve.rises is None else float(curve.rises)
        meaning = "Raised if a lower rank changes the prediction more than a higher one by three standard errors."
        yield Diagnostic(f"Order flag, {curve.kind}", flag, "flag", meaning)


def _of_reaction(reaction: ReactionSize) -> Iterable[Diagnostic]:
    meaning = "Sum of the changes when each part of the picture is altered, divided by the sum of your visual claims."
    yield Diagnostic("Reaction size", reaction.value, "", meaning)
    flag = None if reaction.large is None else float(reaction.large)
    meaning = f"Raised from a size of {LARGE:g}: altering moves the model more than its claims say; find out why."
    yield Diagnostic("Reaction-size flag", flag, "flag", meaning)


def _of_maps(explanations: Sequence[Explanation], effects: Effects) -> Iterable[Diagnostic]:
    maps = [explanation.space for explanation in explanations if explanation.space is not None]
    times = [explanation.time for explanation in explanations if explanation.time is not None]
    yield Diagnostic(
        "Sparseness of the maps", _mean(map(gini, maps)), "", "Gini index: 0 is uniform, 1 is a single cell."
    )
    yield Diagnostic("Sparseness in time", _mean(map(gini, times)), "", "Gini index of the seconds.")
    yield Diagnostic(
        "Entropy of the maps",
        _mean(map(entropy, maps)),
        "",
        "In nats: 0 is a single cell, 4.97 is uniform over 144 cells.",
    )
    centred = (correlation(each.ravel(), centre_prior(*each.shape).ravel()) for each in maps)
    yield Diagnostic(
        "Maps and the middle",
        _mean(centred),
        "correlation",
        "Correlation with a bell curve over the middle of the frame.",
    )
    for kind in ("space", "time"):
        pairs = (
            (getattr(explanation, kind), getattr(twin, kind))
            for explanation, twin in zip(explanations, effects.twins, strict=True)
            if twin is not None
        )
        same = (
            correlation(first.ravel(), again.ravel())
            for first, again in pairs
            if first is not None and again is not None and first.shape == again.shape
        )
        meaning = "Correlation of two maps of one clip, the second after a slight jitter."
        yield Diagnostic(f"Stability, {kind}", _mean(same), "correlation", meaning)


def _of_texts(explanations: Sequence[Explanation], parsed: ParsedClaims, numbers: TextNumbers) -> Iterable[Diagnostic]:
    texts = [explanation.text for explanation in explanations if explanation.text_ok]
    stable = _mean(1 - numbers.within)
    yield Diagnostic(
        "Stability, claims", stable, "share", "Share of claims that stay after a slight jitter of the clip."
    )
    yield Diagnostic(
        "Claims per text", _mean(len(stated) for stated in parsed.stated if stated), "", "Over texts with claims."
    )
    grade = _mean(readability(text) for text in texts)
    yield Diagnostic("Reading level", grade, "", "Flesch-Kincaid grade: years of school needed to read the text.")
    alike = Counter(" ".join(re.findall(r"[^\W\d_]+", text.lower())) for text in texts)
    repeated = sum(count for count in alike.values() if count > 1)
    share = repeated / len(texts) if texts else None
    yield Diagnostic("Texts alike", share, "share", "Share of texts that equal another clip's, numbers aside.")
