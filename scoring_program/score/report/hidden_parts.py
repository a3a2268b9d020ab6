"""What was hidden of one clip, and what that changed: the calls of the second pass as drawings and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from score.clip_numbers import ClipNumbers
from score.explanation_record import Explanation
from score.probe_record import PARTS, ProbeCall
from score.report.content.explanations import CallRow, EffectBar, Place, Timeline
from score.report.numbers import NONE, number, plural, signed
from score.report.place import outline, whereabouts
from score.report.timeline import bars, lane, spoken, ticks
from score.settings import Target
from score.visible import one_line

_WORDS = {
    "top": "marked most",
    "bottom": "marked least",
    "own": "marked only here",
    "other": "marked only elsewhere",
}
_FAILED = "no valid answer"


def place(explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target) -> Place | None:
    """Draw where the explanation says the model looked; None without a map.

    Parameters
    ----------
    explanation
        What was said.
    calls
        Of the clip.
    numbers
        Of the clip.
    target
        The target on which the explanation is judged; changes are shown in its range.
    """
    if explanation.space is None:
        return None
    rows, columns = explanation.space.shape
    hidden = _hidden("space", calls)
    top, bottom = hidden.get("top", ()), hidden.get("bottom", ())
    told = [
        f"{words}: {len(places)} of {rows * columns} cells, mostly {whereabouts(places, rows, columns)}"
        for words, places in (("Marked most", top), ("marked least", bottom))
        if places
    ]
    return Place(
        rows=rows,
        columns=columns,
        top=outline(top, rows, columns) or "",
        bottom=outline(bottom, rows, columns) or "",
        label="; ".join(told) + "." if told else "What the explanation marks was not tested.",
        effects=_effects("space", numbers, target),
    )


def timeline(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> Timeline | None:
    """Draw when the explanation says the model looked; parameters as of `place`; None without weights."""
    if explanation.time is None:
        return None
    weights, bin_s = explanation.time, explanation.bin_s
    hidden = _hidden("time", calls)
    top, bottom = hidden.get("top", ()), hidden.get("bottom", ())
    strongest = int(weights.argmax())
    told = [f"The largest weight is at {spoken([strongest], bin_s)}"]
    told += [
        f"{words}: {spoken(places, bin_s)}"
        for words, places in (("marked most", top), ("marked least", bottom))
        if places
    ]
    return Timeline(
        bins=len(weights),
        bars=bars(weights),
        top=lane(top),
        bottom=lane(bottom),
        ticks=ticks(len(weights), bin_s),
        label="; ".join(told) + ".",
        effects=_effects("time", numbers, target),
    )


def call_rows(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> tuple[CallRow, ...]:
    """List what was asked of a clip and what it changed, without what was asked again; parameters as of `place`."""
    span = target.maximum - target.minimum
    rows = []
    for call in (one for one in calls if not one.again):
        how = one_line(call.operator.replace("_", " "), 40) or NONE
        if call.kind in ("space", "time"):
            change = numbers.masked.get((call.kind, call.part))
            size = explanation.space.size if call.kind == "space" and explanation.space is not None else 0
            where = f"{len(call.places)} of {size} cells" if size else spoken(call.places, explanation.bin_s)
            what = f"{'Place' if call.kind == 'space' else 'Time'}, {_WORDS[call.part]}"
            rows.append(CallRow(what, how, where, _FAILED if change is None else number(change * span, 3)))
        elif call.kind == "cue" and call.cue in numbers.edited:
            change = numbers.edited[call.cue]
            what = f"Cue {one_line(call.cue.replace('_', ' '), 40)}, taken away"
            rows.append(CallRow(what, how, NONE, _FAILED if change is None else signed(-change * span, 3)))
        elif call.kind == "keep":
            rows.append(CallRow("All but what is marked most, in no score", how, NONE, NONE))
        elif call.kind == "decoy":
            rows.append(CallRow("Random cells, in no score", how, plural(len(call.places), "cell"), NONE))
    return tuple(rows)


def _hidden(kind: str, calls: Sequence[ProbeCall]) -> Mapping[str, tuple[int, ...]]:
    return {call.part: call.places for call in calls if call.kind == kind}


def _effects(kind: str, numbers: ClipNumbers, target: Target) -> tuple[EffectBar, ...]:
    """Bars on a scale that all drawings of a clip share, so that they can be compared."""
    largest = max([numbers.epsilon, *(change for change in numbers.masked.values() if change is not None)])
    span = target.maximum - target.minimum
    found = [(part, numbers.masked[kind, part]) for part in PARTS if (kind, part) in numbers.masked]
    return tuple(
        EffectBar(
            part=part,
            words=_WORDS[part],
            value=_FAILED if change is None else number(change * span, 3),
            width=0.0 if change is None else round(100 * change / largest, 1),
        )
        for part, change in found
    )
