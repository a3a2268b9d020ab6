"""The text axis: valid, consistent with the clip's own prediction and claims, and specific to this clip."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Axis, ErrorKind, known_mean, share_of
from score.order import ratio
from score.read.answers import Explanation
from score.settings import Settings
from score.text import consistent, text_validity
from score.text.reading import ParsedClaims, Triple, claim_set, vocabulary_of

if TYPE_CHECKING:
    from score.axes.table import AxisSums

Array = NDArray[np.float64]
MOST_OTHERS = 50
"""Most other clips that a clip's claims are compared with."""


@dataclass(frozen=True)
class TextNumbers:
    """The numbers behind the text axis, per clip."""

    valid: NDArray[np.bool_]
    """(n,) whether the text is valid."""
    consistent: NDArray[np.bool_]
    """(n,) whether a valid text contradicts no prediction of its clip."""
    good: Array
    """(n,) valid times consistent times agreement, in [0, 1]."""
    between: Array
    """(n,) mean distance of the claims to those of other clips, in [0, 1]; NaN if there are none to compare with."""
    within: Array
    """(n,) distance of the claims to those of the jittered twin, in [0, 1]; NaN if no twin was asked for."""


def clip_text(
    explanations: Sequence[Explanation],
    parsed: ParsedClaims,
    prediction: Array,
    twins: tuple[Sequence[Explanation | None], NDArray[np.bool_]],
    settings: Settings,
) -> TextNumbers:
    """Judge the texts.

    `prediction`: (n, k) predictions on the unit scale; NaN without one.
    `twins`: n explanations of the jittered original, or None, and (n,) whether one was asked for.
    `settings`: vocabulary, targets, and the seed that draws the other clips.
    """
    vocabulary = vocabulary_of(settings)
    valid, fits = np.zeros(len(explanations), dtype=bool), np.zeros(len(explanations), dtype=bool)
    within = np.full(len(explanations), np.nan)
    for clip, explanation in enumerate(explanations):
        if explanation.text_ok and not text_validity(explanation.text):
            own = {name: float(value) for name, value in zip(settings.names, prediction[clip], strict=True)}
            valid[clip], fits[clip] = True, consistent(own, parsed.levels[clip])
        twin, asked = twins[0][clip], twins[1][clip]
        if asked:  # no explanation of the twin counts as a completely different one
            within[clip] = 1.0
            if twin is not None and twin.text_ok and explanation.text_ok:
                within[clip] = distance(parsed.stated[clip], claim_set(twin.text, vocabulary))
    return TextNumbers(
        valid, fits, fits * parsed.agreement, _between(explanations, parsed, settings.bootstrap.seed), within
    )


def distance(first: frozenset[Triple], second: frozenset[Triple]) -> float:
    """Jaccard distance of two sets of claims, in [0, 1]; two empty sets are the same."""
    return 1 - len(first & second) / len(first | second) if first or second else 0.0


def _between(explanations: Sequence[Explanation], parsed: ParsedClaims, seed: int) -> Array:
    """Compare each clip's claims with those of all others, or of its 50 neighbours in a random order."""
    result = np.full(len(explanations), np.nan)
    speak = [clip for clip, explanation in enumerate(explanations) if explanation.text_ok]
    if len(speak) < 2:
        return result
    drawn = [speak[index] for index in np.random.default_rng(seed).permutation(len(speak))]
    steps = range(1, min(len(drawn) - 1, MOST_OTHERS) + 1)
    for index, clip in enumerate(drawn):
        others = (drawn[(index + step) % len(drawn)] for step in steps)
        result[clip] = np.mean([distance(parsed.stated[clip], parsed.stated[other]) for other in others])
    return result


def specificity(between: Array, within: Array) -> Array:
    """Combine mean distances: ``max(0, 1 - within / between) * min(1, between / 0.5)``; 0 if between is 0.

    Claims that are the same for all clips have distance 0 between clips; random claims differ as much within a clip.

    >>> specificity(np.array([0.8, 0.2, 0.0]), np.array([0.2, 0.0, 0.0]))
    array([0.75, 0.4 , 0.  ])
    """
    apart = between > 0
    unstable = np.where(apart, within / np.where(apart, between, 1.0), 1.0)
    return np.asarray(np.maximum(0, 1 - unstable) * np.minimum(1, between / 0.5))


def _value(sums: "AxisSums") -> Array:
    between = ratio(sums.between, sums.between_defined)[:, 0]
    within = np.where(sums.within_defined[:, 0] > 0, ratio(sums.within, sums.within_defined)[:, 0], 1.0)
    return np.asarray(sums.text[:, 0] / sums.clips[:, 0] * specificity(between, within))


TEXT = Axis(
    key="text",
    title="Text",
    meaning="Whether the text is valid, agrees with the model's own numbers, and is about this clip.",
    shown="Text",
    value=_value,
    of_clips=lambda sums: sums.text[:, 0],
    error_analysis=(
        ErrorKind(
            "invalid_text",
            "Write plain sentences that pass the published text checks: no lists, no markup.",
            "of the texts are not valid.",
            lambda account: share_of(~account.axes.text.valid, account.predicted),
        ),
        ErrorKind(
            "contradicting",
            "State in every text how high the prediction is, and state it correctly.",
            "of the texts state no level, or one that differs from the prediction.",
            lambda account: share_of(~account.axes.text.consistent, account.axes.text.valid & account.predicted),
        ),
        ErrorKind(
            "disagreeing",
            "Name the largest cues of the evidence in the text, three at most.",
            "of the texts name cues other than the largest of the evidence.",
            lambda account: share_of(account.axes.readings.agreement < 1, account.axes.text.valid & account.predicted),
        ),
        ErrorKind(
            "unstable",
            "Keep the text stable when the clip barely changes: name only cues that stand out.",
            "of the claims change when a clip is shifted by a pixel or two.",
            lambda account: known_mean(account.axes.text.within),
        ),
        ErrorKind(
            "between",
            "Write about this clip: claims that fit every clip score nothing.",
            "of the claims are the same for other clips.",
            lambda account: known_mean(account.axes.text.between),
            complement=True,
        ),
    ),
    otherwise="Name the largest claims, and only those, in every text.",
)
