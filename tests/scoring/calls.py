"""Calls of a second pass over one target, and the effects that they measure."""

import numpy as np

from score.axes.effects import Effects, measure_effects
from score.read.answers import ProbeCall

SCALE = (np.zeros(1), np.ones(1))
VOCABULARY = tuple(f"cue{number}" for number in range(8))


def call(kind: str, value: float | None, cue: str = "", *, again: bool = False) -> ProbeCall:
    """A call that was answered with this value; None: with nothing valid."""
    return ProbeCall(kind, "", "", (), (), (), cue, None if value is None else (value,), None, again)


def unit(
    kind: str,
    value: float | None,
    cells: tuple[int, ...] = (),
    seconds: tuple[int, ...] = (),
    *,
    again: bool = False,
) -> ProbeCall:
    """A call for a unit that was answered with this value."""
    answer = None if value is None else (value,)
    return ProbeCall("unit", "exchange", kind, (kind,), cells, seconds, "", answer, None, again)


def effects_of(calls: list[list[ProbeCall]]) -> Effects:
    """Measure the calls of each clip."""
    return measure_effects(calls, SCALE, np.zeros(len(calls), dtype=np.int64), 0, VOCABULARY)
