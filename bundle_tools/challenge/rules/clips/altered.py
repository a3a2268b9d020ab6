"""Rules about a clip's other drawings: copies with one cue neutral, and exchanges that differ in every part.

Only their content may distinguish them from the clip (docs/data_format.md).
"""

import zlib
from collections.abc import Iterator, Mapping
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.rules.clips.files import check_extra, check_files, check_tags
from bundle_tools.challenge.rules.clips.tables import PhaseData, read_by_clip, read_list
from bundle_tools.challenge.rules.clips.video import Video, some_frames
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.console import Progress

Outlines = dict[str, NDArray[np.float32]]
"""Corners of the parts of an exchange by name, pixels."""

DECODED_ONE_IN = 6
KNOWN_BY_FORM = "A model could tell the copy from the clip by its file alone."
SEEN = 10.0
"""Mean difference of a block of 20 x 20 pixels, of 255, that exceeds encoding loss, which reaches 5.4."""
BLOCK = 20
SEAM = "Where outlines meet, the copy shows a mixture of both, and a model could recognise it."


def check_copies(side: PhaseData, videos: dict[str, Video], progress: Progress | None = None) -> Iterator[Finding]:
    """Find copies that are broken, or unlike their clip."""
    name = side.settings.get("copies")
    if not isinstance(name, str):
        return
    rows = read_list(side.data, "copies", 5)
    files = {copy: file for copy, _, _, file, _ in rows}
    copies: dict[str, Video] = {}
    yield from check_files(side, name, files, copies, progress, _is_decoded)
    yield from check_tags(side.at(name), copies)
    yield from check_extra(side, name, "copies", files)
    for copy, clip, *_ in rows:
        if copy in copies and clip in videos and (differences := videos[clip].differences(copies[copy])):
            what = f"{copy}, a copy of {clip}: {', '.join(differences)}."
            yield Finding("copy-differs", "error", side.at(name), what, KNOWN_BY_FORM, "Encode both alike.")


def _is_decoded(file: str) -> bool:
    """Return whether to decode all frames of a copy: for one in six, drawn by its name.

    The program that made a clip also made its three copies, and the list has their hashes. Decoding all copies would
    hardly find more, and take three times as long as decoding the clips.
    """
    return zlib.crc32(file.encode()) % DECODED_ONE_IN == 0


def check_exchanges(
    side: PhaseData, clips: Mapping[str, str], videos: dict[str, Video], progress: Progress | None = None
) -> Iterator[Finding]:
    """Find exchanges that are broken, unlike their clip, or different from it outside their parts.

    `clips`: file of every clip of the list, by its id.
    """
    name = side.settings.get("exchanges")
    if not isinstance(name, str):
        return
    where = side.at(name)
    listed = read_by_clip(side.data, "exchanges")
    if listed and (without := sorted(clips.keys() - listed.keys())):
        what = f"{len(without)} clips have no exchange, such as {without[0]}."
        effect = "Places hidden in them are blotted out, and a model can see that."
        yield Finding("exchanges-some", "warning", where, what, effect, "Make an exchange for every clip, or for none.")
    readable = {clip: read for clip, entry in listed.items() if clip in clips and (read := _read(entry))}
    files = {clip: file for clip, (file, _) in readable.items()}
    found: dict[str, Video] = {}
    yield from check_files(side, name, files, found, progress, lambda _: False)
    yield from check_tags(where, found)
    yield from check_extra(side, name, "exchanges", files)
    for clip in found.keys() & videos.keys():
        if differences := videos[clip].differences(found[clip]):
            what = f"The exchange of {clip}: {', '.join(differences)}."
            yield Finding("exchange-differs", "error", where, what, KNOWN_BY_FORM, "Encode both alike.")
            continue
        file, outlines = readable[clip]
        for (one, first), (other, second) in combinations(outlines.items(), 2):
            if cv2.intersectConvexConvex(first, second)[0] > 0:
                what = f"The exchange of {clip}: the outlines of {shown(one)} and {shown(other)} meet."
                yield Finding("exchange-meets", "error", where, what, SEAM, "Keep the outlines apart.")
        if (most := _outside(side, clips[clip], file, outlines)) > SEEN:
            what = f"The exchange of {clip} differs by {most:.0f} of 255 outside its parts; expected at most {SEEN:g}."
            fix = "Make the outlines larger, or draw and encode the exchange like the clip."
            yield Finding("exchange-outside", "error", where, what, SEAM, fix)


def _read(entry: object) -> tuple[str, Outlines] | None:
    """Return the file and the outlines of the parts that can be seen; None after a mistake, which ingestion reports."""
    try:
        parts = [part for part in entry["parts"] if "outline" in part]  # type: ignore[index]  # from a JSON file
        outlines = {str(part["name"]): np.array(part["outline"], np.float32) for part in parts}
        if not all(outline.ndim == 2 and outline.shape[1] == 2 for outline in outlines.values()):
            return None
        return str(entry["file"]), outlines  # type: ignore[index]
    except (ValueError, TypeError, KeyError):
        return None


def _outside(side: PhaseData, clip: str, exchange: str, outlines: Outlines) -> float:
    """Return the largest difference of a block between both, outside the parts."""
    most = 0.0
    ours, theirs = some_frames(side.data.read(clip)), some_frames(side.data.read(exchange))
    parts = np.zeros(ours[0].shape if ours else (1, 1), np.uint8)
    for outline in outlines.values():
        cv2.fillConvexPoly(parts, np.rint(outline).astype(np.int32), 255)
    outside = cv2.dilate(parts, np.ones((BLOCK + 1, BLOCK + 1), np.uint8)) == 0
    for one, other in zip(ours, theirs, strict=False):
        difference = cv2.absdiff(one, other).astype(np.float32)
        most = max(most, float((cv2.blur(difference, (BLOCK, BLOCK)) * outside).max()))
    return most
