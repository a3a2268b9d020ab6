"""Rules about exchanges: the second drawing of a clip, in which every part is another (docs/data_format.md)."""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.rules.clips.copies import KNOWN_BY_FORM
from bundle_tools.challenge.rules.clips.listed import check_extra, check_files, check_tags
from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.challenge.rules.clips.video import Video, some_frames
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown
from bundle_tools.console import Progress

FORM = "{format_version: 1, clips: {clip_id: {file, sha256, parts: [{name, outline, event_s}]}}}"
SEEN = 10.0
"""Mean difference of a block of 20 x 20 pixels, of 255, that is no loss of the encoder: that makes up to 5.4."""
BLOCK = 20
ABSENCE = Absence("exchanges-missing", FAILS_LATER, "Generate it, or leave the key out.")
SEAM = "A mixture of both shows that something was altered, and a model could answer to that."


def check_exchanges(
    side: Side, clips: Mapping[str, str], videos: dict[str, Video], progress: Progress | None = None
) -> Iterator[Finding]:
    """Find exchanges that are missing, broken, unlike their clip, or different from it outside of their parts.

    Parameters
    ----------
    side
        The input data.
    clips
        File of every clip of the list, by its id.
    videos
        What each readable clip says of itself, by id.
    progress
        Told of each exchange.
    """
    name = yield from find_named(side, "exchanges", side.settings.get("exchanges"), ABSENCE)
    if name is None:
        return
    where = side.at(name)
    entries = _read(side, name)
    if entries is None:
        yield Finding("exchanges-form", "error", where, f"Expected {FORM}.", FAILS_LATER, "Write the list again.")
        return
    for clip in entries.keys() - clips.keys():
        what = f"{shown(clip)} is no clip of the list."
        yield Finding("exchanges-clip", "error", where, what, FAILS_LATER, "Delete the entry.")
    if without := sorted(clips.keys() - entries.keys()):
        what = f"{len(without)} clips have no exchange, such as {without[0]}."
        effect = "What is hidden in them is blotted out, which a model can see."
        yield Finding("exchanges-some", "warning", where, what, effect, "Make an exchange of every clip, or of none.")
    known = {clip: entry for clip, entry in entries.items() if clip in clips}
    found: dict[str, Video] = {}
    rows = [[clip, entry["file"], entry["sha256"]] for clip, entry in known.items()]
    yield from check_files(where, rows, side.data, found, [], progress, lambda _: False)
    yield from check_tags(where, found)
    yield from check_extra("exchanges-extra", "exchanges", where, side.data, {row[1] for row in rows})
    for clip, entry in known.items():
        if clip not in found or clip not in videos:
            continue
        if differences := videos[clip].differences(found[clip]):
            what = f"The exchange of {clip}: {', '.join(differences)}."
            yield Finding("exchange-differs", "error", where, what, KNOWN_BY_FORM, "Encode both alike.")
            continue
        outlines = {part["name"]: np.array(part["outline"], np.float32) for part in entry["parts"]}
        for (one, first), (other, second) in combinations(outlines.items(), 2):
            if cv2.intersectConvexConvex(first, second)[0] > 0:
                what = f"The exchange of {clip}: the outlines of {shown(one)} and {shown(other)} meet."
                yield Finding("exchange-meets", "error", where, what, SEAM, "Draw outlines that do not meet.")
        if (most := _outside(side, clips[clip], entry["file"], list(outlines.values()))) > SEEN:
            what = f"The exchange of {clip} differs by {most:.0f} of 255 outside of its parts; {SEEN:g} is the most."
            fix = "Make the outlines larger, or draw and encode the exchange as the clip."
            yield Finding("exchange-outside", "error", where, what, SEAM, fix)


def _read(side: Side, name: str) -> dict[str, Any] | None:
    try:
        entries: dict[str, Any] = json.loads(side.data.text(name))["clips"]
        for entry in entries.values():
            for part in entry["parts"]:
                outline, event = np.array(part["outline"], float), part.get("event_s")
                fits = outline.ndim == 2 and outline.shape[1] == 2 and len(outline) >= 3
                if not (fits and isinstance(part["name"], str) and outline.min() >= 0):
                    return None
                if event is not None and not 0 <= float(event[0]) < float(event[1]):
                    return None
            if not isinstance(entry["file"], str) or not isinstance(entry["sha256"], str):
                return None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    return entries


def _outside(side: Side, clip: str, exchange: str, outlines: list[NDArray[np.float32]]) -> float:
    """Return by how much a block of both differs most, outside of the parts."""
    most = 0.0
    ours, theirs = some_frames(side.data.read(clip)), some_frames(side.data.read(exchange))
    parts = np.zeros(ours[0].shape if ours else (1, 1), np.uint8)
    for outline in outlines:
        cv2.fillConvexPoly(parts, np.rint(outline).astype(np.int32), 255)
    outside = cv2.dilate(parts, np.ones((BLOCK + 1, BLOCK + 1), np.uint8)) == 0
    for one, other in zip(ours, theirs, strict=False):
        difference = cv2.absdiff(one, other).astype(np.float32)
        most = max(most, float((cv2.blur(difference, (BLOCK, BLOCK)) * outside).max()))
    return most
