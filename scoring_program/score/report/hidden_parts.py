"""What was hidden of one clip, and what that changed: the calls of the second pass as drawings and as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from score.evaluation.clip_numbers import ClipNumbers, HiddenNumbers
from score.read.output.explanation_record import Explanation
from score.read.output.probe_record import ProbeCall
from score.report.content.explanations import CallRow, EffectBar, Place, Timeline
from score.report.numbers import NONE, number, signed
from score.report.place import outline, whereabouts
from score.report.timeline import bars, lane, spoken, ticks
from score.settings import Target
from score.visible import one_line

_FAILED = "no valid answer"


def place(explanation: Explanation, numbers: ClipNumbers, target: Target) -> Place | None:
    """Draw where the explanation says the model looked; None without a map.

    Parameters
    ----------
    explanation
        What was said.
    numbers
        Of the clip.
    target
        The target on which the explanation is judged; changes are shown in its range.
    """
    if explanation.space is None:
        return None
    rows, columns = explanation.space.shape
    top, bottom = _most_and_least("space", numbers)
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
        effects=_effects("space", numbers, target, lambda one: _what(one) or whereabouts(one.places, rows, columns)),
    )


def timeline(explanation: Explanation, numbers: ClipNumbers, target: Target) -> Timeline | None:
    """Draw when the explanation says the model looked; parameters as of `place`; None without weights."""
    if explanation.time is None:
        return None
    weights, bin_s = explanation.time, explanation.bin_s
    top, bottom = _most_and_least("time", numbers)
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
        effects=_effects("time", numbers, target, lambda one: spoken(one.places, bin_s)),
    )


def call_rows(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> tuple[CallRow, ...]:
    """List the calls of a clip and what they changed, without what was asked again; other parameters as of `place`."""
    span = target.maximum - target.minimum
    rows = []
    for call in (one for one in calls if not one.again):
        how = one_line(call.operator.replace("_", " "), 40) or NONE
        if call.kind in ("space", "time"):
            hidden = numbers.hidden.get(call.kind, ())
            named = call.places, call.exchanged
            change = next((one.change for one in hidden if (one.places, one.parts) == named), None)
            size = explanation.space.size if call.kind == "space" and explanation.space is not None else 0
            where = f"{len(call.places)} of {size} cells" if size else spoken(call.places, explanation.bin_s)
            what = "Place" if call.kind == "space" else "Time"
            rows.append(CallRow(what, how, where, _FAILED if change is None else number(change * span, 3)))
        elif call.kind == "cue" and call.cue in numbers.edited:
            change = numbers.edited[call.cue]
            what = f"Cue {one_line(call.cue.replace('_', ' '), 40)}, taken away"
            rows.append(CallRow(what, how, NONE, _FAILED if change is None else signed(-change * span, 3)))
    return tuple(rows)


def _most_and_least(kind: str, numbers: ClipNumbers) -> tuple[tuple[int, ...], tuple[int, ...]]:
    hidden = numbers.hidden.get(kind, ())
    return (hidden[0].places, hidden[-1].places) if len(hidden) > 1 else ((), ())


def _what(hidden: HiddenNumbers) -> str:
    """Name the parts that were exchanged."""
    return one_line(", ".join(part.replace("-", " ") for part in hidden.parts), 60)


def _effects(
    kind: str, numbers: ClipNumbers, target: Target, where: Callable[[HiddenNumbers], str]
) -> tuple[EffectBar, ...]:
    """Bars on a scale that all drawings of a clip share, so that they can be compared; what is marked most first."""
    changes = [one.change for hidden in numbers.hidden.values() for one in hidden if one.change is not None]
    largest = max([numbers.epsilon, *changes])
    span = target.maximum - target.minimum
    hidden = numbers.hidden.get(kind, ())
    ends = {0: ("top", "marked most, "), len(hidden) - 1: ("bottom", "marked least, ")} if len(hidden) > 1 else {}
    bars = []
    for place, one in enumerate(hidden):
        part, words = ends.get(place, ("", ""))
        value = _FAILED if one.change is None else number(one.change * span, 3)
        width = 0.0 if one.change is None else round(100 * one.change / largest, 1)
        bars.append(EffectBar(part, f"{words}{where(one)}", value, width))
    return tuple(bars)
