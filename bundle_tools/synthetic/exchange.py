"""Parts of a clip that can be exchanged: the same clip drawn with another mouth, other eyes, no gesture, other things.

The clip and its exchange share seed, pose, light and grain. Outside the parts' outlines, they are the same picture,
so any mixture of their parts is a clip that could have been drawn: the one that `with_others` returns.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from bundle_tools.synthetic.clip import DURATION_S, HEIGHT, WIDTH, ClipSpec, scene_of
from bundle_tools.synthetic.drawing.acting import spells
from bundle_tools.synthetic.drawing.canvas import Points
from bundle_tools.synthetic.drawing.room import REACH, SLOTS
from bundle_tools.synthetic.people.cues import NEUTRAL

CALM = {"smile": NEUTRAL, "gaze": 1.0, "motion": 0.0}
"""Intensities at which nothing happens: a straight mouth, no glance aside, no gesture."""
_NAMES = {"smile": "mouth", "gaze": "eyes", "motion": "hand"}
_THING = "thing"


@dataclass(frozen=True)
class Part:
    """A part of the picture that can be exchanged for another drawing of it."""

    name: str
    """``mouth``, ``eyes``, ``hand``, or ``thing`` and the index of its place."""
    outline: Points
    """Corners of a convex region that contains the whole part, pixels."""
    event_s: tuple[float, float] | None
    """Begin and end within the clip, seconds; None for a part that is always there."""


def parts_of(spec: ClipSpec) -> list[Part]:
    """Return the parts of a clip, whose outlines do not touch."""
    when = spells(spec.seed, DURATION_S)
    parts = [
        Part(_NAMES[cue], outline, (max(when[cue][0], 0.0), min(when[cue][1], float(DURATION_S))))
        for cue, outline in scene_of(spec).outlines().items()
        if len(outline)
    ]
    expressive = [part.outline for part in parts]
    for place, (x, y) in enumerate(SLOTS):
        box = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * REACH + (x, y)
        outline = np.clip(box, 0.0, (WIDTH, HEIGHT))
        if not any(_meet(outline, other) for other in expressive):
            parts.append(Part(f"{_THING}-{place}", outline, None))
    return parts


def exchange_of(spec: ClipSpec, parts: Iterable[Part]) -> ClipSpec:
    """Return the clip in which all parts are exchanged."""
    return with_others(spec, (part.name for part in parts))


def with_others(spec: ClipSpec, names: Iterable[str]) -> ClipSpec:
    """Return the clip in which the named parts are those of the exchange."""
    given = set(names)
    calm = {cue: CALM[cue] for cue, name in _NAMES.items() if name in given}
    places = {int(name.rpartition("-")[2]) for name in given if name.startswith(_THING)}
    return replace(spec, cues=replace(spec.cues, **calm), others=spec.others | places)


def as_entry(parts: Iterable[Part], file: str, sha256: str) -> dict[str, object]:
    """Return a clip's entry of ``exchanges.json``: places in pixels, times in seconds."""
    entries = []
    for part in parts:
        entry: dict[str, object] = {"name": part.name, "outline": np.rint(part.outline).astype(int).tolist()}
        if part.event_s is not None:
            entry["event_s"] = [round(time, 2) for time in part.event_s]
        entries.append(entry)
    return {"file": file, "sha256": sha256, "parts": entries}


def _meet(one: Points, other: Points) -> bool:
    area, _ = cv2.intersectConvexConvex(np.asarray(one, np.float32), np.asarray(other, np.float32))
    return bool(area > 0)
