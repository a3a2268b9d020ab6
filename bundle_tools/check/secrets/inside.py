"""All files of a program or data set, also those inside its zips and gzips: what a curious participant would open."""

import gzip
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from bundle_tools.archive import UNREADABLE
from bundle_tools.check.dataset import Dataset

# Beyond these an archive is no data but an attack or a mistake; no file of a competition's kit comes near.
LARGEST_FILE = 500_000_000
LARGEST_ARCHIVE = 2_000_000_000
MOST_MEMBERS = 50_000
# Deflate packs at most about 1000 : 1; a table of zeros may reach 200.
BOMB_RATIO = 200
BOMB_BYTES = 50_000_000
# Packages to install: third-party code, pinned by hash in the lock, large, and no hiding place that is not seen there.
UNOPENED = frozenset({".whl"})

ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b\x08"


@dataclass(frozen=True)
class File:
    """One file with its content."""

    name: str
    """Path relative to the data set's root; members of a zip have the zip's name before theirs."""
    content: bytes
    """All of it."""

    @cached_property
    def sha256(self) -> str:
        """The content's hash."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Unopened:
    """Something that could not be looked into."""

    name: str
    """Path relative to the data set's root."""
    reason: str
    """What was found."""
    bomb: bool
    """Whether it unpacks to absurdly much."""


def look_inside(data: Dataset, unopened: list[Unopened]) -> Iterator[File]:
    """Give every file that is not empty, and the files of archives one level down.

    Parameters
    ----------
    data
        The data set.
    unopened
        Receives what could not be looked into.
    """
    for name in data.names():
        if data.size(name) > LARGEST_FILE:
            unopened.append(Unopened(name, f"{data.size(name)} bytes", bomb=False))
            continue
        content = data.read(name)
        if content.strip():
            yield File(name, content)
        if PurePosixPath(name).suffix.lower() not in UNOPENED:
            if content.startswith(ZIP):
                yield from _guarded(_zip, name, content, unopened)
            elif content.startswith(GZIP):
                yield from _guarded(_gzip, name, content, unopened)


def _guarded(
    open_: Callable[[str, bytes, list[Unopened]], Iterator[File]], name: str, content: bytes, unopened: list[Unopened]
) -> Iterator[File]:
    try:
        yield from open_(name, content, unopened)
    except UNREADABLE as error:
        unopened.append(Unopened(name, f"a damaged archive: {error}", bomb=False))


def _zip(name: str, content: bytes, unopened: list[Unopened]) -> Iterator[File]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        unpacked = sum(member.file_size for member in members)
        if unpacked > max(BOMB_BYTES, BOMB_RATIO * len(content)) or unpacked > LARGEST_ARCHIVE:
            reason = f"{len(content)} bytes that claim to unpack to {unpacked}"
            unopened.append(Unopened(name, reason, bomb=True))
            return
        if len(members) > MOST_MEMBERS:
            unopened.append(Unopened(name, f"{len(members)} files", bomb=True))
            return
        locked = [member.filename for member in members if member.flag_bits & 1]
        if locked:
            unopened.append(Unopened(name, f"{len(locked)} encrypted files", bomb=False))
        for member in members:
            if member.filename in locked or not member.file_size:
                continue
            with archive.open(member) as opened:
                # Bounded by what the member claims: a member that lies about its size ends in a CRC error, not in more.
                data = opened.read(member.file_size)
            if data.strip():
                yield File(f"{name}/{member.filename}", data)


def _gzip(name: str, content: bytes, unopened: list[Unopened]) -> Iterator[File]:
    most = min(max(BOMB_BYTES, BOMB_RATIO * len(content)), LARGEST_ARCHIVE)
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        unopened.append(Unopened(name, f"{len(content)} bytes that unpack to more than {most}", bomb=True))
    elif data.strip():
        yield File(f"{name}/{PurePosixPath(name).stem}", data)
