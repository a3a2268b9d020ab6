"""The records of the second pass: ``probes.jsonl``, one line for each call on a clip or an altered copy of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from score.errors import Problem
from score.read.output.explanation_record import Explanation, parse_explanation
from score.read.reference.labels import CLIP_ID
from score.read.strict_json import finite_number
from score.settings import Settings

HIDDEN = ("space", "time")
"""Kinds that hide places of the picture, or seconds."""
KINDS = ("original", *HIDDEN, "cue", "twin")
MOST_CALLS = 16
"""Of one clip; what is asked again is on top."""
_MOST_PARTS, _LONGEST_NAME = 64, 40
_MOST_PLACES = 256 * 256
"""Cells of the finest grid that ingestion accepts."""


@dataclass(frozen=True)
class ProbeCall:
    """One call of the second pass."""

    kind: str
    """``original``, ``space``, ``time``, ``cue`` or ``twin``."""
    operator: str
    """What took the hidden place; empty where nothing was altered."""
    places: tuple[int, ...]
    """Hidden cells or seconds, ascending."""
    exchanged: tuple[str, ...]
    """Names of the parts that were exchanged there; none where nothing was, or could be."""
    cue: str
    """The cue that an edit neutralises, else empty."""
    prediction: tuple[float, ...] | None
    """One number a target, in its range; None: asked, but no valid answer."""
    twin: Explanation | None
    """What was said of the twin; None where nothing was, or nothing was asked."""
    again: bool
    """Whether it was asked before, and now of a fresh process."""

    @property
    def shows(self) -> bool:
        """Whether a model could see that the clip was altered: it is no other drawing, of a part or without a cue."""
        return self.operator not in {"", "exchange", "copy"}

    @property
    def name(self) -> tuple[str, tuple[int, ...], tuple[str, ...], str]:
        """What a clip has only one call of, and perhaps one more that is asked again."""
        return self.kind, self.places, self.exchanged, self.cue


Probes = dict[str, tuple[ProbeCall, ...]]
"""The calls of each clip, by its id, in the order asked."""


def read_probes(
    records: Iterator[tuple[str, dict[str, Any]]],
    settings: Settings,
    explanations: Mapping[str, Explanation],
    problems: list[Problem],
) -> Probes:
    """Read the calls; what is wrong is added to ``problems``.

    Parameters
    ----------
    records
        (place, object) of each line.
    settings
        Names and ranges of the targets.
    explanations
        What was said in the first pass: no cell outside its map can have been hidden.
    problems
        Where everything that is wrong is collected.
    """
    clips: dict[str, list[ProbeCall]] = {}
    unknown = 0
    for where, record in records:
        clip_id, kind = record.get("clip_id"), record.get("kind")
        if not isinstance(clip_id, str) or not CLIP_ID.fullmatch(clip_id):
            problems.append(_broken(where, "a clip id that is not allowed", CLIP_ID.pattern))
        elif isinstance(kind, str) and kind not in KINDS:
            unknown += 1
        else:
            calls = clips.setdefault(clip_id, [])
            call = _call(record, explanations.get(clip_id), settings)
            if isinstance(call, str):
                problems.append(_broken(where, call, "a call as in docs/output_format.md"))
            elif any((call.name, call.again) == (other.name, other.again) for other in calls):
                problems.append(_broken(where, "the same call of a clip a second time", "each call once"))
            elif sum(call.again == other.again for other in calls) >= MOST_CALLS:
                problems.append(_broken(where, f"more than {MOST_CALLS} calls of a clip", f"at most {MOST_CALLS}"))
            else:
                calls.append(call)
    if unknown:
        found = f"{unknown} calls of a kind that is not known; ignored"
        problems.append(_broken("probes.jsonl", found, "one of " + ", ".join(KINDS), "warning"))
    return {clip_id: tuple(calls) for clip_id, calls in clips.items() if calls}


def _broken(where: str, found: str, expected: str, severity: str = "error") -> Problem:
    fix = "submit again; if it happens again, tell the organisers"
    return Problem("record_broken", "run", where, found, expected, fix, severity)


def _call(record: dict[str, Any], explanation: Explanation | None, settings: Settings) -> ProbeCall | str:
    """Take one call, or say what is wrong with it."""
    kind = record.get("kind")
    if kind not in KINDS:
        return "no kind"
    cue, operator = record.get("cue"), record.get("operator")
    again = record.get("again", False)
    if type(again) is not bool:
        return "again that is neither true nor false"
    if (isinstance(cue, str) and bool(cue)) != (kind == "cue"):
        return "a cue that does not fit the kind"
    places = _places(record.get("places"))
    if places is None or bool(places) != (kind in HIDDEN):
        return "places that are not ascending whole numbers, or none"
    if kind in HIDDEN and explanation is not None:
        weights = explanation.time if kind == "time" else explanation.space
        if weights is not None and places[-1] >= weights.size:
            return "a place outside the map of the clip"
    exchanged = record.get("exchanged") or ()
    if not isinstance(exchanged, list | tuple) or not all(isinstance(part, str) for part in exchanged):
        return "exchanged that is no list of names"
    prediction = _prediction(record.get("prediction"), settings)
    if isinstance(prediction, str):
        return prediction
    said = record.get("explanation")
    twin = parse_explanation(said, settings, frozenset()) if kind == "twin" and isinstance(said, dict) else None
    return ProbeCall(
        kind=kind,
        operator=operator[:40] if isinstance(operator, str) else "",
        places=places,
        exchanged=tuple(part[:_LONGEST_NAME] for part in exchanged[:_MOST_PARTS]),
        cue=str(cue)[:40] if kind == "cue" else "",
        prediction=prediction,
        twin=twin,
        again=again,
    )


def _places(given: object) -> tuple[int, ...] | None:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > _MOST_PLACES:
        return None
    if any(type(place) is not int or not 0 <= place < _MOST_PLACES for place in given):
        return None
    return tuple(given) if all(a < b for a, b in pairwise(given)) else None


def _prediction(given: object, settings: Settings) -> tuple[float, ...] | str | None:
    if given is None:
        return None
    if not isinstance(given, dict) or given.keys() != set(settings.names):
        return "other targets than the reference data have"
    values = []
    for target in settings.targets:
        number = finite_number(given[target.name])
        if number is None or not target.minimum <= number <= target.maximum:
            return "a number missing, not finite or out of range"
        values.append(number)
    return tuple(values)
