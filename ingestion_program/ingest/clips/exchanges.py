"""Exchanges, the second drawings of clips: a list, files and parts, checked like the clips."""

import json
from pathlib import Path
from typing import Any

from ingest.clips.table import check_file, problem
from ingest.errors import Problem
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.video import ClipFacts, UnreadableClip, read_facts

_FORM = "{format_version: 1, clips: {clip_id: {file, sha256, parts: [{name, outline, event_s}]}}}"


def read_exchanges(input_data: Path, name: str, clips: dict[str, Path], problems: list[Problem]) -> dict[str, Exchange]:
    """Return the exchange of every clip that has one; add mistakes to `problems`."""
    try:
        content = json.loads((input_data / name).read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(problem("exchanges_unreadable", name, str(error)[:200], "a JSON file", "rewrite it"))
        return {}
    listed = content.get("clips") if isinstance(content, dict) else None
    if not isinstance(listed, dict) or content.get("format_version") != 1:
        problems.append(problem("exchanges_unreadable", name, "a different structure", _FORM, "rewrite it"))
        return {}
    exchanges = {}
    for clip_id in list(listed):
        entry = listed.pop(clip_id)  # what is read takes its memory
        where = f"{name}, clip {ascii(clip_id)[1:-1][:64]}"
        if clip_id not in clips:
            problems.append(
                problem(
                    "clip_unknown", where, "a clip that is not in the list", "a clip of the list", "remove the entry"
                )
            )
            continue
        try:
            ours = read_facts(clips[clip_id])
        except UnreadableClip:
            continue  # reported when it is that clip's turn
        try:
            file, sha256 = entry["file"], entry["sha256"]
            if not (isinstance(file, str) and isinstance(sha256, str)):
                raise TypeError("file or sha256 is not a text")
            parts = tuple(_part(part, ours) for part in entry["parts"])
            if len({part.name for part in parts}) < len(parts):
                raise ValueError("a duplicate part")
        except (KeyError, TypeError, ValueError) as error:
            found = f"{type(error).__name__}: {error}"[:100]
            problems.append(problem("exchange_entry", where, found, _FORM, "correct the entry"))
            continue
        path = input_data / file
        if check_file(input_data, file, sha256, where, problems) and _alike(ours, path, where, problems):
            exchanges[clip_id] = Exchange(path, sha256.lower(), parts)
    return exchanges


def _part(entry: Any, clip: ClipFacts) -> Part:  # noqa: ANN401 - from a JSON file
    outline = tuple((float(x) / clip.width, float(y) / clip.height) for x, y in entry["outline"])
    if len(outline) < 3 or not all(0 <= value <= 1 for corner in outline for value in corner):
        raise ValueError("an outline needs at least three corners, in pixels inside the clip")
    event = entry.get("event_s")
    if event is None:
        return Part(str(entry["name"]), outline, None)
    start, end = map(float, event)
    if not 0 <= start < end:
        raise ValueError("event_s needs a start before its end, in seconds")
    return Part(str(entry["name"]), outline, (start, end))


def _alike(clip: ClipFacts, exchange: Path, where: str, problems: list[Problem]) -> bool:
    """Tell whether both have the same length and size; otherwise a mixture would be visible."""
    try:
        found = _size(read_facts(exchange))
    except UnreadableClip as error:
        found = f"a file that cannot be decoded ({error})"
    if found == _size(clip):
        return True
    problems.append(problem("exchange_differs", where, found, f"{_size(clip)}, as its clip", "create it again"))
    return False


def _size(facts: ClipFacts) -> str:
    return f"{len(facts.times)} frames of {facts.width} x {facts.height}"
