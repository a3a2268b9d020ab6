"""Which altered clips the model is asked for: decided by recorded evidence and draws alone, before any is asked.

What is run is fixed by the task and by what was claimed, never by how fast a model is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingest.evidence import CueClaim, Evidence, Weights, area_average
from ingest.probes.draws import Draws
from ingest.probes.settings import ProbeSettings

Kind = Literal["original", "space", "time", "cue", "keep", "decoy", "twin"]
Part = Literal["top", "bottom", "own", "other"]
Axis = Literal["space", "time"]
AXES: tuple[Axis, ...] = ("space", "time")
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
    part: Part | None = None
    """Which part of a map is masked."""
    places: tuple[int, ...] | None = None
    """Masked cells or seconds, ascending."""
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
    settings: ProbeSettings,
    cells: int,
    draws: Draws,
) -> dict[str, list[Call]]:
    """Return the calls of every clip, clips and calls in the order in which they are asked.

    Parameters
    ----------
    claims
        For every clip with a valid prediction what its explanation points at.
    edits
        For every such clip the cue edits to make, the least important last.
    cells
        Places of the grid.
    """
    partners = {axis: _partners(claims, axis, draws) for axis in AXES}
    quarter = -(-len(claims) // 4)
    lots = draws.order(claims, "lots")
    twins, extras = set(lots[:quarter]), set(lots[quarter : 2 * quarter])
    plan = {}
    for clip_id in draws.order(claims, "clips"):
        operator = draws.choice(settings.operators, "operator", clip_id)
        masks: list[Call] = []
        for axis in AXES:
            masks += _mask_calls(clip_id, axis, operator, claims, partners[axis], settings, draws)
        if clip_id in extras and cells > 1:
            masks.append(_keep(masks, cells) or _decoy(clip_id, operator, cells, settings, draws))
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


def _partners(claims: Mapping[str, Claims], axis: Axis, draws: Draws) -> dict[str, str]:
    """Return for every clip with a map another one: the next in a drawn circle."""
    circle = draws.order(
        (clip_id for clip_id in claims if getattr(claims[clip_id], axis) is not None), "partners", axis
    )
    return dict(zip(circle, circle[1:] + circle[:1], strict=True)) if len(circle) > 1 else {}


def _mask_calls(
    clip_id: str,
    axis: Axis,
    operator: str,
    claims: Mapping[str, Claims],
    partners: Mapping[str, str],
    settings: ProbeSettings,
    draws: Draws,
) -> list[Call]:
    weights = getattr(claims[clip_id], axis)
    if weights is None:
        return []
    count = masked_places(draws.choice(settings.shares, "share", axis, clip_id), len(weights))
    if not count:
        return []
    # The same for both maps, so that a map which all clips share differs nowhere.
    ties = draws.generator("ties", axis, clip_id).permutation(len(weights))
    ranked = ranking(weights, ties)
    top, bottom = set(ranked[:count].tolist()), set(ranked[-count:].tolist())
    parts: list[tuple[Part, set[int], str | None]] = [("top", top, None), ("bottom", bottom, None)]
    partner = partners.get(clip_id)
    if partner is not None:
        borrowed = _fit(getattr(claims[partner], axis), len(weights))
        other = set(ranking(borrowed, ties)[:count].tolist())
        if top != other:
            parts += [("own", top - other, partner), ("other", other - top, partner)]
    means = operator if axis == "space" else "freeze"
    return [Call(clip_id, axis, means, part, tuple(sorted(places)), lender) for part, places, lender in parts]


def _fit(weights: Weights, places: int) -> Weights:
    """Return a map of another length on this many places."""
    return weights if len(weights) == places else area_average(weights[None, None], 1, places)[0, 0]


def _keep(masks: Iterable[Call], cells: int) -> Call | None:
    """Return the reverse of the mask ``top`` in space: everything but the named places is hidden."""
    for call in masks:
        if call.kind == "space" and call.part == "top":
            rest = sorted(set(range(cells)).difference(call.places or ()))
            return Call(call.clip_id, "keep", call.operator, places=tuple(rest))
    return None


def _decoy(clip_id: str, operator: str, cells: int, settings: ProbeSettings, draws: Draws) -> Call:
    count = masked_places(draws.choice(settings.shares, "share", "space", clip_id), cells)
    places = draws.generator("decoy", clip_id).permutation(cells)[:count].tolist()
    return Call(clip_id, "decoy", operator, places=tuple(sorted(places)))
