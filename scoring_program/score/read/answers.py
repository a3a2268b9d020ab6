"""One explanation and one call of the second pass, as ingestion recorded them."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from score.read.tables import finite_number, mapping, short_text, whole_number
from score.settings import Settings


@dataclass(frozen=True, slots=True)
class Claim:
    """One cue claim of the evidence."""

    cue: str
    target: str
    contribution: float
    """In [-1, 1]; positive if the cue raised the target."""


@dataclass(frozen=True, slots=True)
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


def parse_explanation(record: dict[str, Any], settings: Settings, images: frozenset[str]) -> Explanation:
    """Parse the valid parts of one record; invalid parts count as missing.

    `record`: one object of ``explanations.jsonl``.
    """
    evidence, limits = mapping(record.get("evidence")), settings.text
    text, image = record.get("text"), record.get("image")
    text = text if isinstance(text, str) else ""
    time, bin_s = _time(mapping(evidence.get("time")))
    return Explanation(
        text=text,
        text_ok=limits.minimum_chars <= len(text.strip()) and len(text) <= limits.maximum_chars,
        image=image if isinstance(image, str) and image in images else None,
        space=_space(mapping(evidence.get("space"))),
        time=time,
        bin_s=bin_s,
        claims=_claims(evidence.get("cues"), settings),
    )


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
        claims.append(Claim(sys.intern(name), sys.intern(str(target)), contribution))
    return tuple(claims) if any(claim.contribution for claim in claims) else ()


KINDS = ("original", "unit", "cue", "twin")
MOST_CALLS = 16
"""Most calls of one clip, not counting repeats."""
_MOST_PARTS, _LONGEST_NAME = 64, 40
_MOST_PLACES = 256 * 256
"""Cells of the finest grid that ingestion accepts."""


class BadCallError(ValueError):
    """A record is not a valid call; the message says why."""


@dataclass(frozen=True, slots=True)
class ProbeCall:
    """One call of the second pass."""

    kind: str
    """``original``, ``unit``, ``cue`` or ``twin``."""
    operator: str
    """How a unit was replaced; empty for an unaltered clip."""
    unit: str
    """Kind of the unit, such as ``mouth``; empty for other calls."""
    parts: tuple[str, ...]
    """Names of the exchanged parts; empty without an exchange."""
    cells: tuple[int, ...]
    """Cells of the unit, ascending."""
    seconds: tuple[int, ...]
    """Seconds of the unit, ascending."""
    cue: str
    """The cue that an edit neutralises; otherwise empty."""
    prediction: tuple[float, ...] | None
    """One number for each target, in its range; None without a valid answer."""
    twin: Explanation | None
    """Explanation of the twin; None without one, or for other kinds."""
    again: bool
    """Whether it is a repeat in a fresh process."""

    @property
    def name(self) -> tuple[str, str, tuple[str, ...], tuple[int, ...], tuple[int, ...], str]:
        """Identifies the call within its clip, apart from repeats."""
        return self.kind, self.unit, self.parts, self.cells, self.seconds, self.cue


def original_of(calls: Iterable[ProbeCall]) -> tuple[float, ...] | None:
    """Return the prediction for the jittered original; None without a valid one."""
    return next((call.prediction for call in calls if call.kind == "original" and not call.again), None)


def original_failed(calls: Iterable[ProbeCall]) -> bool:
    """Whether one of these calls, repeats included, was for the jittered original and has no valid answer."""
    return any(call.kind == "original" and call.prediction is None for call in calls)


def parse_call(record: dict[str, Any], explanation: Explanation | None, settings: Settings) -> ProbeCall:
    """Parse one call.

    `record`: one object of ``probes.jsonl``. `explanation`: the clip's explanation from the first pass: no unit can
    have a place outside its map. Raises BadCallError with the mistake.
    """
    kind, cue, unit, again = record.get("kind"), record.get("cue"), record.get("unit"), record.get("again", False)
    parts, explained, answer = record.get("parts") or (), record.get("explanation"), record.get("prediction")
    cells, seconds = (_places(record.get(key)) for key in ("cells", "seconds"))
    prediction = None
    if kind not in KINDS:
        raise BadCallError("no kind")
    if type(again) is not bool:
        raise BadCallError("an again that is neither true nor false")
    if (isinstance(cue, str) and bool(cue)) != (kind == "cue"):
        raise BadCallError("a cue that does not fit the kind")
    if (isinstance(unit, str) and bool(unit)) != (kind == "unit"):
        raise BadCallError("a unit that does not fit the kind")
    if cells is None or seconds is None or bool(cells or seconds) != (kind == "unit"):
        raise BadCallError("cells or seconds that are missing or not ascending whole numbers")
    maps = () if explanation is None else ((cells, explanation.space), (seconds, explanation.time))
    if any(places and weights is not None and places[-1] >= weights.size for places, weights in maps):
        raise BadCallError("a place outside the map of the clip")
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise BadCallError("parts that are not a list of names")
    if answer is not None:
        if mapping(answer).keys() != set(settings.names):
            raise BadCallError("targets that differ from the reference data")
        prediction = numbers_in_range([answer[name] for name in settings.names], settings)
        if prediction is None:
            raise BadCallError("a number that is missing, not finite or out of range")
    twin = None
    if kind == "twin" and isinstance(explained, dict):
        twin = parse_explanation(explained, settings, frozenset())
    return ProbeCall(
        kind=sys.intern(kind),  # names come in thousands of records: each is kept once
        operator=sys.intern(short_text(record.get("operator"), _LONGEST_NAME)),
        unit=sys.intern(short_text(unit, _LONGEST_NAME) if kind == "unit" else ""),
        parts=tuple(sys.intern(part[:_LONGEST_NAME]) for part in parts[:_MOST_PARTS]),
        cells=cells,
        seconds=seconds,
        cue=sys.intern(short_text(cue, _LONGEST_NAME) if kind == "cue" else ""),
        prediction=prediction,
        twin=twin,
        again=again,
    )


def numbers_in_range(values: Sequence[object], settings: Settings) -> tuple[float, ...] | None:
    """Return one finite number for each target, in its range; None for anything else."""
    if len(values) != len(settings.targets):
        return None
    pairs = zip(values, settings.targets, strict=True)
    numbers = [finite_number(value, target.minimum, target.maximum) for value, target in pairs]
    return None if None in numbers else tuple(number for number in numbers if number is not None)


def _places(values: object) -> tuple[int, ...] | None:
    if values is None:
        return ()
    if not isinstance(values, list) or len(values) > _MOST_PLACES:
        return None
    if any(whole_number(number, 0, _MOST_PLACES - 1) is None for number in values):
        return None
    return tuple(values) if all(a < b for a, b in pairwise(values)) else None
