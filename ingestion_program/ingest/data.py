"""The data of a phase: lists of clips, rendered copies, exchanges and faces."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import stat
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from ingest.causes import CAUSES, is_shortage
from ingest.errors import IngestionError, Problem
from ingest.media.alteration import ClipSource
from ingest.media.exchange import Exchange, Part
from ingest.media.video import ClipFacts, UnreadableClip, read_facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ingest.media.exchange import Corners
    from ingest.settings import Task


CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def read_rows(path: Path, columns: list[str], problems: list[Problem]) -> list[tuple[str, list[str]]]:
    """Return (where, fields) for every row below the header; the first field is a unique id."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as table:
            reader = csv.reader(table, strict=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(problem("clips_unreadable", path.name, str(error)[:200], "a CSV file in UTF-8", "rewrite it"))
        return []
    if not lines or lines[0][1] != columns:
        found = ",".join(lines[0][1])[:100] if lines else "an empty file"
        problems.append(problem("clips_header", f"{path.name} line 1", found, ",".join(columns), "correct the header"))
        return []
    rows: list[tuple[str, list[str]]] = []
    seen: dict[str, int] = {}
    for line, row in lines[1:]:
        where = f"{path.name} line {line}"
        if len(row) != len(columns):
            problems.append(
                problem("clips_row", where, f"{len(row)} fields", f"{len(columns)} fields", "correct the row")
            )
            continue
        name = row[0]
        if not CLIP_ID.fullmatch(name):
            problems.append(problem("clip_id", where, ascii(name)[:80], CLIP_ID.pattern, "rename the clip"))
        elif name in seen:
            problems.append(problem("clip_twice", where, name, f"once (line {seen[name]})", "remove one row"))
        else:
            seen[name] = line
            rows.append((f"{where}, clip {name}", row))
    return rows


def check_file(folder: Path, file: str, sha256: str, where: str, problems: list[Problem]) -> bool:
    """Tell whether `file` lies below `folder` and has the listed hash."""
    path = folder / file
    before = len(problems)
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        problems.append(problem("clip_path", where, file, "a path below the input data", "move the file there"))
    elif not _is_regular(path):
        # Also keeps a FIFO from blocking the run for ever.
        problems.append(problem("clip_missing", where, f"no regular file {file}", "the clip's file", "add the file"))
    elif (actual := hash_file(path)) != sha256.lower():
        what, fix = placeholder(path) or (
            f"SHA-256 {actual[:12]}…",
            "restore the file, or write its hash into the list",
        )
        problems.append(problem("clip_changed", where, what, f"{sha256[:12].lower()}…", fix))
    return len(problems) == before


START = 1024
"""Bytes at the start of a file that tell whether it only stands for another."""
_PAGES = r".*\.(html?|md)"
_MAY_BE_EMPTY = r"\..*|.*\.(py|pyi|typed|md|txt|cfg|toml|lock)"
_PLACEHOLDERS = (
    (rb"version https://git-lfs\.github\.com/spec/.*", "", "a Git LFS pointer", "run `git lfs pull`"),
    (rb"(\xef\xbb\xbf)?\s*<(!doctype )?html.*", _PAGES, "a web page", "get the file itself: its address led to a page"),
    (rb"\0*", _MAY_BE_EMPTY, "a file without content", "copy it again, once a cloud folder has downloaded it"),
)
"""How such a file begins, the names of files that may begin so, what it is, and what helps."""


def placeholder(path: Path) -> tuple[str, str] | None:
    """Return what a file is that only stands for another, and what helps; None for any other file."""
    if re.fullmatch(r"\..+\.icloud", path.name):
        return "a placeholder of iCloud", "download it on the computer that shares it"
    with path.open("rb") as file:
        start = file.read(START)
    for pattern, names, what, fix in _PLACEHOLDERS:
        if re.fullmatch(pattern, start, re.DOTALL | re.IGNORECASE) and not re.fullmatch(
            names, path.name, re.IGNORECASE
        ):
            return what, fix
    return None


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def problem(code: str, where: str, found: str, expected: str, fix: str) -> Problem:
    """Return a problem of the data, which only the organiser can correct."""
    return Problem(code, stage="data", where=where, found=found, expected=expected, fix=fix)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


COPY_COLUMNS = ["copy_id", "clip_id", "cue", "file", "sha256"]


@dataclass(frozen=True)
class Copy:
    """One rendered copy."""

    cue: str
    """The cue that is neutral in it."""
    path: Path
    transcript: str
    sha256: str
    """Hash of the file when the run began."""


def read_copies(
    input_data: Path,
    name: str,
    cues: tuple[str, ...],
    clip_ids: set[str],
    transcripts: dict[str, str],
    problems: list[Problem],
) -> dict[str, tuple[Copy, ...]]:
    """Return the copies of every clip that has some; add mistakes to `problems`."""
    copies: dict[str, dict[str, Copy]] = {}
    for where, (copy_id, clip_id, cue, file, sha256) in read_rows(input_data / name, COPY_COLUMNS, problems):
        before = len(problems)
        if copy_id in clip_ids:
            problems.append(problem("clip_twice", where, copy_id, "an id that no clip has", "rename the copy"))
        if clip_id not in clip_ids:
            found = ascii(clip_id)[:80]
            problems.append(problem("clip_unknown", where, found, "a clip of the list", "correct the clip_id"))
        if cue not in cues:
            fix = "correct the cue, or add it to the settings"
            problems.append(problem("copy_cue", where, ascii(cue)[:80], f"one of {', '.join(cues)}", fix))
        elif cue in copies.get(clip_id, {}):
            problems.append(
                problem("copy_cue", where, f"a second copy for {cue}", "each cue once per clip", "remove one")
            )
        if copy_id not in transcripts:
            # An empty transcript would neutralise a second cue: the words.
            fix = "add the copy's text to the transcripts, even if empty"
            problems.append(problem("copy_transcript", where, "no transcript", "a transcript for every copy", fix))
        if check_file(input_data, file, sha256, where, problems) and len(problems) == before:
            copies.setdefault(clip_id, {})[cue] = Copy(cue, input_data / file, transcripts[copy_id], sha256.lower())
    return {clip_id: tuple(of_clip.values()) for clip_id, of_clip in copies.items()}


FORMAT_VERSION = 2
_FORM = (
    f"{{format_version: {FORMAT_VERSION}, clips: {{clip_id: {{file, sha256, first?: {{file, sha256}}, joins_s?, "
    "parts: [{name, outline? or keys?, event_s?, transcript?}]}}}"
)


def read_exchanges(
    input_data: Path, name: str, clips: dict[str, ClipSource], problems: list[Problem]
) -> dict[str, Exchange]:
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
            ours = clips[clip_id].facts
        except UnreadableClip:
            continue  # reported when it is that clip's turn
        exchange = _exchange(entry, input_data, where, ours, problems)
        if exchange is not None and _alike(ours, exchange, where, problems):
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
        first, joins = entry.get("first"), tuple(map(float, entry.get("joins_s", ())))
        files = [(file, sha256), *([(first["file"], first["sha256"])] if first is not None else [])]
        if not all(isinstance(text, str) for pair in files for text in pair):
            raise TypeError("file or sha256 is not a text")
        _check_ascending("joins_s", (0.0, *joins, clip.duration_s))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problems.append(_wrong(where, error))
        return None
    parts: dict[str, Part] = {}
    for number, listed_part in enumerate(listed, 1):
        try:
            part = _part(listed_part, clip)
            if part.name in parts:
                raise ValueError("a duplicate part")
            parts[part.name] = part
        except (KeyError, TypeError, ValueError) as error:
            problems.append(_wrong(f"{where}, part {number}", error))
    for name, digest in files:
        check_file(input_data, name, digest, where, problems)
    if len(problems) > before:
        return None
    exchange = Exchange(input_data / file, sha256.lower(), tuple(parts.values()), joins_s=joins)
    if first is None:
        return exchange
    return replace(exchange, first=input_data / first["file"], first_sha256=first["sha256"].lower())


def _wrong(where: str, error: Exception) -> Problem:
    return problem("exchange_entry", where, f"{type(error).__name__}: {error}"[:100], _FORM, "correct the entry")


def _part(entry: Any, clip: ClipFacts) -> Part:  # noqa: ANN401 - from a JSON file
    name, transcript = entry["name"], entry.get("transcript")
    if not isinstance(name, str) or not (transcript is None or isinstance(transcript, str)):
        raise TypeError("name or transcript is not a text")
    keys = tuple((float(time), _corners(corners, clip)) for time, corners in entry.get("keys", ()))
    outline = _corners(entry.get("outline", ()), clip)
    if keys:
        _check_ascending(f"the times of {name}", tuple(time for time, _ in keys))
        if outline or len({len(corners) for _, corners in keys}) > 1:
            raise ValueError(f"{name} needs an outline, or keys with the same number of corners each")
        around = cv2.convexHull(np.array([corner for _, corners in keys for corner in corners], np.float32))
        outline = tuple((float(x), float(y)) for x, y in around[:, 0])
    if not outline and transcript is None:
        raise ValueError(f"{name} needs an outline or a transcript")
    if outline and (len(outline) < 3 or not all(0 <= value <= 1 for corner in outline for value in corner)):
        raise ValueError("an outline needs at least three corners, in pixels inside the clip")
    event = entry.get("event_s")
    if event is None:
        if transcript is not None:
            raise ValueError(f"{name} is heard, so it needs an event_s")
        return Part(name, outline, None, keys=keys)
    start, end = map(float, event)
    if not 0 <= start < min(end, clip.duration_s) or math.isinf(end):
        raise ValueError("event_s needs a start before its end, in seconds inside the clip")
    return Part(name, outline, (start, end), transcript, keys)


def _corners(listed: Any, clip: ClipFacts) -> Corners:  # noqa: ANN401 - from a JSON file
    return tuple((float(x) / clip.width, float(y) / clip.height) for x, y in listed)


def _check_ascending(what: str, times: Sequence[float]) -> None:
    if not all(earlier < later for earlier, later in pairwise(times)):
        raise ValueError(f"{what} must ascend, in seconds inside the clip")


def _alike(ours: ClipFacts, exchange: Exchange, where: str, problems: list[Problem]) -> bool:
    """Tell whether all have the same length and size, and sound or none; otherwise a mixture would be noticed."""
    wanted = _form(ours, exchange)
    for path in filter(None, (exchange.path, exchange.first)):
        try:
            found = _form(read_facts(path), exchange)
        except UnreadableClip as error:
            found = f"a file that cannot be decoded ({error})"
        if found != wanted:
            problems.append(problem("exchange_differs", where, found, f"{wanted}, as its clip", "create it again"))
            return False
    return True


def _form(facts: ClipFacts, exchange: Exchange) -> str:
    sound = f", {'with' if facts.audible else 'without'} sound" if exchange.heard else ""
    return f"{len(facts.times)} frames of {facts.width} x {facts.height}{sound}"


FACE_COLUMNS = ["clip_id", "left", "top", "right", "bottom"]


def read_faces(path: Path, clip_ids: set[str], problems: list[Problem]) -> dict[str, float]:
    """Return the height of the face in every clip that has a box, as a share of the picture's; add to `problems`."""
    heights = {}
    for where, (clip_id, *fields) in read_rows(path, FACE_COLUMNS, problems):
        try:
            left, top, right, bottom = map(float, fields)
        except ValueError:
            left, top, right, bottom = 0.0, 0.0, 0.0, 0.0
        if clip_id not in clip_ids:
            found, fix = ascii(clip_id)[:80], "correct the clip_id"
            problems.append(problem("clip_unknown", where, found, "a clip of the list", fix))
        elif not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            found, expected = ascii(",".join(fields))[:80], "left < right and top < bottom, fractions from 0 to 1"
            problems.append(problem("face_box", where, found, expected, "correct the box"))
        else:
            heights[clip_id] = bottom - top
    return heights


CLIP_COLUMNS = ["clip_id", "file", "sha256"]


@dataclass(frozen=True)
class Dataset:
    """The contents of a phase's input folder."""

    clips: list[ClipSource]
    """In the order of the list."""
    copies: dict[str, tuple[Copy, ...]]
    """Rendered copies by clip id, each with one cue made neutral; clips without copies are left out."""
    exchanges: dict[str, Exchange]
    """Second drawings by clip id; clips without one are left out."""
    faces: dict[str, float]
    """Height of the face by clip id, where known, as a share of the picture's."""


def read_dataset(input_data: Path, task: Task) -> Dataset:
    """Read the lists of a phase's input folder and check every file against its hash.

    Raises IngestionError with every problem of lists, files and transcripts.
    """
    problems: list[Problem] = []
    transcripts = _read_transcripts(input_data / task.transcripts_file, problems)
    rows = read_rows(input_data / task.clips_file, CLIP_COLUMNS, problems)
    if not rows and not problems:
        problems.append(problem("clips_empty", task.clips_file, "no clip", "at least one", "add clips"))
    clips = [
        ClipSource(clip_id, input_data / file, transcripts.get(clip_id, ""), sha256.lower())
        for where, (clip_id, file, sha256) in rows
        if check_file(input_data, file, sha256, where, problems)
    ]
    ids = {row[0] for _, row in rows}
    copies: dict[str, tuple[Copy, ...]] = {}
    if task.copies_file is not None:
        copies = read_copies(input_data, task.copies_file, task.explanation.evidence.cues, ids, transcripts, problems)
    exchanges: dict[str, Exchange] = {}
    if task.exchanges_file is not None:
        by_id = {clip.clip_id: clip for clip in clips}
        exchanges = read_exchanges(input_data, task.exchanges_file, by_id, problems)
    faces = {} if task.faces_file is None else read_faces(input_data / task.faces_file, ids, problems)
    if problems:
        raise IngestionError(problems)
    return Dataset(clips, copies, exchanges, faces)


def check_unchanged(clip: ClipSource, *, named: bool = True) -> None:
    """Check that a clip and its exchange are unchanged: a model must not get a clip left out by damaging its file.

    `named`: whether the message may name the clip. Raises IngestionError when the file is missing, cannot be opened or
    has changed. Raises OSError when this process lacks what opening it takes.
    """
    files = [(clip.path, clip.sha256)]
    if clip.alteration is not None and clip.alteration.exchange is not None:
        files.append((clip.alteration.exchange.path, clip.alteration.exchange.sha256))
    try:
        found = "different content" if any(hash_file(path) != sha256 for path, sha256 in files) else None
    except OSError as error:
        if is_shortage(error):
            raise
        found = f"a file that can no longer be opened ({error.strerror})"
    if found is not None:
        where = f"clip {clip.clip_id}" if named else "a clip"
        raise IngestionError([CAUSES["changed clip"].as_problem("data", where, found=found)])


def _read_transcripts(path: Path, problems: list[Problem]) -> dict[str, str]:
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(problem("transcripts_unreadable", path.name, str(error)[:200], "a JSON file", "rewrite it"))
        return {}
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        problems.append(
            problem("transcripts_unreadable", path.name, "a different structure", "{clip_id: text}", "rewrite it")
        )
        return {}
    return content
