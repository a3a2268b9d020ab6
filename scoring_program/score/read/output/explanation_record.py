"""The explanation of one clip, from the first pass or of a twin, reduced to its valid parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.read.strict_json import finite_number, mapping
from score.settings import Settings, TextLimits


@dataclass(frozen=True)
class Claim:
    """One cue claim of the evidence."""

    cue: str
    target: str
    contribution: float
    """In [-1, 1]; positive if the cue raised the target."""


@dataclass(frozen=True)
class Explanation:
    """The explanation of one clip; invalid parts are None or empty."""

    text: str = ""
    """As given; may be empty."""
    text_ok: bool = False
    """Whether the text has a valid length."""
    image: str | None = None
    """Path of the picture, relative to the results folder."""
    space: NDArray[np.float64] | None = None
    """(rows, columns) spatial evidence, the mean over time, >= 0, not constant."""
    time: NDArray[np.float64] | None = None
    """Temporal evidence, one weight for each bin, >= 0, not constant."""
    bin_s: float = 1.0
    """Length of a bin of ``time`` in seconds."""
    claims: tuple[Claim, ...] = ()
    """Cue claims; either empty, or at least one contribution is not 0."""


NO_EXPLANATION = Explanation()


def parse_explanation(record: dict[str, Any], settings: Settings, images: frozenset[str]) -> Explanation:
    """Parse the valid parts of one record; invalid parts count as missing.

    `record`: one object of ``explanations.jsonl``.
    """
    evidence = mapping(record.get("evidence"))
    text = record.get("text")
    image = record.get("image")
    time, bin_s = _time(mapping(evidence.get("time")))
    return Explanation(
        text=text if isinstance(text, str) else "",
        text_ok=isinstance(text, str) and _text_ok(text, settings.text),
        image=image if isinstance(image, str) and image in images else None,
        space=_space(mapping(evidence.get("space"))),
        time=time,
        bin_s=bin_s,
        claims=_claims(evidence.get("cues"), settings),
    )


def _text_ok(text: str, limits: TextLimits) -> bool:
    return limits.minimum_chars <= len(text.strip()) and len(text) <= limits.maximum_chars


def _weights(values: object) -> NDArray[np.float64] | None:
    """Parse finite weights >= 0 that are not all equal: a uniform map marks nothing."""
    try:
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if not weights.size or not np.isfinite(weights).all() or weights.min() < 0 or weights.max() == 0:
        return None
    return None if weights.size > 1 and weights.min() == weights.max() else weights


def _space(space: dict[str, Any]) -> NDArray[np.float64] | None:
    weights = _weights(space.get("weights"))
    shape = (space.get("rows"), space.get("columns"))
    if weights is None or weights.ndim != 3 or weights.shape[1:] != shape:
        return None
    return np.asarray(weights.mean(axis=0))


def _time(time: dict[str, Any]) -> tuple[NDArray[np.float64] | None, float]:
    weights, bin_s = _weights(time.get("weights")), finite_number(time.get("bin_s"))
    if weights is None or weights.ndim != 1 or bin_s is None or bin_s <= 0:
        return None, 1.0
    return weights, bin_s


def _claims(cues: object, settings: Settings) -> tuple[Claim, ...]:
    """Parse all claims; return none if one is invalid or all contributions are 0."""
    claims = []
    for cue in map(mapping, cues if isinstance(cues, list) else ()):
        name, target, contribution = cue.get("cue"), cue.get("target"), finite_number(cue.get("contribution"), -1, 1)
        if not isinstance(name, str) or target not in settings.names or contribution is None:
            return ()
        claims.append(Claim(name, target, contribution))
    return tuple(claims) if any(claim.contribution for claim in claims) else ()
