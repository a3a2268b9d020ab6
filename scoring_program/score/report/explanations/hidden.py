"""The second pass on one clip as drawings and numbers: units and their effects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from score.axes.effects import Unit
from score.evaluation.clip_numbers import ClipNumbers
from score.read.output.explanation_record import Explanation
from score.read.output.probe_record import ProbeCall
from score.report.drawings.outline import outline, whereabouts
from score.report.drawings.timeline import bars, lane, spoken, ticks
from score.report.numbers import NONE, number, plural, signed
from score.settings import Target
from score.visible import in_words, one_line

_FAILED = "no valid answer"


Effects = tuple[tuple[str, str, str, float], ...]
"""(``top`` for the most marked unit, ``bottom`` for the least, else empty; what it is; its joint effect as a share of
the range; the effect as a percentage of the clip's largest)."""


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


def place(explanation: Explanation, numbers: ClipNumbers) -> Drawing | None:
    """Draw the explanation's map; None without one."""
    if explanation.space is None:
        return None
    rows, columns = explanation.space.shape
    top, bottom = _most_and_least("space", numbers)
    told = [
        f"{words}: {len(places)} of {rows * columns} cells, mostly {whereabouts(places, rows, columns)}"
        for words, places in (("Marked most", top), ("marked least", bottom))
        if places
    ]

    def where(unit: Unit) -> str:
        return _kind(unit) if unit.parts else whereabouts(unit.cells, rows, columns)

    return Drawing(
        rows=rows,
        columns=columns,
        top=outline(top, rows, columns) or "",
        bottom=outline(bottom, rows, columns) or "",
        label="; ".join(told) + "." if told else "The map was not tested.",
        effects=_effects("space", numbers, where),
    )


def timeline(explanation: Explanation, numbers: ClipNumbers) -> Drawing | None:
    """Draw the explanation's timeline; None without one."""
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
        effects=_effects("time", numbers, lambda unit: f"{_kind(unit)}, {spoken(unit.seconds, bin_s)}"),
        bars=bars(weights),
        ticks=ticks(len(weights), bin_s),
    )


def call_rows(
    explanation: Explanation, calls: Sequence[ProbeCall], numbers: ClipNumbers, target: Target
) -> Iterator[tuple[str, str, str, str]]:
    """List the calls of a clip, without repeats.

    `target`: the target on which the claims are judged; changes by an edit are shown in its range. Yields what was
    altered, how, where, and the change of the prediction: of a unit, the joint effect as a share of the range.
    """
    span = target.maximum - target.minimum
    effects = {one.unit: one.effect for units in numbers.units.values() for one in units}
    for call in (one for one in calls if not one.again):
        how = in_words(call.operator, 40) or NONE
        if call.kind == "unit":
            unit = next((one for one in effects if (one.kind, one.cells, one.seconds) == _names(call)), None)
            change = None if unit is None else effects[unit]
            where = [plural(len(call.cells), "cell")] if call.cells else []
            where += [spoken(call.seconds, explanation.bin_s)] if call.seconds else []
            found = _FAILED if call.prediction is None else NONE if change is None else number(change, 3)
            yield in_words(call.unit, 40), how, ", ".join(where), found
        elif call.kind == "cue" and call.cue in numbers.edited:
            change = numbers.edited[call.cue]
            what = f"Cue {in_words(call.cue, 40)}, made neutral"
            yield what, how, NONE, _FAILED if change is None else signed(-change * span, 3)


def _names(call: ProbeCall) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    return call.unit, call.cells, call.seconds


def _kind(unit: Unit) -> str:
    return one_line(unit.kind.replace("-", " "), 60)


def _most_and_least(kind: str, numbers: ClipNumbers) -> tuple[tuple[int, ...], tuple[int, ...]]:
    units = [one.unit.cells if kind == "space" else one.unit.seconds for one in numbers.units.get(kind, ())]
    return (units[0], units[-1]) if len(units) > 1 else ((), ())


def _effects(kind: str, numbers: ClipNumbers, where: Callable[[Unit], str]) -> Effects:
    """Draw bars, the most marked unit first, on one scale for all drawings of a clip."""
    changes = [one.effect for units in numbers.units.values() for one in units if one.effect is not None]
    largest = max([numbers.joint_epsilon, *changes])
    units = numbers.units.get(kind, ())
    ends = {0: ("top", "marked most, "), len(units) - 1: ("bottom", "marked least, ")} if len(units) > 1 else {}
    bars = []
    for place, one in enumerate(units):
        part, words = ends.get(place, ("", ""))
        value = _FAILED if one.effect is None else number(one.effect, 3)
        width = 0.0 if one.effect is None else round(100 * one.effect / largest, 1)
        bars.append((part, f"{words}{where(one.unit)}", value, width))
    return tuple(bars)
