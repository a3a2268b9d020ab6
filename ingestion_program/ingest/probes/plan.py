"""The plan of altered copies, fixed by the task, the clips and random draws before the second pass begins.

It depends neither on a model's explanations nor on its speed.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ingest.draws import KeyedRandom
from ingest.media.exchange import Exchange, Part
from ingest.settings import ProbeSettings

EXCHANGE = "exchange"
"""Operator of units."""
SPAN = "span-"
"""Start of the kind of a unit in time: spans of one clip are counted from 1."""
QUIET = "quiet"
"""Kind of a second in which nothing is exchanged: it is answered by the original."""
Kind = Literal["original", "unit", "cue", "twin"]
MOST_CALLS = 9
"""Most altered calls of a clip: the original, its edits, and units."""
GOOD_PART = 0.5
"""A part lies in the cells with at least half as much of it as the cell with most of it."""
SHARE = 0.05
"""Share of the plan's calls that are asked again."""
FEWEST, MOST = 4, 20
"""Fewest and most calls that are asked again, but only one of each clip."""


@dataclass(frozen=True)
class CueEdit:
    """One change that neutralises a cue."""

    cue: str
    """From the task's vocabulary."""
    operator: str
    """How, see `edits`."""


@dataclass(frozen=True)
class Call:
    """One call of the second pass; the fields are those of `probes.jsonl`."""

    clip_id: str
    kind: Kind
    operator: str | None = None
    unit: str | None = None
    """Kind of the region of space and time that is altered, such as `mouth`; None for other calls."""
    parts: tuple[str, ...] = ()
    """Names of the parts that are exchanged."""
    cells: tuple[int, ...] = ()
    """Where the unit lies: cells as row * columns + column, ascending; empty if it is not seen."""
    seconds: tuple[int, ...] = ()
    """When it happens: seconds [i, i + 1), ascending; empty if it is always there."""
    cue: str | None = None

    @property
    def shown(self) -> object:
        """A key of what is shown, equal for two calls of a clip that show the same."""
        if self.kind in ("original", "twin") or self.unit == QUIET:
            return ()
        return self.kind, self.parts, self.cells, self.seconds, self.cue


def plan_calls(
    seconds: Mapping[str, int],
    edits: Mapping[str, Sequence[CueEdit]],
    exchanges: Mapping[str, Exchange],
    settings: ProbeSettings,
    grid: tuple[int, int],
    draws: KeyedRandom,
) -> dict[str, list[Call]]:
    """Return the calls of every clip, clips and calls in the order in which they are asked.

    `seconds`: length of every clip with a valid prediction. `edits`: cue edits of every such clip, the least important
    last.
    """
    twins = set(draws.order(seconds, "lots")[: -(-len(seconds) // 4)])
    plan = {}
    for clip_id in draws.order(seconds, "clips"):
        edited = settings.edits - (clip_id in twins)
        whole = [Call(clip_id, "cue", edit.operator, cue=edit.cue) for edit in edits[clip_id][: max(0, edited)]]
        units = []
        if clip_id in exchanges:
            left = MOST_CALLS - 1 - settings.edits
            made = filmed_units if exchanges[clip_id].joins_s else exchanged_units
            units = made(clip_id, exchanges[clip_id], seconds[clip_id], grid, left, draws)
        plan[clip_id] = _in_order(clip_id, whole, units, twin=clip_id in twins, draws=draws)
    return plan


def group_calls(calls: Iterable[Call]) -> list[list[Call]]:
    """Group the calls of one clip that show the same, as a quiet second and the original: one answer serves all."""
    gathered: dict[object, list[Call]] = {}
    for call in calls:
        gathered.setdefault(call.shown, []).append(call)
    return list(gathered.values())


def choose_repeats(plan: Mapping[str, Sequence[Call]], answered: Collection[Call], draws: KeyedRandom) -> list[Call]:
    """Return the calls to ask again, in a process that has not seen their clips otherwise, in the order of asking.

    The copy is identical, so a model that uses only the copy gives the same answer; a model that remembers the clip may
    not give it. At a second call on a clip, the model could remember the first. Every other one is a cue edit if the
    clip has one, because memory pays most there.

    `plan`: the calls of every clip in the order in which they were asked. The first one of a clip is never chosen,
    because there was nothing to remember when it was asked.
    """
    count = min(MOST, max(FEWEST, math.ceil(SHARE * sum(map(len, plan.values())))))
    chosen: list[Call] = []
    for clip_id in draws.order(plan, "repeats"):
        later = [calls[0] for calls in group_calls(plan[clip_id])[1:] if calls[0] in answered]
        edits = [call for call in later if call.kind == "cue"]
        if later and len(chosen) < count:
            chosen.append(draws.choice(later if len(chosen) % 2 else edits or later, "repeat", clip_id))
    return chosen


def exchanged_units(
    clip_id: str, exchange: Exchange, seconds: int, grid: tuple[int, int], most: int, draws: KeyedRandom
) -> list[Call]:
    """Return the units of a clip with an exchange, and a quiet second if there is one.

    Each part with an event is a unit, and the others are one together. `seconds`: the clip's length. `most`: most units
    that are exchanged; if there are more, some are drawn.
    """
    parts = [part for part in exchange.parts if part.transcript is not None or part.in_cells(*grid).any()]
    events = [part for part in parts if part.event_s is not None]
    things = [part for part in parts if part.event_s is None]
    units = []
    for part in events:
        # The second that holds most of its event, the first of several; none if the length is not known.
        busiest = (int(part.in_seconds(seconds).argmax()),) if seconds else ()
        units.append(_exchanged(clip_id, part.kind, [part], grid, busiest))
    if things:
        units.append(_exchanged(clip_id, f"{min(part.kind for part in things)}s", things, grid))
    free = sorted(set(range(seconds)).difference(*(unit.seconds for unit in units)))
    # Better one without the beginning or end of an event.
    calm = [second for second in free if not any(part.in_seconds(seconds)[second] for part in events)]
    kept = draws.order((unit.parts[0] for unit in units), "units", clip_id)[:most]
    chosen = [unit for unit in units if unit.parts[0] in kept]
    if units and free:
        second = draws.choice(calm or free, "quiet", clip_id)
        chosen.append(Call(clip_id, "unit", EXCHANGE, QUIET, seconds=(second,)))
    return chosen


def _exchanged(
    clip_id: str, kind: str, parts: Sequence[Part], grid: tuple[int, int], seconds: tuple[int, ...] = ()
) -> Call:
    shares = np.array([part.in_cells(*grid) for part in parts])
    lies = (shares > 0) & (shares >= GOOD_PART * shares.max(axis=1, keepdims=True))
    cells = tuple(np.flatnonzero(lies.any(axis=0)).tolist())
    return Call(clip_id, "unit", EXCHANGE, kind, tuple(sorted(part.name for part in parts)), cells, seconds)


def filmed_units(
    clip_id: str, exchange: Exchange, seconds: int, grid: tuple[int, int], room: int, draws: KeyedRandom
) -> list[Call]:
    """Return the units of a clip with joins: each part for all of its time, and all parts for each span.

    See `exchanged_units`. A second belongs to the span that its middle lies in.
    """
    units = [_exchanged(clip_id, part.kind, [part], grid) for part in exchange.parts]
    names = tuple(sorted(part.name for part in exchange.parts))
    for number, (start, end) in enumerate(exchange.spans_s(float(seconds)), 1):
        within = tuple(second for second in range(seconds) if start <= second + 0.5 < end)
        if within:
            units.append(Call(clip_id, "unit", EXCHANGE, f"{SPAN}{number}", names, seconds=within))
    kept = draws.order((str(unit.unit) for unit in units), "units", clip_id)[:room]
    return [unit for unit in units if unit.unit in kept]


def _in_order(clip_id: str, edits: list[Call], units: list[Call], *, twin: bool, draws: KeyedRandom) -> list[Call]:
    """Return the calls of one clip in order: the original and its edits in random order, then the units.

    A copy with an altered unit shows most of the original. A model that remembered it could recognise every later copy,
    and answer as its explanation needs.
    """
    random = draws.generator("calls", clip_id)
    whole = [Call(clip_id, "original"), *edits]
    order = [whole[number] for number in random.permutation(len(whole))]
    if twin:
        # An explanation follows its prediction, as it does in the first pass. Being asked for one tells which call was
        # the original, so no copy comes after it.
        order = [*(call for call in order if call.kind != "original"), whole[0], Call(clip_id, "twin")]
    return order + [units[number] for number in random.permutation(len(units))]
