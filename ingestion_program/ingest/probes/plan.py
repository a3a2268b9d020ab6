"""Which altered clips the model is asked for: decided by recorded evidence and draws alone, before any is asked.

What is run is fixed by the task and by what was claimed, never by how fast a model is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingest.evidence import CueClaim, Evidence, Weights, area_average
from ingest.probes.draws import Draws
from ingest.probes.exchanges import MOSTLY, Exchange
from ingest.probes.settings import ProbeSettings

EXCHANGE = "exchange"
"""What takes the masked place of a clip with a second drawing."""
Kind = Literal["original", "space", "time", "cue", "keep", "decoy", "twin"]
MapPart = Literal["top", "bottom", "own", "other"]
Axis = Literal["space", "time"]
AXES: tuple[Axis, ...] = ("space", "time")
PARTNERS = 8
"""Clips whose map may be borrowed: the first one that says something else."""
GOOD_PART = 0.5
"""A unit is said to lie in the places that hold at least half as much of it as the one that holds most."""
DIGITS = 6
"""Weights that differ by less than this share of the largest are ties: rounding must not decide what is masked."""


@dataclass(frozen=True)
class CueEdit:
    """One change that neutralises a cue."""

    cue: str
    """From the task's vocabulary."""
    operator: str
    """How it is done: `copy` is a rendered copy, the others are in `edits`."""


@dataclass(frozen=True, eq=False)
class Claims:
    """What one clip's explanation points at."""

    space: Weights | None
    """One weight a cell of the grid, row by row, >= 0."""
    time: Weights | None
    """One weight a second, >= 0."""
    cues: tuple[CueClaim, ...]
    """Contributions of cues to targets."""


@dataclass(frozen=True)
class Call:
    """One call of the second pass; the fields are those of `probes.jsonl`."""

    clip_id: str
    """The clip."""
    kind: Kind
    """What is asked."""
    operator: str | None = None
    """What takes the place of what is hidden."""
    part: MapPart | None = None
    """Which part of a map is masked."""
    places: tuple[int, ...] | None = None
    """Masked cells or seconds, ascending."""
    exchanged: tuple[str, ...] | None = None
    """Names of the parts that are exchanged, those that lie mostly in the masked places; None without an exchange."""
    partner: str | None = None
    """The clip whose map was borrowed."""
    cue: str | None = None
    """The cue that is neutralised."""


def claims_of(evidence: Evidence | None) -> Claims:
    """Return what checked evidence points at; maps over time are averaged."""
    if evidence is None:
        return Claims(None, None, ())
    space = None if evidence.space is None else evidence.space.mean(axis=0).ravel()
    return Claims(space, evidence.time, evidence.cues or ())


def plan_calls(
    claims: Mapping[str, Claims],
    edits: Mapping[str, Sequence[CueEdit]],
    exchanges: Mapping[str, Exchange],
    settings: ProbeSettings,
    grid: tuple[int, int],
    draws: Draws,
) -> dict[str, list[Call]]:
    """Return the calls of every clip, clips and calls in the order in which they are asked.

    Parameters
    ----------
    claims
        For every clip with a valid prediction what its explanation points at.
    edits
        For every such clip the cue edits to make, the least important last.
    exchanges
        The second drawings of those clips that have one.
    grid
        Rows and columns of the map's grid.
    """
    circles = {axis: _circle(claims, axis, draws) for axis in AXES}
    quarter = -(-len(claims) // 4)
    lots = draws.order(claims, "lots")
    twins, extras = set(lots[:quarter]), set(lots[quarter : 2 * quarter])
    plan = {}
    for clip_id in draws.order(claims, "clips"):
        exchange = exchanges.get(clip_id)
        operator = EXCHANGE if exchange else draws.choice(settings.operators, "operator", clip_id)
        time = claims[clip_id].time
        seconds = 0 if time is None else len(time)
        units = {"space": units_in_space(exchange, grid), "time": units_in_time(exchange, seconds)}
        masks: list[Call] = []
        for axis in AXES:
            masks += _mask_calls(clip_id, axis, operator, claims, circles[axis], units[axis], settings, draws)
        if clip_id in extras and units["space"].count > 1:
            named = next((call for call in masks if call.kind == "space" and call.part == "top"), None)
            masks.append(_unpaired(clip_id, named, operator, units["space"], settings, draws))
        given = settings.edits - (clip_id in twins or clip_id in extras)
        whole = [Call(clip_id, "cue", edit.operator, cue=edit.cue) for edit in edits[clip_id][: max(0, given)]]
        plan[clip_id] = _in_order(clip_id, whole, masks, twin=clip_id in twins, draws=draws)
    return plan


def _in_order(clip_id: str, edits: list[Call], masks: list[Call], *, twin: bool, draws: Draws) -> list[Call]:
    """Return the calls of one clip as they are asked: the original and its edits in a drawn order, then the masks.

    A mask shows what the rest of the original looks like. A model that remembered it would know every copy that comes
    later for what it is, and could answer it as its explanation needs.
    """
    random = draws.generator("calls", clip_id)
    whole = [Call(clip_id, "original"), *edits]
    order = [whole[place] for place in random.permutation(len(whole))]
    if twin:
        # An explanation follows its prediction, as it does in the first pass. Being asked for one tells which call was
        # the original, so no copy comes after it.
        order = [*(call for call in order if call.kind != "original"), whole[0], Call(clip_id, "twin")]
    return order + [masks[place] for place in random.permutation(len(masks))]


def masked_places(share: float, places: int) -> int:
    """Return how many places a mask has: this share of all, at least 1, at most half; 0 where there is only one."""
    return min(max(1, round(share * places)), places // 2)


def ranking(weights: Weights, ties: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the places from the highest weight to the lowest; `ties`, a permutation, decides among equal ones."""
    scaled = np.round(weights / (weights.max() or 1.0), DIGITS)
    return np.lexsort((ties, -scaled))


@dataclass(frozen=True, eq=False)
class Units:
    """What is hidden as a whole: single cells or seconds, or parts that can be exchanged."""

    count: int
    """How many there are."""
    shares: npt.NDArray[np.float64] | None = None
    """Which share of each lies in each cell or second, shape (units, places); None where each is a place of its own."""
    parts: tuple[tuple[str, ...], ...] | None = None
    """Names of the parts that are exchanged with each; None where nothing is exchanged."""

    def weigh(self, weights: Weights) -> Weights:
        """Return the mean weight of each over the places in which it lies."""
        return weights if self.shares is None else self.shares @ weights

    def places(self, units: Collection[int]) -> tuple[int, ...]:
        """Return the cells or seconds in which a good part of these lies, ascending."""
        if self.shares is None:
            return tuple(sorted(units))
        shares = self.shares[sorted(units)]
        lies = (shares > 0) & (shares >= GOOD_PART * shares.max(axis=1, keepdims=True))
        return tuple(np.flatnonzero(lies.any(axis=0)).tolist())

    def exchanged(self, units: Collection[int]) -> tuple[str, ...] | None:
        """Return the names of the parts that are exchanged with these."""
        return None if self.parts is None else tuple(name for unit in sorted(units) for name in self.parts[unit])


def units_in_space(exchange: Exchange | None, grid: tuple[int, int]) -> Units:
    """Return the parts of a clip with a second drawing, else the cells of the grid."""
    cells = grid[0] * grid[1]
    if exchange is None:
        return Units(cells)
    shares = np.array([part.in_cells(*grid) for part in exchange.parts]).reshape(-1, cells)
    return Units(len(shares), shares, tuple((part.name,) for part in exchange.parts))


def units_in_time(exchange: Exchange | None, seconds: int) -> Units:
    """Return the seconds of a clip; what happens mostly in one of them is exchanged with it."""
    if exchange is None:
        return Units(seconds)
    parts = tuple(
        tuple(part.name for part in exchange.parts if part.in_seconds(seconds)[second] >= MOSTLY)
        for second in range(seconds)
    )
    return Units(seconds, None, parts)


def _circle(claims: Mapping[str, Claims], axis: Axis, draws: Draws) -> list[str]:
    """Return the clips with a map in a drawn order."""
    return draws.order((clip_id for clip_id in claims if getattr(claims[clip_id], axis) is not None), "partners", axis)


def _mask_calls(
    clip_id: str,
    axis: Axis,
    operator: str,
    claims: Mapping[str, Claims],
    circle: Sequence[str],
    units: Units,
    settings: ProbeSettings,
    draws: Draws,
) -> list[Call]:
    weights = getattr(claims[clip_id], axis)
    if weights is None:
        return []
    count = masked_places(draws.choice(settings.shares, "share", axis, clip_id), units.count)
    if not count:
        return []
    # The same for both maps, so that a map which all clips share differs nowhere.
    ties = draws.generator("ties", axis, clip_id).permutation(units.count)
    ranked = ranking(units.weigh(weights), ties)
    top, bottom = set(ranked[:count].tolist()), set(ranked[-count:].tolist())
    masks: list[tuple[MapPart, set[int], str | None]] = [("top", top, None), ("bottom", bottom, None)]
    at = circle.index(clip_id)
    for partner in (*circle[at + 1 :], *circle[:at])[:PARTNERS]:
        borrowed = _fit(getattr(claims[partner], axis), len(weights))
        other = set(ranking(units.weigh(borrowed), ties)[:count].tolist())
        if top != other:
            masks += [("own", top - other, partner), ("other", other - top, partner)]
            break
    means = "freeze" if axis == "time" and operator != EXCHANGE else operator
    return [
        Call(clip_id, axis, means, part, units.places(chosen), units.exchanged(chosen), lender)
        for part, chosen, lender in masks
    ]


def _unpaired(
    clip_id: str, named: Call | None, operator: str, units: Units, settings: ProbeSettings, draws: Draws
) -> Call:
    """Return the reverse of the mask ``top`` in space, all but the named places; without a map a mask by lot."""
    if named is not None:
        shown = (
            set(named.places or ()) if units.parts is None else {units.parts.index((n,)) for n in named.exchanged or ()}
        )
        chosen = [unit for unit in range(units.count) if unit not in shown]
        return Call(clip_id, "keep", operator, None, units.places(chosen), units.exchanged(chosen))
    count = masked_places(draws.choice(settings.shares, "share", "space", clip_id), units.count)
    chosen = draws.generator("decoy", clip_id).permutation(units.count)[:count].tolist()
    return Call(clip_id, "decoy", operator, None, units.places(chosen), units.exchanged(chosen))


def _fit(weights: Weights, places: int) -> Weights:
    """Return a map of another length on this many places."""
    return weights if len(weights) == places else area_average(weights[None, None], 1, places)[0, 0]
