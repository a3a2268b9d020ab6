"""The clips of a phase: list, files, transcripts. What is wrong here is the organiser's fault, not a participant's."""

import csv
import hashlib
import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ingest.errors import IngestionError, Problem
from ingest.settings import Task

CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
COLUMNS = ["clip_id", "file", "sha256"]


@dataclass(frozen=True)
class ClipSource:
    """One clip on disk."""

    clip_id: str
    """Opaque id."""
    path: Path
    """The video file."""
    transcript: str
    """What is said; may be empty."""
    sha256: str = ""
    """Hash of the file when the run began."""


def read_clips(input_data: Path, task: Task) -> list[ClipSource]:
    """Read the clip list of a phase's input folder and check every file against its hash.

    Raises
    ------
    IngestionError
        With every problem of list, files and transcripts.
    """
    problems: list[Problem] = []
    transcripts = _read_transcripts(input_data / task.transcripts_file, problems)
    rows = _read_rows(input_data / task.clips_file, problems)
    clips = []
    for line, clip_id, file, sha256 in rows:
        where = f"{task.clips_file} line {line}, clip {clip_id}"
        path = input_data / file
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
            problems.append(_problem("clip_path", where, file, "a path below the input data", "move the file there"))
        elif not _is_regular(path):
            # Also keeps a FIFO from blocking the run for ever.
            problems.append(
                _problem("clip_missing", where, f"no regular file {file}", "the clip's file", "add the file")
            )
        elif (actual := _sha256(path)) != sha256:
            fix = "write the file's own hash into the list, or restore the file"
            problems.append(_problem("clip_changed", where, f"SHA-256 {actual[:12]}…", f"{sha256[:12]}…", fix))
        else:
            clips.append(ClipSource(clip_id, path, transcripts.get(clip_id, ""), sha256))
    if problems:
        raise IngestionError(problems)
    return clips


def check_unchanged(clip: ClipSource, *, named: bool = True) -> None:
    """Make sure that a clip is still what it was, so that nobody makes a clip unreadable and has it left out.

    Parameters
    ----------
    clip
        The clip to look at.
    named
        Whether the message may say which clip it is.

    Raises
    ------
    IngestionError
        When the file is gone, cannot be opened or has another content.
    """
    try:
        found = "another content" if _sha256(clip.path) != clip.sha256 else None
    except OSError as error:
        found = f"a file that cannot be opened any more ({error.strerror})"
    if found is not None:
        fix = "run it again; if it happens again, look at what the model does to files"
        raise IngestionError(
            [_problem("clip_lost", f"clip {clip.clip_id}" if named else "a clip", found, "the file as it was", fix)]
        )


def _read_rows(path: Path, problems: list[Problem]) -> list[tuple[int, str, str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as table:
            reader = csv.reader(table, strict=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(_problem("clips_unreadable", path.name, str(error)[:200], "a CSV file in UTF-8", "rewrite it"))
        return []
    if not lines or lines[0][1] != COLUMNS:
        found = ",".join(lines[0][1])[:100] if lines else "an empty file"
        problems.append(_problem("clips_header", f"{path.name} line 1", found, ",".join(COLUMNS), "correct the header"))
        return []
    rows: list[tuple[int, str, str, str]] = []
    seen: dict[str, int] = {}
    for line, row in lines[1:]:
        where = f"{path.name} line {line}"
        if len(row) != len(COLUMNS):
            problems.append(_problem("clips_row", where, f"{len(row)} fields", f"{len(COLUMNS)}", "correct the row"))
            continue
        clip_id, file, sha256 = row
        if not CLIP_ID.fullmatch(clip_id):
            problems.append(_problem("clip_id", where, ascii(clip_id)[:80], CLIP_ID.pattern, "rename the clip"))
        elif clip_id in seen:
            problems.append(_problem("clip_twice", where, clip_id, f"once (line {seen[clip_id]})", "remove one row"))
        else:
            seen[clip_id] = line
            rows.append((line, clip_id, file, sha256.lower()))
    if not rows and not problems:
        problems.append(_problem("clips_empty", path.name, "no clip", "at least one", "add clips"))
    return rows


def _read_transcripts(path: Path, problems: list[Problem]) -> dict[str, str]:
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(_problem("transcripts_unreadable", path.name, str(error)[:200], "a JSON file", "rewrite it"))
        return {}
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        problems.append(_problem("transcripts_unreadable", path.name, "other JSON", "{clip_id: text}", "rewrite it"))
        return {}
    return content


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _problem(code: str, where: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, stage="data", where=where, found=found, expected=expected, fix=fix, fault="organiser")
