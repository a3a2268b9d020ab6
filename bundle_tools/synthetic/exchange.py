"""Parts of a clip that can be exchanged for their counterparts: another mouth, glance, gesture or adjective.

A counterpart is as far from the ordinary on the other side: a broad smile becomes corners down, a glance aside a wide
open look, a small gesture a large one. Intensities are evenly distributed around the neutral one, so a clip with
exchanged parts could just as well have been drawn in the first place, and nothing tells it from one that was.

The clip and its exchange share seed, pose, light and grain. Outside the parts' outlines, they are the same picture,
so any mixture of their parts is a clip that could have been drawn: the one that `with_others` returns.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from bundle_tools.synthetic.body import spells
from bundle_tools.synthetic.canvas import REACH, SLOTS, Points
from bundle_tools.synthetic.clip import DURATION_S, HEIGHT, WIDTH, ClipSpec, scene_of, script_of
from bundle_tools.synthetic.person import stream
from bundle_tools.synthetic.scene import in_picture

FORMAT_VERSION = 2
"""Of ``exchanges.json``."""
_NAMES = {"smile": "mouth", "gaze": "eyes", "motion": "hand"}
_WORDS, _THING = "words", "thing"
_BEFORE_S, _AFTER_S = 0.03, 0.08
"""How much earlier than an adjective its exchange begins, and how much later it ends."""


@dataclass(frozen=True)
class DrawnPart:
    """A part of a clip that can be exchanged for its counterpart."""

    name: str
    """``mouth``, ``eyes``, ``hand``, ``words``, or ``thing`` and the index of its place."""
    outline: Points | None
    """Corners of a convex region that contains the whole part in both drawings, pixels; None if it is only heard."""
    event_s: tuple[float, float] | None
    """Begin and end within the clip, seconds; None for a part that is always there."""
    transcript: str = ""
    """The clip's words with those of the part exchanged; empty unless it is heard."""


def parts_of(spec: ClipSpec) -> list[DrawnPart]:
    """Return the parts of a clip, whose outlines do not touch."""
    when = {cue: _within(*spell) for cue, spell in spells(spec.seed, DURATION_S).items()}
    outlines = scene_of(spec).outlines()
    for cue, outline in scene_of(with_others(spec, _NAMES.values())).outlines().items():
        outlines[cue] = in_picture(np.concatenate([outlines[cue], outline])) if cue in outlines else outline
    parts: list[DrawnPart] = []
    expressive: list[Points] = []
    for cue, outline in outlines.items():
        # A hand that may come before the mouth cannot be exchanged alone.
        if len(outline) and not any(_meet(outline, other) for other in expressive):
            parts.append(DrawnPart(_NAMES[cue], outline, when[cue]))
            expressive.append(outline)
    for slot, (x, y) in enumerate(SLOTS):
        box = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * REACH + (x, y)
        outline = np.clip(box, 0.0, (WIDTH, HEIGHT))
        if not any(_meet(outline, other) for other in expressive):
            parts.append(DrawnPart(f"{_THING}-{slot}", outline, None))
    adjective = script_of(spec).adjectives[_exchanged_clause(spec)]
    event = _within(adjective.start_s - _BEFORE_S, adjective.end_s + _AFTER_S)
    return [*parts, DrawnPart(_WORDS, None, event, script_of(with_others(spec, [_WORDS])).text)]


def exchange_of(spec: ClipSpec, parts: Iterable[DrawnPart]) -> ClipSpec:
    """Return the clip in which all parts are exchanged."""
    return with_others(spec, (part.name for part in parts))


def with_others(spec: ClipSpec, names: Iterable[str]) -> ClipSpec:
    """Return the clip in which the named parts are their counterparts."""
    chosen = set(names)
    cues = {cue: 1 - getattr(spec.cues, cue) for cue, name in _NAMES.items() if name in chosen}
    places = {int(name.rpartition("-")[2]) for name in chosen if name.startswith(_THING)}
    clause = _exchanged_clause(spec) if _WORDS in chosen else spec.other_words
    return replace(spec, cues=replace(spec.cues, **cues), others=spec.others | places, other_words=clause)


def as_entry(parts: Iterable[DrawnPart], file: str, sha256: str) -> dict[str, object]:
    """Return a clip's entry of ``exchanges.json``: places in pixels, times in seconds."""
    entries = []
    for part in parts:
        entry: dict[str, object] = {"name": part.name}
        if part.outline is not None:
            entry["outline"] = np.rint(part.outline).astype(int).tolist()
        if part.event_s is not None:
            entry["event_s"] = [round(time, 2) for time in part.event_s]
        if part.transcript:
            entry["transcript"] = part.transcript
        entries.append(entry)
    return {"file": file, "sha256": sha256, "parts": entries}


def _exchanged_clause(spec: ClipSpec) -> int:
    """Return the number of a clause whose adjective is exchanged: if possible, nothing else happens in its second."""
    busy = {int((begin + end) / 2) for begin, end in spells(spec.seed, DURATION_S).values()}
    adjectives = script_of(replace(spec, other_words=None)).adjectives
    alone = [number for number, adjective in enumerate(adjectives) if int(adjective.middle_s) not in busy]
    return int(stream(spec.seed, "exchanged clause").choice(alone or range(len(adjectives))))


def _within(begin: float, end: float) -> tuple[float, float]:
    return max(begin, 0.0), min(end, float(DURATION_S))


def _meet(one: Points, other: Points) -> bool:
    area, _ = cv2.intersectConvexConvex(np.asarray(one, np.float32), np.asarray(other, np.float32))
    return bool(area > 0)
