"""The second pass on one clip as drawings and numbers: hidden places and their effects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from score.evaluation.clip_numbers import ClipNumbers, HiddenNumbers
from score.read.output.explanation_record import Explanation
from score.read.output.probe_record import ProbeCall
from score.report.drawings.outline import outline, whereabouts
from score.report.drawings.timeline import bars, lane, spoken, ticks
from score.report.numbers import NONE, number, signed
from score.settings import Target
from score.visible import in_words, one_line

_FAILED = "no valid answer"


Effects = tuple[tuple[str, str, str, float], ...]
"""(``top`` for the most marked place, ``bottom`` for the least, else empty; what was hidden; the change; the change as
a percentage of the clip's largest)."""


@dataclass(frozen=True)
class Drawing:
    """Cells of the frame, or a row of time bins, as path data in units of cells or bins."""

    rows: int
    """Rows of the grid; 1 for bins."""
    columns: int
    """Columns of the grid, or number of bins."""
    top: str
    """The most marked place: an outline of cells, or blocks of bins 1 high; may be empty."""
    bottom: str
    """The least marked place."""
    label: str
    """Text alternative."""
    effects: Effects
    """Effects of hiding; empty if not measured."""
    bars: str = ""
    """Weights of bins, drawn 100 high."""
    ticks: tuple[tuple[float, str], ...] = ()
    """(percentage of the length, seconds as text), for bins."""


def place(explanation: Explanation, numbers: ClipNumbers, target: Target) -> Drawing | None:
    """Draw the explanation's map; None without one.

    `target`: the target on which the explanation is judged; changes are shown in its range.
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

    def where(hidden: HiddenNumbers) -> str:
        parts = one_line(", ".join(part.replace("-", " ") for part in hidden.parts), 60)
        return parts or whereabouts(hidden.places, rows, columns)

    return Drawing(
        rows=rows,
        columns=columns,
        top=outline(top, rows, columns) or "",
        bottom=outline(bottom, rows, columns) or "",
        label="; ".join(told) + "." if told else "The map was not tested.",
        effects=_effects("space", numbers, target, where),
    )


def timeline(explanation: Explanation, numbers: ClipNumbers, target: Target) -> Drawing | None:
    """Draw the explanation's timeline; parameters as for `place`; None without one."""
    if explanation.time is None:
        return None
    weights, bin_s = explanation.time, explanation.bin_s
    top, bottom = _most_and_least("time", numbers)
    told = [
        f"{words} {spoken(places, bin_s)}"
        for words, places in (
            ("The largest weight is at", (int(weights.argmax()),)),
            ("marked most:", top),
            ("marked least:", bottom),
        )
        if places
    ]
    return Drawing(
        rows=1,
        columns=len(weights),
        top=lane(top),
        bottom=lane(bottom),
        label="; ".join(told) + ".",
        effects=_effects("time", numbers, target, lambda one: spoken(one.places, bin_s)),
        bars=bars(weights),
        ticks=ticks(len(weights), bin_s),
    )


def call_rows(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> Iterator[tuple[str, str, str, str]]:
    """List the calls of a clip, without repeats; other parameters as for `place`.

    Yields what was altered, how, how much or where, and the change of the prediction.
    """
    span = target.maximum - target.minimum
    for call in (one for one in calls if not one.again):
        how = in_words(call.operator, 40) or NONE
        if call.kind in ("space", "time"):
            named = call.places, call.exchanged
            found = (one.change for one in numbers.hidden.get(call.kind, ()) if (one.places, one.parts) == named)
            change = next(found, None)
            size = explanation.space.size if call.kind == "space" and explanation.space is not None else 0
            where = f"{len(call.places)} of {size} cells" if size else spoken(call.places, explanation.bin_s)
            what = "Place" if call.kind == "space" else "Time"
            yield what, how, where, _FAILED if change is None else number(change * span, 3)
        elif call.kind == "cue" and call.cue in numbers.edited:
            change = numbers.edited[call.cue]
            what = f"Cue {in_words(call.cue, 40)}, made neutral"
            yield what, how, NONE, _FAILED if change is None else signed(-change * span, 3)


def _most_and_least(kind: str, numbers: ClipNumbers) -> tuple[tuple[int, ...], tuple[int, ...]]:
    hidden = numbers.hidden.get(kind, ())
    return (hidden[0].places, hidden[-1].places) if len(hidden) > 1 else ((), ())


def _effects(kind: str, numbers: ClipNumbers, target: Target, where: Callable[[HiddenNumbers], str]) -> Effects:
    """Draw bars, the most marked place first, on one scale for all drawings of a clip."""
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
        bars.append((part, f"{words}{where(one)}", value, width))
    return tuple(bars)
