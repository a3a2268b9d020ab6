"""One small picture of each clip for the report: the only thing that scoring knows of how a clip looks.

They are an ornament: whatever is wrong with them is a warning for the organisers, and the scores do not change.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from score.errors import MOST_FOUND, Problem
from score.read.output.manifest import is_regular
from score.read.strict_json import finite_number

COLUMNS = ["clip_id", "file", "time_s", "sha256"]
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.jpg")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LARGEST_LIST = 16 * 2**20
_LARGEST_PICTURE = 64 * 2**10


@dataclass(frozen=True)
class KeyFrame:
    """One picture."""

    data: bytes
    """A file, at most 64 KiB, with the listed hash; whether it is a JPEG is not known."""
    time_s: float
    """Which moment of the clip it shows, >= 0."""


@dataclass(frozen=True)
class _Entry:
    """One row of the list."""

    file: str
    """Path below the folder of the list."""
    time_s: float
    """As of `KeyFrame`."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True)
class KeyFrames:
    """The pictures of a phase; each is read when it is asked for."""

    folder: Path = Path()
    """The reference data."""
    entries: Mapping[str, _Entry] = field(default_factory=dict)
    """By clip id."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the list; no clip id in a message."""

    def read(self, clip_id: str) -> KeyFrame | None:
        """Return a clip's picture; None where there is none, or another file than was listed."""
        entry = self.entries.get(clip_id)
        if entry is None or not is_regular(self.folder, entry.file):
            return None
        with (self.folder / entry.file).open("rb") as stream:
            data = stream.read(_LARGEST_PICTURE + 1)
        if len(data) > _LARGEST_PICTURE or hashlib.sha256(data).hexdigest() != entry.sha256:
            return None
        return KeyFrame(data, entry.time_s)


NO_KEY_FRAMES = KeyFrames()


def read_key_frames(folder: Path, name: str | None, clip_ids: Iterable[str]) -> KeyFrames:
    """Read the list of key frames.

    Parameters
    ----------
    folder
        The reference data.
    name
        The list as the settings name it; None where a phase has none.
    clip_ids
        Of the reference; a row of another clip is left out.
    """
    if name is None:
        return NO_KEY_FRAMES
    problems: list[Problem] = []
    entries: dict[str, _Entry] = {}
    wanted = set(clip_ids)
    for line, cells in _rows(folder, name, problems):
        entry = _entry(cells)
        if entry is None or cells[0] not in wanted or cells[0] in entries:
            if len(problems) < MOST_FOUND:
                expected = "a clip of the reference, once, with file, seconds and SHA-256"
                problems.append(_broken(f"{name}, line {line}", "another row", expected))
        else:
            entries[cells[0]] = entry
    if wanted - entries.keys() and not problems:
        found = f"{len(wanted - entries.keys())} clips without a picture"
        problems.append(_broken(name, found, "one for every clip of the reference"))
    return KeyFrames(folder, entries, tuple(problems))


def _rows(folder: Path, name: str, problems: list[Problem]) -> list[tuple[int, list[str]]]:
    """Give the line number and the cells of every row below the header; none where there is no list."""
    rows: list[tuple[int, list[str]]] = []
    try:
        with (folder / name).open("rb") as stream:
            data = stream.read(_LARGEST_LIST + 1)
        text = data.decode("utf-8") if len(data) <= _LARGEST_LIST else ""
        reader = csv.reader(io.StringIO(text, newline=""))
        rows = [(reader.line_num, cells) for cells in reader if cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(_broken(name, type(error).__name__, "a readable table beside task.yaml"))
        return []
    if not rows or rows[0][1] != COLUMNS:
        problems.append(_broken(name, "another header", ",".join(COLUMNS)))
        return []
    return rows[1:]


def _entry(cells: list[str]) -> _Entry | None:
    if len(cells) != len(COLUMNS) or not _FILE.fullmatch(cells[1]) or not _SHA256.fullmatch(cells[3]):
        return None
    try:
        time_s = finite_number(float(cells[2]))
    except ValueError:
        return None
    return None if time_s is None or time_s < 0 else _Entry(cells[1], time_s, cells[3])


def _broken(where: str, found: str, expected: str) -> Problem:
    fix = "make them again with: bundle data key-frames"
    return Problem("key_frames_broken", "data", where, found, expected, fix, "warning")
