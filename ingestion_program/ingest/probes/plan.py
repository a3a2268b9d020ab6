"""The plan of altered copies, fixed by recorded evidence and random draws before the second pass begins.

It depends on the task and the claims, never on a model's speed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ingest.media.altered.draws import Draws
from ingest.media.altered.exchange import MOSTLY, Exchange, Part
from ingest.model.evidence import CueClaim, Weights
from ingest.settings import ProbeSettings

EXCHANGE = "exchange"
"""Operator of clips with a second drawing."""
Kind = Literal["original", "space", "time", "cue", "twin"]
Axis = Literal["space", "time"]
UNITS = 6
"""Most parts of a picture, or of a clip's length, that are hidden one at a time."""
BLOCKS = (2, 3)
"""Rows and columns of blocks into which a picture is cut if the clip has no exchange."""
GOOD_PART = 0.5
"""A unit lies in the cells with at least half as much of it as the cell with most of it."""


@dataclass(frozen=True)
class CueEdit:
    """One change that neutralises a cue."""

    cue: str
    """From the task's vocabulary."""
    operator: str
    """How: `copy` is a rendered copy, the others are defined in `edits`."""


@dataclass(frozen=True, eq=False)
class Claims:
    """The places, seconds and cues that one clip's explanation marks."""

    space: Weights | None
    """One weight a cell of the grid, row by row, >= 0."""
    time: Weights | None
    """One weight a second, >= 0."""
    cues: tuple[CueClaim, ...]


@dataclass(frozen=True)
class Call:
    """One call of the second pass; the fields are those of `probes.jsonl`."""

    clip_id: str
    kind: Kind
    operator: str | None = None
    places: tuple[int, ...] | None = None
    """Hidden cells or seconds, ascending."""
    exchanged: tuple[str, ...] | None = None
    """Names of the parts that are exchanged; None without an exchange."""
    cue: str | None = None

    @property
    def shown(self) -> object:
        """A key of what is shown, equal for two calls of a clip that show the same."""
        if self.kind in ("original", "twin") or self.exchanged == ():
            return ()
        return self.exchanged or (self.kind, self.places, self.cue)


def claims_of(evidence: Mapping[str, Any] | None) -> Claims:
    """Return what recorded evidence marks; maps over time are averaged."""
    told = evidence or {}
    space, time, cues = (told.get(name) for name in ("space", "time", "cues"))
    return Claims(
        None if space is None else np.asarray(space["weights"], np.float64).mean(axis=0).ravel(),
        None if time is None else np.asarray(time["weights"], np.float64),
        tuple(CueClaim(**claim) for claim in cues or ()),
    )


def plan_calls(
    claims: Mapping[str, Claims],
    edits: Mapping[str, Sequence[CueEdit]],
    exchanges: Mapping[str, Exchange],
    settings: ProbeSettings,
    grid: tuple[int, int],
    draws: Draws,
) -> dict[str, list[Call]]:
    """Return the calls of every clip, clips and calls in the order in which they are asked.

    `claims`: what the explanation of every clip with a valid prediction marks. `edits`: cue edits of every such clip,
    the least important last.
    """
    twins = set(draws.order(claims, "lots")[: -(-len(claims) // 4)])
    plan = {}
    for clip_id in draws.order(claims, "clips"):
        exchange = exchanges.get(clip_id)
        given = settings.edits - (clip_id in twins)
        whole = [Call(clip_id, "cue", edit.operator, cue=edit.cue) for edit in edits[clip_id][: max(0, given)]]
        operator = EXCHANGE if exchange else draws.choice(settings.operators, "operator", clip_id)
        space, time = claims[clip_id].space, claims[clip_id].time
        places = [] if space is None else units_in_space(exchange, grid, draws.generator("units", clip_id))
        spans = [] if time is None else units_in_time(exchange, len(time))
        masks = [Call(clip_id, "space", operator, *unit) for unit in places if len(places) > 1]
        masks += [Call(clip_id, "time", EXCHANGE if exchange else "freeze", *span) for span in spans if len(spans) > 1]
        plan[clip_id] = _in_order(clip_id, whole, masks, twin=clip_id in twins, draws=draws)
    return plan


def askings(calls: Iterable[Call]) -> list[list[Call]]:
    """Group the calls of one clip that show the same: one answer serves all of them.

    For instance, the event of one second may also be a part of the picture, and a second without events shows the
    original.
    """
    gathered: dict[object, list[Call]] = {}
    for call in calls:
        gathered.setdefault(call.shown, []).append(call)
    return list(gathered.values())


def _in_order(clip_id: str, edits: list[Call], masks: list[Call], *, twin: bool, draws: Draws) -> list[Call]:
    """Return the calls of one clip in order: the original and its edits in random order, then the masks.

    A masked copy shows most of the original. A model that remembered it could recognise every later copy, and answer as
    its explanation needs.
    """
    random = draws.generator("calls", clip_id)
    whole = [Call(clip_id, "original"), *edits]
    order = [whole[place] for place in random.permutation(len(whole))]
    if twin:
        # An explanation follows its prediction, as it does in the first pass. Being asked for one tells which call was
        # the original, so no copy comes after it.
        order = [*(call for call in order if call.kind != "original"), whole[0], Call(clip_id, "twin")]
    return order + [masks[place] for place in random.permutation(len(masks))]


Unit = tuple[tuple[int, ...], tuple[str, ...] | None]
"""What is hidden together: cells or seconds, ascending; and the parts that are exchanged, None without an exchange."""


def units_in_space(exchange: Exchange | None, grid: tuple[int, int], lots: np.random.Generator) -> list[Unit]:
    """Return the units of a picture, at most UNITS: parts that can be exchanged, else blocks of cells.

    Each part with an event is a unit of its own, as long as there is room. The other parts are dealt into the remaining
    units at random.
    """
    if exchange is None:
        cells = np.arange(grid[0] * grid[1]).reshape(grid)
        blocks = [
            block for rows in np.array_split(cells, BLOCKS[0]) for block in np.array_split(rows, BLOCKS[1], axis=1)
        ]
        return [(tuple(block.ravel().tolist()), None) for block in blocks if block.size]
    seen = [part for part in exchange.parts if part.in_cells(*grid).any()]
    alone = [part for part in seen if part.event_s is not None][: UNITS - 1]
    others = [part for part in seen if part not in alone]
    room = UNITS - len(alone)
    dealt = [others[place] for place in lots.permutation(len(others))]
    groups = [dealt[first::room] for first in range(min(room, len(dealt)))]
    return [_together(group, grid) for group in (*([part] for part in alone), *groups)]


def _together(parts: Sequence[Part], grid: tuple[int, int]) -> Unit:
    shares = np.array([part.in_cells(*grid) for part in parts])
    lies = (shares > 0) & (shares >= GOOD_PART * shares.max(axis=1, keepdims=True))
    return tuple(np.flatnonzero(lies.any(axis=0)).tolist()), tuple(sorted(part.name for part in parts))


def units_in_time(exchange: Exchange | None, seconds: int) -> list[Unit]:
    """Return spans of whole seconds, at most UNITS; parts whose event lies mostly in a span are exchanged with it."""
    units: list[Unit] = []
    for span in np.array_split(np.arange(seconds), min(seconds, UNITS)):
        names = None
        if exchange is not None:
            names = tuple(
                sorted(part.name for part in exchange.parts if part.in_seconds(seconds)[span].sum() >= MOSTLY)
            )
        units.append((tuple(span.tolist()), names))
    return units
