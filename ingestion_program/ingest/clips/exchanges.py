"""Exchanges, the second drawings of clips: a list, files and parts, checked like the clips."""

import json
import math
from pathlib import Path
from typing import Any

from ingest.clips.table import check_file, problem
from ingest.errors import Problem
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.sound import has_sound
from ingest.media.video import ClipFacts, UnreadableClip, read_facts

FORMAT_VERSION = 2
_FORM = (
    f"{{format_version: {FORMAT_VERSION}, clips: {{clip_id: "
    "{file, sha256, parts: [{name, outline?, event_s?, transcript?}]}}}"
)


def read_exchanges(input_data: Path, name: str, clips: dict[str, Path], problems: list[Problem]) -> dict[str, Exchange]:
    """Return the exchange of every clip that has one; add mistakes to `problems`."""
    try:
        content = json.loads((input_data / name).read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(problem("exchanges_unreadable", name, str(error)[:200], "a JSON file", "rewrite it"))
        return {}
    listed = content.get("clips") if isinstance(content, dict) else None
    if not isinstance(listed, dict) or content.get("format_version") != FORMAT_VERSION:
        found, fix = "a different structure", "rewrite it"
        if isinstance(listed, dict) and content.get("format_version") == 1:
            found, fix = "format_version 1", "create the exchanges again: `bundle data phase`, or your own tools"
        problems.append(problem("exchanges_unreadable", name, found, _FORM, fix))
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
        exchange = _exchange(entry, input_data, where, ours, problems)
        if exchange is not None and _alike(ours, clips[clip_id], exchange, where, problems):
            exchanges[clip_id] = exchange
    return exchanges


def _exchange(
    entry: Any,  # noqa: ANN401 - from a JSON file
    input_data: Path,
    where: str,
    clip: ClipFacts,
    problems: list[Problem],
) -> Exchange | None:
    before = len(problems)
    try:
        file, sha256, listed = entry["file"], entry["sha256"], list(entry["parts"])
        if not (isinstance(file, str) and isinstance(sha256, str)):
            raise TypeError("file or sha256 is not a text")
    except (KeyError, TypeError) as error:
        problems.append(_wrong(where, error))
        return None
    parts: dict[str, Part] = {}
    for number, one in enumerate(listed, 1):
        try:
            part = _part(one, clip)
            if part.name in parts:
                raise ValueError("a duplicate part")
            parts[part.name] = part
        except (KeyError, TypeError, ValueError) as error:
            problems.append(_wrong(f"{where}, part {number}", error))
    check_file(input_data, file, sha256, where, problems)
    return None if len(problems) > before else Exchange(input_data / file, sha256.lower(), tuple(parts.values()))


def _wrong(where: str, error: Exception) -> Problem:
    return problem("exchange_entry", where, f"{type(error).__name__}: {error}"[:100], _FORM, "correct the entry")


def _part(entry: Any, clip: ClipFacts) -> Part:  # noqa: ANN401 - from a JSON file
    name, transcript = entry["name"], entry.get("transcript")
    if not isinstance(name, str) or not (transcript is None or isinstance(transcript, str)):
        raise TypeError("name or transcript is not a text")
    outline = tuple((float(x) / clip.width, float(y) / clip.height) for x, y in entry.get("outline", ()))
    if not outline and transcript is None:
        raise ValueError(f"{name} needs an outline or a transcript")
    if outline and (len(outline) < 3 or not all(0 <= value <= 1 for corner in outline for value in corner)):
        raise ValueError("an outline needs at least three corners, in pixels inside the clip")
    event = entry.get("event_s")
    if event is None:
        if transcript is not None:
            raise ValueError(f"{name} is heard, so it needs an event_s")
        return Part(name, outline, None)
    start, end = map(float, event)
    if not 0 <= start < min(end, clip.duration_s) or math.isinf(end):
        raise ValueError("event_s needs a start before its end, in seconds inside the clip")
    return Part(name, outline, (start, end), transcript)


def _alike(ours: ClipFacts, clip: Path, exchange: Exchange, where: str, problems: list[Problem]) -> bool:
    """Tell whether both have the same length and size, and both sound or none; otherwise a mixture would be noticed."""
    wanted = _form(ours, clip, exchange)
    try:
        found = _form(read_facts(exchange.path), exchange.path, exchange)
    except UnreadableClip as error:
        found = f"a file that cannot be decoded ({error})"
    if found == wanted:
        return True
    problems.append(problem("exchange_differs", where, found, f"{wanted}, as its clip", "create it again"))
    return False


def _form(facts: ClipFacts, path: Path, exchange: Exchange) -> str:
    sound = f", {'with' if has_sound(path) else 'without'} sound" if exchange.heard else ""
    return f"{len(facts.times)} frames of {facts.width} x {facts.height}{sound}"
