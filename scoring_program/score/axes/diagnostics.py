"""Numbers that tell how a submission explains, and that are in no score: each would be easy to please."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.axes.dose import DeletionCurve, deletion_curves
from score.axes.effects import Effects
from score.axes.ranks import correlation, spearman
from score.axes.reaction import LARGE, ReactionSize, reaction_size
from score.axes.reading import Readings
from score.axes.table import ClipAxes
from score.axes.text import TextNumbers
from score.explanation_record import Explanation
from score.language import readability

Array = NDArray[np.float64]
_CENTRE_SPREAD = 0.25  # of the frame's width and height: about where a head is
_FEWEST = 3


@dataclass(frozen=True)
class Diagnostic:
    """One number about how a submission explains."""

    title: str
    """Heading."""
    value: float | None
    """None where there was nothing to measure."""
    unit: str
    """``share``, ``range`` (of a target's range), ``correlation``, ``flag`` (0 or 1), or an empty text."""
    meaning: str
    """One sentence for participants."""


def diagnose(explanations: Sequence[Explanation], axes: ClipAxes) -> tuple[Diagnostic, ...]:
    """Gather the diagnostics of a run; none depends on a label."""
    return (
        *_of_probes(axes.effects),
        *_of_doses(deletion_curves(explanations, axes.effects)),
        *_of_reaction(reaction_size(axes.effects, axes.readings, axes.target)),
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
    """Draw a bell over the middle of the frame, (rows, columns): what a map looks like that never looked."""
    y, x = (np.arange(rows) + 0.5) / rows - 0.5, (np.arange(columns) + 0.5) / columns - 0.5
    return np.asarray(np.exp(-(y[:, None] ** 2 + x[None, :] ** 2) / (2 * _CENTRE_SPREAD**2)))


def _mean(values: Iterable[float]) -> float | None:
    """Mean of what was measured; None when nothing was."""
    found = np.array(list(values), dtype=np.float64)
    found = found[~np.isnan(found)]
    return float(found.mean()) if found.size else None


def _of_probes(effects: Effects) -> Iterable[Diagnostic]:
    share = effects.answered / effects.asked if effects.asked else None
    yield Diagnostic("Probes answered", share, "share", "Calls on altered copies that got a valid answer.")
    floor = float(effects.floor.mean()) if effects.asked else None
    yield Diagnostic(
        "Noise floor", floor, "range", "How far two answers to the same clip lie apart when it is jittered a little."
    )
    repeated = None if effects.repeated is None else float(effects.repeated.max())
    yield Diagnostic(
        "Altered copies asked twice",
        repeated,
        "range",
        "Largest difference between two processes' answers to one altered copy; the noise floor is at least this.",
    )
    places = {"space": "cells", "time": "seconds"}
    words = {
        "top": "the places that your map puts highest",
        "bottom": "as many of the lowest",
        "own": "the top places that another clip's map does not have",
        "other": "that map's top places that yours does not have",
    }
    for (kind, part), changes in effects.masked.items():
        title = f"Effect of masking, {kind}, {part}"
        yield Diagnostic(title, _mean(changes), "range", f"Mean change after masking {places[kind]}: {words[part]}.")
    yield Diagnostic(
        "Effect of a random mask",
        _mean(effects.unpaired["decoy"]),
        "range",
        "What masking without any reason changes; asked only where there is no map.",
    )
    for kind, shares in effects.shares.items():
        change = effects.masked[kind, "top"]
        both = ~np.isnan(shares) & ~np.isnan(change)
        value = spearman(shares[both], change[both]) if both.sum() >= _FEWEST else None
        meaning = "Rank correlation over the clips of how much was masked and how much that changed."
        yield Diagnostic(f"Dose and response, {kind}", value, "correlation", meaning)
    yield Diagnostic(
        "Sufficiency",
        _mean(effects.unpaired["keep"]),
        "range",
        "Mean change when all but the highest places of your map is hidden: small where these places suffice.",
    )


def _of_doses(curves: Iterable[DeletionCurve]) -> Iterable[Diagnostic]:
    for curve in curves:
        flag = None if curve.falls is None else float(curve.falls)
        meaning = "Raised where hiding more of the highest places changes less, beyond three standard errors."
        yield Diagnostic(f"Dose-response flag, {curve.kind}", flag, "flag", meaning)


def _of_reaction(reaction: ReactionSize) -> Iterable[Diagnostic]:
    meaning = "Mean change after hiding the places that your map names, divided by what your visual claims add up to."
    yield Diagnostic("Reaction size", reaction.value, "", meaning)
    flag = None if reaction.large is None else float(reaction.large)
    meaning = f"Raised from a size of {LARGE:g} on: hiding moves the model more than its claims say, look why."
    yield Diagnostic("Reaction-size flag", flag, "flag", meaning)


def _of_maps(explanations: Sequence[Explanation], effects: Effects) -> Iterable[Diagnostic]:
    maps = [explanation.space for explanation in explanations if explanation.space is not None]
    times = [explanation.time for explanation in explanations if explanation.time is not None]
    yield Diagnostic(
        "Sparseness of the maps", _mean(map(gini, maps)), "", "Gini index: 0 everywhere alike, 1 one cell."
    )
    yield Diagnostic("Sparseness in time", _mean(map(gini, times)), "", "Gini index of the seconds.")
    yield Diagnostic("Entropy of the maps", _mean(map(entropy, maps)), "", "In nats: 0 one cell, 4.97 all 144 alike.")
    centred = (correlation(each.ravel(), centre_prior(*each.shape).ravel()) for each in maps)
    yield Diagnostic(
        "Maps and the middle", _mean(centred), "correlation", "Correlation with a bell over the middle of the frame."
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
        meaning = "Correlation of two maps of one clip, the second after a little jitter."
        yield Diagnostic(f"Stability, {kind}", _mean(same), "correlation", meaning)


def _of_texts(explanations: Sequence[Explanation], readings: Readings, numbers: TextNumbers) -> Iterable[Diagnostic]:
    texts = [explanation.text for explanation in explanations if explanation.text_ok]
    stable = _mean(1 - numbers.within)
    yield Diagnostic("Stability, claims", stable, "share", "Claims that stay when the clip is jittered a little.")
    yield Diagnostic("Claims a text", _mean(len(said) for said in readings.said if said), "", "Of texts with claims.")
    grade = _mean(readability(text) for text in texts)
    yield Diagnostic("Reading level", grade, "", "Flesch-Kincaid grade: years of school that a reader needs.")
    alike = Counter(" ".join(re.findall(r"[^\W\d_]+", text.lower())) for text in texts)
    repeated = sum(count for count in alike.values() if count > 1)
    share = repeated / len(texts) if texts else None
    yield Diagnostic("Texts alike", share, "share", "Texts that differ from another clip's in numbers alone, or not.")
