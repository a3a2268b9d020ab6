"""The clips of a phase: list, files, transcripts. Problems here are the organiser's fault."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.clips.copies import Copy, read_copies
from ingest.clips.exchanges import read_exchanges
from ingest.clips.faces import read_faces
from ingest.clips.table import check_file, hash_file, problem, read_rows
from ingest.errors import IngestionError, Problem
from ingest.media.altered.exchange import Exchange
from ingest.media.clip import ClipSource

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.media.altered.region import Box
    from ingest.settings import Task

COLUMNS = ["clip_id", "file", "sha256"]


@dataclass(frozen=True)
class Footage:
    """The contents of a phase's input folder."""

    clips: list[ClipSource]
    """In the order of the list."""
    copies: dict[str, tuple[Copy, ...]]
    """Rendered copies by clip id, each with one cue made neutral; clips without copies are left out."""
    exchanges: dict[str, Exchange]
    """Second drawings by clip id; clips without one are left out."""
    faces: dict[str, Box]
    """Boxes around faces by clip id, where known."""


def read_footage(input_data: Path, task: Task) -> Footage:
    """Read the lists of a phase's input folder and check every file against its hash.

    Raises IngestionError with every problem of lists, files and transcripts.
    """
    problems: list[Problem] = []
    transcripts = _read_transcripts(input_data / task.transcripts_file, problems)
    rows = read_rows(input_data / task.clips_file, COLUMNS, problems)
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
        paths = {clip.clip_id: clip.path for clip in clips}
        exchanges = read_exchanges(input_data, task.exchanges_file, paths, problems)
    faces = {} if task.faces_file is None else read_faces(input_data / task.faces_file, ids, problems)
    if problems:
        raise IngestionError(problems)
    return Footage(clips, copies, exchanges, faces)


def check_unchanged(clip: ClipSource, *, named: bool = True) -> None:
    """Check that a clip and its exchange are unchanged: a model must not get a clip left out by damaging its file.

    `named`: whether the message may name the clip. Raises IngestionError when the file is missing, cannot be opened or
    has changed.
    """
    files = [(clip.path, clip.sha256)]
    if clip.alteration is not None and clip.alteration.exchange is not None:
        files.append((clip.alteration.exchange.path, clip.alteration.exchange.sha256))
    try:
        found = "different content" if any(hash_file(path) != sha256 for path, sha256 in files) else None
    except OSError as error:
        found = f"a file that can no longer be opened ({error.strerror})"
    if found is not None:
        fix = "run it again; if it happens again, check what the model does to files"
        raise IngestionError(
            [problem("clip_lost", f"clip {clip.clip_id}" if named else "a clip", found, "an unchanged file", fix)]
        )


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
