"""Whether one explanation held up, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from score.evaluation.clip_numbers import ClipNumbers
from score.read.output.explanation_record import Explanation
from score.report.explanations.claim_rows import ClaimRow
from score.report.numbers import number
from score.settings import Target
from score.text import text_validity

HOLDS, PARTLY = 0.5, 0.2
"""Lowest values that count as good and partly good; 0 is chance, 1 is perfect."""
STATES = ("good", "part", "bad", "none")
"""Best first; ``none`` if nothing was measured."""
_WHERE = {"space": "a place", "time": "a moment"}
_OTHER = {"space": "place", "time": "second"}
_NOT_GIVEN = {"space": "No map given: scores 0.", "time": "No timeline given: scores 0."}


@dataclass(frozen=True)
class Reason:
    """What one axis says about one explanation."""

    state: str
    """One of `STATES`."""
    part: str
    words: str
    """One or two sentences."""


def state_of(value: float) -> str:
    """Return the state for a value of an axis."""
    return "good" if value >= HOLDS else "part" if value >= PARTLY else "bad"


def clip_state(numbers: ClipNumbers) -> str:
    """Return how well an explanation held up: ``good`` if every tested part did, ``none`` without tested parts."""
    if not (numbers.units or numbers.edited):
        return "none"
    tested = [_order_state(numbers, kind) for kind in numbers.units]
    tested += [state_of(value) for value in ((numbers.claims,) if numbers.edited else ()) + (numbers.text,)]
    found = state_of(numbers.held)
    return "part" if found == "good" and set(tested) != {"good"} else found


def _order_state(numbers: ClipNumbers, kind: str) -> str:
    """Return the state of a map or timeline: ``good`` only if no other unit moved the predictions more."""
    found = state_of(getattr(numbers, kind))
    changes = [one.effect or 0.0 for one in numbers.units[kind]]
    return "part" if found == "good" and max(changes) - changes[0] > numbers.joint_epsilon else found


def reasons(
    numbers: ClipNumbers, explanation: Explanation, claims: Sequence[ClaimRow], target: Target
) -> tuple[Reason, ...]:
    """Judge one explanation in words: place, time, cues and text."""
    return (
        _order("Place", "space", explanation.space is not None, numbers),
        _order("Time", "time", explanation.time is not None, numbers),
        _cues(numbers, claims, target),
        _text(numbers, explanation),
    )


def _order(part: str, kind: str, given: bool, numbers: ClipNumbers) -> Reason:
    units = numbers.units.get(kind, ())
    if not given:
        return Reason("none", part, _NOT_GIVEN[kind])
    if not units:
        return Reason("none", part, "Not measured: scores 0.")
    changes = [one.effect for one in units if one.effect is not None]
    if len(changes) < len(units):
        return Reason("bad", part, f"No valid answer when {_WHERE[kind]} was altered: gets the worst score.")
    state, epsilon = _order_state(numbers, kind), numbers.joint_epsilon
    most, largest = number(changes[0], 3), number(max(changes), 3)
    words = f"Altering the {_OTHER[kind]} marked most moved the predictions by {most}"
    if most != largest:
        words += f"; altering another {_OTHER[kind]} moved it by up to {largest}"
    elif state != "good" and max(changes) > epsilon:
        in_order = all(higher > lower - epsilon for higher, lower in pairwise(changes))
        usual = "one order for all clips fits about as well"
        words += f"; {usual if in_order else 'the order of the others is wrong'}"
    return Reason(state, part, f"{words}.")


def _cues(numbers: ClipNumbers, claims: Sequence[ClaimRow], target: Target) -> Reason:
    if not numbers.claimed:
        return Reason("none", "Cues", f"No testable claim about {target.title}: scores 0.")
    if not numbers.edited:
        return Reason("none", "Cues", "Not measured: scores 0.")
    if None in numbers.edited.values():
        words = "No valid answer when a cue was made neutral: gets the worst score."
        return Reason("bad", "Cues", words)
    tested = [row for row in claims if row.claimed_sign]
    right = sum(row.state == "good" for row in tested)
    if not tested:
        words = "None of the claimed cues was tested on this clip."
    elif len(tested) == 1:
        words = f"The one claim tested is {'right' if right else 'wrong'}."
    else:
        words = f"{right} of {len(tested)} claims tested are right."
    return Reason(state_of(numbers.claims), "Cues", words)


def _text(numbers: ClipNumbers, explanation: Explanation) -> Reason:
    faults = text_validity(explanation.text) if explanation.text_ok else ("missing, too short or too long",)
    if faults:
        return Reason("bad", "Text", f"Not valid, so it scores 0: {', '.join(faults)}.")
    if numbers.text >= 0.995:
        return Reason("good", "Text", "Valid, and agrees with the prediction and the submitted cues.")
    if numbers.text > 0:
        return Reason(
            state_of(numbers.text),
            "Text",
            "Valid, but it should name the largest submitted cues (up to three) and no others.",
        )
    return Reason("bad", "Text", "Contradicts its own prediction or the submitted cues, so it scores 0.")
