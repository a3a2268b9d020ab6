"""Calls of a second pass over one target, and the effects that they measure."""

import numpy as np

from score.axes.effects import Effects, measure_effects
from score.read.output.probe_record import ProbeCall

UNIT = (np.zeros(1), np.ones(1))
VOCABULARY = tuple(f"cue{number}" for number in range(8))


def call(
    kind: str, value: float | None, places: tuple[int, ...] = (), cue: str = "", *, again: bool = False
) -> ProbeCall:
    """A call that was answered with this value; None: with nothing valid."""
    return ProbeCall(kind, "", places, (), cue, None if value is None else (value,), None, again)


def effects_of(calls: list[list[ProbeCall]], first: float = 0.5) -> Effects:
    """Measure the calls of each clip, of which all had the same answer in the first pass."""
    prediction = np.full((len(calls), 1), first)
    return measure_effects(calls, prediction, UNIT, np.zeros(len(calls), dtype=np.int64), VOCABULARY)
