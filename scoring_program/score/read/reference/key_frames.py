"""One small picture of each clip for the report.

Problems with them are warnings for the organisers and do not affect scores.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from score.errors import Problem
from score.read.file_reader import FileReader
from score.read.output.manifest import is_regular
from score.read.strict_json import finite_number, is_sha256

COLUMNS = ["clip_id", "file", "time_s", "sha256"]
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.jpg")
_LARGEST_PICTURE = 64 * 2**10


@dataclass(frozen=True)
class KeyFrame:
    """One listed picture."""

    file: str
    """Path, relative to the folder of the list."""
    time_s: float
    """Moment of the clip that it shows, seconds, >= 0."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True)
class KeyFrames:
    """The pictures of a phase; each is read on demand."""

    folder: Path = Path()
    """The reference data."""
    listed: Mapping[str, KeyFrame] = field(default_factory=dict)
    """By clip id."""
    problems: tuple[Problem, ...] = ()
    """Mistakes of the list; no message contains a clip id."""

    def read(self, clip_id: str) -> tuple[bytes, float] | None:
        """Return a clip's picture and its moment; None without one, or if the file differs from the list.

        The picture has at most 64 KiB; it is not checked to be a JPEG.
        """
        frame = self.listed.get(clip_id)
        if frame is None or not is_regular(self.folder, frame.file):
            return None
        with (self.folder / frame.file).open("rb") as stream:
            data = stream.read(_LARGEST_PICTURE + 1)
        if len(data) > _LARGEST_PICTURE or hashlib.sha256(data).hexdigest() != frame.sha256:
            return None
        return data, frame.time_s


NO_KEY_FRAMES = KeyFrames()


def read_key_frames(folder: Path, name: str | None, clip_ids: Iterable[str]) -> KeyFrames:
    """Read the list of key frames.

    `name`: name of the list from the settings; None if the phase has none. `clip_ids`: clips of the reference; rows of
    other clips are left out.
    """
    if name is None:
        return NO_KEY_FRAMES
    file = FileReader(name, "key_frames_broken")
    rows = file.table(folder / name)
    if not file.problems and (not rows or rows[0][1] != COLUMNS):
        file.wrong("", "a wrong header", ",".join(COLUMNS))
    listed: dict[str, KeyFrame] = {}
    wanted = set(clip_ids)
    for line, cells in () if file.problems else rows[1:]:
        frame = _frame(cells)
        if frame and cells[0] in wanted - listed.keys():
            listed[cells[0]] = frame
        elif not file.full:
            file.wrong(
                f"line {line}", "an invalid row", "a clip of the reference data, once, with file, seconds and SHA-256"
            )
    if wanted - listed.keys() and not file.problems:
        found = f"{len(wanted - listed.keys())} clips without a picture"
        file.wrong("", found, "one for every clip of the reference")
    return KeyFrames(folder, listed, tuple(file.problems))


def _frame(cells: list[str]) -> KeyFrame | None:
    if len(cells) != len(COLUMNS) or not _FILE.fullmatch(cells[1]) or not is_sha256(cells[3]):
        return None
    try:
        time_s = finite_number(float(cells[2]), low=0)
    except ValueError:
        return None
    return None if time_s is None else KeyFrame(cells[1], time_s, cells[3])
