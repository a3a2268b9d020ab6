"""All files of a program or data set, also those inside its archives: what a curious participant would open.

Zips (also behind something else, as pictures hide them), tars, gzip, bzip2, xz, loose objects of git and base64 are
opened, one inside the other up to a depth. Packs of git, 7z, rar, zstandard and encrypted archives are not.
"""

import base64
import bz2
import gzip
import hashlib
import io
import lzma
import re
import tarfile
import zipfile
import zlib
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

DEEPEST = 4
XZ_MEMORY = 256_000_000

ZIP, GZIP, BZIP2, XZ = b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00"
ZIP_END, LONGEST_ZIP_END = b"PK\x05\x06", 65_557
# Shorter runs are hashes and names. Each part ends where the next cannot begin: linear time.
BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{60,}(?:(?:\\n|\s)+[A-Za-z0-9+/_-]{60,})*(?:(?:\\n|\s)+[A-Za-z0-9+/_-]+)?")
SHORTEST_BASE64 = 200
# Video and pictures begin with bytes that no text has.
BINARY_START = 4096
CLIP_MARKS = (b"mdat", b"\x1fC\xb6u")
PRINT_BYTES, SHORTEST_PRINT = 65_536, 1024
BROKEN = (*UNREADABLE, tarfile.TarError, lzma.LZMAError)


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

    @cached_property
    def start_of_clip(self) -> str:
        """The hash of a video's first coded pictures, whatever stands before or after; empty where there are few."""
        marks = [at for at in (self.content.find(mark) for mark in CLIP_MARKS) if at >= 0]
        rest = len(self.content) - min(marks, default=0)
        # A power of two: a few bytes more at the end change nothing.
        size = min(PRINT_BYTES, 1 << max(rest.bit_length() - 1, 0))
        start = self.content[len(self.content) - rest :][:size]
        return hashlib.sha256(start).hexdigest() if size >= SHORTEST_PRINT and _is_varied(start) else ""


def _is_varied(content: bytes) -> bool:
    """Tell whether more than 16 kinds of bytes stand there; the beginning of most files tells already."""
    return len(set(content[:SHORTEST_PRINT])) > 16 or len(set(content)) > 16


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
    """Give every file that is not empty, junk too, and the files inside archives.

    Parameters
    ----------
    data
        The data set.
    unopened
        Receives what could not be looked into.
    """
    for name in data.names(junk=True):
        size = data.size(name)
        if size > LARGEST_FILE:
            unopened.append(Unopened(name, f"{size} bytes", bomb=False))
        elif size:
            yield from _Search(unopened).all_of(name, data.read(name), 0)


@dataclass
class _Search:
    """The search of one file of the data set, with all that is packed in it."""

    unopened: list[Unopened]
    """Receives what could not be looked into."""
    left: int = LARGEST_ARCHIVE
    """Bytes that may still be unpacked: archives inside archives multiply."""

    def all_of(self, name: str, content: bytes, depth: int) -> Iterator[File]:
        """Give the file itself and all files inside it."""
        if content.strip():
            yield File(name, content)
        if depth >= DEEPEST or PurePosixPath(name).suffix.lower() in UNOPENED:
            return
        open_, sure = _opener(content)
        if open_ is None:
            return
        try:
            for inner, data in open_(self, name, content):
                self.left -= len(data)
                yield from self.all_of(f"{name}/{inner}", data, depth + 1)
        except BROKEN as error:
            if sure:
                self.unopened.append(Unopened(name, f"a damaged archive: {error}", bomb=False))

    def most(self, content: bytes) -> int:
        """Give how many bytes this much may unpack to."""
        return min(max(BOMB_BYTES, BOMB_RATIO * len(content)), max(self.left, 0))

    def zip(self, name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
        """Open a zip."""
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            unpacked = sum(member.file_size for member in members)
            if unpacked > self.most(content):
                reason = f"{len(content)} bytes that claim to unpack to {unpacked}"
                self.unopened.append(Unopened(name, reason, bomb=True))
                return
            if len(members) > MOST_MEMBERS:
                self.unopened.append(Unopened(name, f"{len(members)} files", bomb=True))
                return
            locked = [member.filename for member in members if member.flag_bits & 1]
            if locked:
                self.unopened.append(Unopened(name, f"{len(locked)} encrypted files", bomb=False))
            for member in members:
                if member.filename in locked or not member.file_size:
                    continue
                with archive.open(member) as opened:
                    # Bounded by what the member claims: one that lies about its size ends in a CRC error, not in more.
                    data = opened.read(member.file_size)
                yield member.filename, data

    def tar(self, name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
        """Open a tar; sparse members, which may claim any size, are left out."""
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for count, member in enumerate(archive):
                if count >= MOST_MEMBERS:
                    self.unopened.append(Unopened(name, f"more than {MOST_MEMBERS} files", bomb=True))
                    return
                if member.isreg() and member.size <= len(content) and not member.issparse():
                    opened = archive.extractfile(member)
                    if opened is not None:
                        yield member.name, opened.read()

    def stream(self, name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
        """Unpack gzip, bzip2, xz or zlib."""
        most = self.most(content)
        if content.startswith(GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as opened:
                data = opened.read(most + 1)
        elif content.startswith(BZIP2):
            with bz2.BZ2File(io.BytesIO(content)) as opened_bz2:
                data = opened_bz2.read(most + 1)
        elif content.startswith(XZ):
            data = lzma.LZMADecompressor(memlimit=XZ_MEMORY).decompress(content, most + 1)
        else:
            data = zlib.decompressobj().decompress(content, most + 1)
        if len(data) > most:
            reason = f"{len(content)} bytes that unpack to more than {most}"
            self.unopened.append(Unopened(name, reason, bomb=True))
        else:
            yield PurePosixPath(name).stem, data

    def base64(self, _: str, content: bytes) -> Iterator[tuple[str, bytes]]:
        """Decode the long runs of base64 in a text."""
        for number, match in enumerate(BASE64.finditer(content), 1):
            letters = b"".join(match[0].replace(b"\\n", b" ").split()).translate(bytes.maketrans(b"-_", b"+/"))
            if len(letters) >= SHORTEST_BASE64:
                yield f"base64 {number}", base64.b64decode(letters[: len(letters) // 4 * 4])


_Opener = Callable[[_Search, str, bytes], Iterator[tuple[str, bytes]]]


def _opener(content: bytes) -> tuple[_Opener | None, bool]:
    """Tell how a file is opened, and whether it surely is what it seems."""
    if content.startswith(ZIP):
        return _Search.zip, True
    if content.startswith((GZIP, BZIP2, XZ)):
        return _Search.stream, not content.startswith(BZIP2)
    if content[257:262] == b"ustar":
        return _Search.tar, True
    if content.find(ZIP_END, max(0, len(content) - LONGEST_ZIP_END)) >= 0:
        return _Search.zip, False
    if content[:1] == b"x" and int.from_bytes(content[:2], "big") % 31 == 0:
        return _Search.stream, False
    return (None if b"\0" in content[:BINARY_START] else _Search.base64), False
