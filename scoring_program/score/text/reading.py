"""Claims in the evidence and text of each explanation, as numbers that all axes share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from score.read.answers import Explanation
from score.settings import HEARD, Settings
from score.text import LevelStatement, Vocabulary, parse_claims, parse_levels

Array = NDArray[np.float64]
Triple = tuple[str, str, int]
"""Cue, target and sign of one claim."""


@dataclass(frozen=True)
class ParsedClaims:
    """Claims of n explanations about k targets with a vocabulary of v cues."""

    stated: tuple[frozenset[Triple], ...]
    """n sets of claims parsed from the texts; empty without a text."""
    levels: tuple[tuple[LevelStatement, ...], ...]
    """n lists of the levels that the texts state."""
    claims: Array
    """(n, k, v) claims that count, in [-1, 1]: those that evidence and text share, or those of either alone."""
    agreement: Array
    """(n,) Jaccard index of the text's claims and the largest ones submitted as evidence; 1 without evidence."""
    seen: Array
    """(n, k) sum of |contribution| of submitted claims about cues that are not `HEARD`; NaN without such claims."""


def vocabulary_of(settings: Settings) -> Vocabulary:
    """Collect what the parser needs to know about a task."""
    score = settings.explanation_score
    return Vocabulary(score.vocabulary, settings.names, settings.main_target, score.aliases)


def claim_set(text: str, vocabulary: Vocabulary) -> frozenset[Triple]:
    """Parse the claims of a text."""
    return frozenset((claim.cue, claim.target, claim.sign) for claim in parse_claims(text, vocabulary))


def read_claims(explanations: Sequence[Explanation], settings: Settings) -> ParsedClaims:
    """Read the claims of all explanations; an invalid text has none."""
    vocabulary = vocabulary_of(settings)
    cues = {cue: number for number, cue in enumerate(settings.explanation_score.vocabulary)}
    targets = {name: number for number, name in enumerate(settings.names)}
    shape = (len(explanations), len(targets), len(cues))
    submitted, stated = np.zeros(shape), np.zeros(shape)
    claim_sets, levels = [], []
    for clip, explanation in enumerate(explanations):
        claim_sets.append(claim_set(explanation.text, vocabulary) if explanation.text_ok else frozenset())
        levels.append(parse_levels(explanation.text, vocabulary) if explanation.text_ok else ())
        for cue, target, sign in claim_sets[-1]:
            stated[clip, targets[target], cues[cue]] = sign
        for claim in explanation.claims:
            if claim.cue in cues:
                submitted[clip, targets[claim.target], cues[claim.cue]] += claim.contribution
    submitted = np.clip(submitted, -1, 1)
    visible = np.array([cue not in HEARD for cue in cues], dtype=bool)
    seen = np.where((submitted != 0).any(axis=2), np.abs(submitted[:, :, visible]).sum(axis=2), np.nan)
    return ParsedClaims(
        tuple(claim_sets), tuple(levels), join_claims(submitted, stated), _agreement(submitted, stated), seen
    )


def join_claims(submitted: Array, stated: Array) -> Array:
    """Join both kinds of claims, target by target.

    A text need not repeat every claim: if it names only the largest submitted claims, with their signs, all submitted
    ones count. Otherwise only claims that both make count.

    `submitted`: (n, k, v) contributions of the evidence, in [-1, 1]. `stated`: (n, k, v) signs stated in the text; 0
    without a claim. Returns (n, k, v) claims that count.
    """
    size = np.abs(submitted)
    speaks, argues = (stated != 0).any(axis=2, keepdims=True), (submitted != 0).any(axis=2, keepdims=True)
    same = np.sign(submitted) == stated
    smallest_named = np.where(stated != 0, size, np.inf).min(axis=2, keepdims=True)
    largest_unnamed = np.where(stated == 0, size, 0.0).max(axis=2, keepdims=True)
    sums_up = (same | (stated == 0)).all(axis=2, keepdims=True) & (smallest_named >= largest_unnamed)
    joined = np.where(sums_up | ~speaks, submitted, np.where(same, submitted, 0.0))
    return np.where(argues, joined, stated)


def _agreement(submitted: Array, stated: Array) -> Array:
    """Compare, for each target in the text, its claims with as many of the largest submitted ones, at most 3."""
    result = np.ones(len(stated))
    for clip in np.flatnonzero((submitted != 0).any(axis=(1, 2))):
        text: set[tuple[int, int, int]] = set()
        evidence: set[tuple[int, int, int]] = set()
        for target in np.flatnonzero((stated[clip] != 0).any(axis=1)):
            named = np.flatnonzero(stated[clip, target])
            text |= {(int(target), int(cue), int(stated[clip, target, cue])) for cue in named}
            values = submitted[clip, target]
            largest = np.argsort(-np.abs(values), kind="stable")[: min(3, len(named))]
            evidence |= {(int(target), int(cue), int(np.sign(values[cue]))) for cue in largest if values[cue]}
        result[clip] = len(text & evidence) / len(text | evidence) if text | evidence else 0.0
    return result
