"""One explanation in the report: its claims, the verdict on it, and what exchanging parts of the clip did."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from score.axes.effects import Unit
from score.evaluate import ClipNumbers
from score.read.answers import Claim, Explanation, ProbeCall
from score.report.drawings import bars, lane, outline, spoken, ticks, whereabouts
from score.report.page import NONE, number, plural, signed
from score.settings import Target
from score.text import text_validity
from score.visible import in_words, one_line

_MOST_LISTED = 12
_PLACES = 3


def claim_rows(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> list[dict[str, Any]]:
    """List the cues that were made neutral, the largest claims first, with what was claimed and measured.

    `target`: the target on which the explanation is judged; changes are shown in its range.
    """
    rows = []
    for cue in sorted(numbers.edited, key=lambda cue: (-abs(numbers.claimed.get(cue, 0.0)), cue)):
        claimed, change = numbers.claimed.get(cue, 0.0), numbers.edited[cue]
        claimed_sign, measured_sign, measured = (claimed > 0) - (claimed < 0), 0, "no effect"
        if change is not None and abs(change) >= numbers.epsilon:
            measured_sign = 1 if change > 0 else -1
            measured = signed(change * (target.maximum - target.minimum), _PLACES)
        state, agrees = _comparison(claimed_sign, measured_sign)
        if change is None:
            measured, state, agrees = "no valid answer", "bad", "counts as worst"
        rows.append(
            {
                "cue": cue,
                "claimed": _size(claimed, claims, target),
                "claimed_sign": claimed_sign,
                "measured": measured,
                "measured_sign": measured_sign,
                "state": state,
                "agrees": agrees,
            }
        )
    return rows


def untested(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> Iterable[str]:
    """Describe the claims that were not tested on a clip; parameters as for `claim_rows`."""
    left = sorted(numbers.claimed.keys() - numbers.edited.keys(), key=lambda cue: (-abs(numbers.claimed[cue]), cue))
    listed = [f"{in_words(cue, 40)} {_size(numbers.claimed[cue], claims, target)}" for cue in left[:_MOST_LISTED]]
    if listed:
        more = f" and {len(left) - _MOST_LISTED} more" if len(left) > _MOST_LISTED else ""
        yield f"Claimed but not tested on this clip: {', '.join(listed)}{more}."
    others = sum(claim.target != target.name for claim in claims)
    if others:
        yield f"{others} more claims about other targets." if others > 1 else "One more claim about another target."


def _size(claimed: float, claims: Sequence[Claim], target: Target) -> str:
    """Return the claim's size if the evidence gives one, else the direction stated in the text."""
    if not claimed:
        return NONE
    if any(claim.target == target.name and claim.contribution for claim in claims):
        return signed(claimed * (target.maximum - target.minimum), _PLACES)
    return "raised" if claimed > 0 else "lowered"


def _comparison(claimed: int, measured: int) -> tuple[str, str]:
    if claimed and measured:
        return ("good", "agrees") if claimed == measured else ("bad", "opposite sign")
    if claimed:
        return "bad", "no effect"
    return ("bad", "not claimed") if measured else ("good", "rightly not claimed")


HOLDS, PARTLY = 0.5, 0.2
"""Lowest values that count as good and partly good; 0 is chance, 1 is perfect."""
STATES = ("good", "part", "bad", "none")
"""Best first; ``none`` if nothing was measured."""
_WHERE = {"space": "a place", "time": "a moment"}
Reason = tuple[str, str, str]
"""(one of `STATES`, part of the explanation, one or two sentences)."""
_OTHER = {"space": "place", "time": "second"}
_NOT_GIVEN = {"space": "No saliency map given: scores 0.", "time": "No temporal attribution given: scores 0."}


def state_of(value: float) -> str:
    """Return the state for a value of an axis."""
    return "good" if value >= HOLDS else "part" if value >= PARTLY else "bad"


def clip_state(numbers: ClipNumbers) -> str:
    """Return how well an explanation held up: ``good`` if every tested part did, ``none`` without tested parts."""
    if not (numbers.units or numbers.edited):
        return "none"
    tested = [_order_state(numbers, kind) for kind in numbers.units if f"faithfulness_{kind}" in numbers.axes]
    cues = ("cue_claims",) if numbers.edited and "cue_claims" in numbers.axes else ()
    tested += [state_of(numbers.axes[axis]) for axis in (*cues, "text")]
    state = state_of(numbers.label_free_mean)
    return "part" if state == "good" and set(tested) != {"good"} else state


def _order_state(numbers: ClipNumbers, kind: str) -> str:
    """Return the state of a map or timeline: ``good`` only if no other unit moved the predictions more."""
    state = state_of(numbers.axes[f"faithfulness_{kind}"])
    changes = [marked.effect or 0.0 for marked in numbers.units[kind]]
    return "part" if state == "good" and max(changes) - changes[0] > numbers.joint_epsilon else state


def reasons(
    numbers: ClipNumbers, explanation: Explanation, claims: Sequence[Mapping[str, Any]], target: Target
) -> tuple[Reason, ...]:
    """Say in words how the parts of an explanation hold up: place, time, cues and text."""
    return (
        _order("Place", "space", explanation.space, numbers),
        _order("Time", "time", explanation.time, numbers),
        _cues(numbers, claims, target),
        _text(numbers, explanation),
    )


def _order(part: str, kind: str, weights: object, numbers: ClipNumbers) -> Reason:
    units = numbers.units.get(kind, ())
    if f"faithfulness_{kind}" not in numbers.axes:
        return "none", part, "This clip has no exchanges: left out."
    if weights is None:
        return "none", part, _NOT_GIVEN[kind]
    if not units:
        return "none", part, "Not measured: scores 0."
    changes = [marked.effect for marked in units if marked.effect is not None]
    if len(changes) < len(units):
        return "bad", part, f"No valid answer when {_WHERE[kind]} was altered: gets the worst score."
    state, epsilon = _order_state(numbers, kind), numbers.joint_epsilon
    most, largest = number(changes[0], 3), number(max(changes), 3)
    words = f"Altering the {_OTHER[kind]} marked most moved the predictions by {most}"
    if most != largest:
        words += f"; altering another {_OTHER[kind]} moved it by up to {largest}"
    elif state != "good" and max(changes) > epsilon:
        in_order = all(higher > lower - epsilon for higher, lower in pairwise(changes))
        usual = "one order for all clips fits about as well"
        words += f"; {usual if in_order else 'the order of the others is wrong'}"
    return state, part, f"{words}."


def _cues(numbers: ClipNumbers, claims: Sequence[Mapping[str, Any]], target: Target) -> Reason:
    if "cue_claims" not in numbers.axes:
        return "none", "Cues", "This clip has no cue edits: left out."
    if not numbers.claimed:
        return "none", "Cues", f"No testable claim about {target.title}: scores 0."
    if not numbers.edited:
        return "none", "Cues", "Not measured: scores 0."
    if None in numbers.edited.values():
        words = "No valid answer when a cue was made neutral: gets the worst score."
        return "bad", "Cues", words
    tested = [row for row in claims if row["claimed_sign"]]
    right = sum(row["state"] == "good" for row in tested)
    if not tested:
        words = "None of the claimed cues was tested on this clip."
    elif len(tested) == 1:
        words = f"The one claim tested is {'right' if right else 'wrong'}."
    else:
        words = f"{right} of {len(tested)} claims tested are right."
    return state_of(numbers.axes["cue_claims"]), "Cues", words


def _text(numbers: ClipNumbers, explanation: Explanation) -> Reason:
    faults = text_validity(explanation.text) if explanation.text_ok else ("missing, too short or too long",)
    if faults:
        return "bad", "Text", f"Not valid, so it scores 0: {', '.join(faults)}."
    if numbers.axes["text"] >= 0.995:
        return "good", "Text", "Valid, and agrees with the prediction and the submitted cues."
    if numbers.axes["text"] > 0:
        words = "Valid, but it should name the largest submitted cues (up to three) and no others."
        return state_of(numbers.axes["text"]), "Text", words
    return "bad", "Text", "Contradicts its own prediction or the submitted cues, so it scores 0."


_FAILED = "no valid answer"


Effects = tuple[tuple[str, str, str, float], ...]
"""(``top`` for the most marked unit, ``bottom`` for the least, else empty; what it is; its joint effect as a share of
the range; the effect as a percentage of the clip's largest)."""


def place(explanation: Explanation, numbers: ClipNumbers) -> dict[str, Any] | None:
    """Draw the explanation's map as path data in units of cells; None without one."""
    if explanation.space is None:
        return None
    rows, columns = explanation.space.shape
    top, bottom = _most_and_least("space", numbers)
    marked = [
        f"{words}: {len(places)} of {rows * columns} cells, mostly {whereabouts(places, rows, columns)}"
        for words, places in (("Marked most", top), ("marked least", bottom))
        if places
    ]

    def where(unit: Unit) -> str:
        return _kind(unit) if unit.parts else whereabouts(unit.cells, rows, columns)

    return {
        "rows": rows,
        "columns": columns,
        "top": outline(top, rows, columns) or "",
        "bottom": outline(bottom, rows, columns) or "",
        "label": "; ".join(marked) + "." if marked else "The map was not tested.",
        "effects": _effects("space", numbers, where),
    }


def timeline(explanation: Explanation, numbers: ClipNumbers) -> dict[str, Any] | None:
    """Draw the explanation's timeline as path data in units of bins; None without one."""
    if explanation.time is None:
        return None
    weights, bin_s = explanation.time, explanation.bin_s
    top, bottom = _most_and_least("time", numbers)
    marked = [
        f"{words} {spoken(places, bin_s)}"
        for words, places in (
            ("The largest weight is at", (int(weights.argmax()),)),
            ("marked most:", top),
            ("marked least:", bottom),
        )
        if places
    ]
    return {
        "columns": len(weights),
        "top": lane(top),
        "bottom": lane(bottom),
        "label": "; ".join(marked) + ".",
        "effects": _effects("time", numbers, lambda unit: f"{_kind(unit)}, {spoken(unit.seconds, bin_s)}"),
        "bars": bars(weights),
        "ticks": ticks(len(weights), bin_s),
    }


def call_rows(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> Iterator[tuple[str, str, str, str]]:
    """List the calls of a clip, without repeats.

    `target`: the target on which the claims are judged; changes by an edit are shown in its range. Yields what was
    altered, how, where, and the change of the prediction: of a unit, the joint effect as a share of the range.
    """
    span = target.maximum - target.minimum
    measured = [marked for units in numbers.units.values() for marked in units]
    effects = {(marked.unit.kind, marked.unit.cells, marked.unit.seconds): marked.effect for marked in measured}
    for call in (recorded for recorded in calls if not recorded.again):
        how = in_words(call.operator, 40) or NONE
        if call.kind == "unit":
            change = effects.get((call.unit, call.cells, call.seconds))
            where = [plural(len(call.cells), "cell")] if call.cells else []
            where += [spoken(call.seconds, explanation.bin_s)] if call.seconds else []
            shown = _FAILED if call.prediction is None else NONE if change is None else number(change, 3)
            yield in_words(call.unit, 40), how, ", ".join(where), shown
        elif call.kind == "cue" and call.cue in numbers.edited:
            change = numbers.edited[call.cue]
            what = f"Cue {in_words(call.cue, 40)}, made neutral"
            yield what, how, NONE, _FAILED if change is None else signed(-change * span, 3)


def _kind(unit: Unit) -> str:
    return one_line(unit.kind.replace("-", " "), 60)


def _most_and_least(kind: str, numbers: ClipNumbers) -> tuple[tuple[int, ...], tuple[int, ...]]:
    units = [marked.unit.cells if kind == "space" else marked.unit.seconds for marked in numbers.units.get(kind, ())]
    return (units[0], units[-1]) if len(units) > 1 else ((), ())


def _effects(kind: str, numbers: ClipNumbers, where: Callable[[Unit], str]) -> Effects:
    """Draw bars, the most marked unit first, on one scale for all drawings of a clip."""
    changes = [marked.effect for units in numbers.units.values() for marked in units if marked.effect is not None]
    largest = max([numbers.joint_epsilon, *changes])
    units = numbers.units.get(kind, ())
    ends = {0: ("top", "marked most, "), len(units) - 1: ("bottom", "marked least, ")} if len(units) > 1 else {}
    bars = []
    for rank, marked in enumerate(units):
        part, words = ends.get(rank, ("", ""))
        value = _FAILED if marked.effect is None else number(marked.effect, 3)
        width = 0.0 if marked.effect is None else round(100 * marked.effect / largest, 1)
        bars.append((part, f"{words}{where(marked.unit)}", value, width))
    return tuple(bars)
