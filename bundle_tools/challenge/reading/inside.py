"""All files of a program or data set, including those inside zip and gzip files, as a curious participant opens them.

Archives of other kinds, and encrypted ones, are reported but not opened.
"""

import gzip
import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.rules.dataset import DataFiles

# A larger archive is an attack or a mistake; no file of a competition's kit comes near.
LARGEST_FILE = 500_000_000
LARGEST_ARCHIVE = 2_000_000_000
MOST_MEMBERS = 50_000
# Deflate packs at most about 1000 : 1; a table of zeros may reach 200.
BOMB_RATIO = 200
BOMB_BYTES = 50_000_000
# Packages to install: large third-party code, pinned by hash in the lock, so nothing can be hidden there unnoticed.
UNOPENED = ".whl"
DEEPEST = 4

ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b\x08"
OTHER_ARCHIVES = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x28\xb5\x2f\xfd": "zstandard",
}
"""First bytes -> name of an archive format that is not opened."""
CLIP_MARKS = (b"mdat", b"\x1fC\xb6u")
PRINT_BYTES, SHORTEST_PRINT, FEWEST_VALUES = 65_536, 1024, 16


@dataclass(frozen=True)
class File:
    """One file with its content."""

    name: str
    """Path relative to the data set's root; members of a zip have the zip's name before theirs."""
    content: bytes

    @cached_property
    def sha256(self) -> str:
        """The content's hash."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def start_of_clip(self) -> str:
        """The hash of a video's first coded pictures, ignoring all other bytes; empty if there are few."""
        marks = [at for at in (self.content.find(mark) for mark in CLIP_MARKS) if at >= 0]
        rest = len(self.content) - min(marks, default=0)
        # A power of two, so that a few bytes more at the end change nothing.
        size = min(PRINT_BYTES, 1 << max(rest.bit_length() - 1, 0))
        start = self.content[len(self.content) - rest :][:size]
        return hashlib.sha256(start).hexdigest() if size >= SHORTEST_PRINT and len(set(start)) > FEWEST_VALUES else ""


@dataclass(frozen=True)
class Unopened:
    """A file that could not be opened."""

    name: str
    reason: str
    bomb: bool = False
    """Whether it unpacks to an absurd size."""


def look_inside(data: DataFiles, unopened: list[Unopened]) -> Iterator[File]:
    """Yield every non-empty file, including junk, and the files inside archives.

    `unopened`: collects files that could not be opened.
    """
    for name in data.names(junk=True):
        size = data.size(name)
        if size > LARGEST_FILE:
            unopened.append(Unopened(name, f"{size} bytes"))
        elif size:
            yield from _FileSearch(unopened).all_of(name, data.read(name), 0)


@dataclass
class _FileSearch:
    """The search of one file of the data set, including packed files."""

    unopened: list[Unopened]
    left: int = LARGEST_ARCHIVE
    """Bytes that may still be unpacked, since nested archives multiply."""

    def all_of(self, name: str, content: bytes, depth: int) -> Iterator[File]:
        """Yield the file itself and all files inside it."""
        if content.strip():
            yield File(name, content)
        if depth >= DEEPEST or name.lower().endswith(UNOPENED):
            return
        other = next((kind for start, kind in OTHER_ARCHIVES.items() if content.startswith(start)), None)
        if other is not None:
            self.unopened.append(Unopened(name, f"an archive of another kind ({other})"))
        try:
            for inner, data in self._members(name, content):
                self.left -= len(data)
                yield from self.all_of(f"{name}/{inner}", data, depth + 1)
        except UNREADABLE as error:
            self.unopened.append(Unopened(name, f"a damaged archive: {error}"))

    def _members(self, name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
        most = min(max(BOMB_BYTES, BOMB_RATIO * len(content)), max(self.left, 0))
        if content.startswith(ZIP):
            yield from self._zip(name, content, most)
        elif content.startswith(GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as opened:
                data = opened.read(most + 1)
            if len(data) > most:
                reason = f"{len(content)} bytes that unpack to more than {most}"
                self.unopened.append(Unopened(name, reason, bomb=True))
            else:
                yield PurePosixPath(name).stem, data

    def _zip(self, name: str, content: bytes, most: int) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            unpacked = sum(member.file_size for member in members)
            if unpacked > most or len(members) > MOST_MEMBERS:
                reason = f"{len(content)} bytes that claim to unpack to {unpacked} in {len(members)} files"
                self.unopened.append(Unopened(name, reason, bomb=True))
                return
            locked = [member for member in members if member.flag_bits & 1]
            if locked:
                self.unopened.append(Unopened(name, f"{len(locked)} encrypted files"))
            for member in members:
                if member not in locked and member.file_size:
                    with archive.open(member) as opened:
                        # Bounded by the member's declared size; a false one causes a CRC error.
                        yield member.filename, opened.read(member.file_size)
