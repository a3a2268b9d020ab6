"""How far apart the claims of two explanations are."""

from __future__ import annotations

from collections.abc import Iterable

from score.language.vocabulary import TextClaim


def claim_set(claims: Iterable[TextClaim], target: str) -> frozenset[tuple[str, int]]:
    """Return the cues that are claimed for one target, with their signs."""
    return frozenset((claim.cue, claim.sign) for claim in claims if claim.target == target)


def jaccard_distance(a: frozenset[tuple[str, int]], b: frozenset[tuple[str, int]]) -> float:
    """Return ``1 - |a & b| / |a | b|`` (Jaccard 1901), in [0, 1]; two empty sets have distance 0.

    Examples
    --------
    >>> round(jaccard_distance(frozenset({("smile", 1), ("gaze", 1)}), frozenset({("smile", 1), ("gaze", -1)})), 4)
    0.6667
    """
    union = len(a | b)
    return 1 - len(a & b) / union if union else 0.0
