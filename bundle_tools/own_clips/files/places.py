"""Files where an organiser has them: in folders, in zip archives, and in archives inside archives.

Nothing is unpacked to disk and no name in an archive becomes a path, so an archive can neither write outside a folder
nor fill the disk. An archive that is stored in another one is read where it lies; a compressed one is read from its
start to its end, in the order of its members.
"""

import io
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, cast

from bundle_tools.archive import UNREADABLE

ENCRYPTED = 1
"""The flag of an encrypted member."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""What stands before a member: a mark, and the lengths of its name and of what else is said there."""


@dataclass(frozen=True)
class Place:
    """Where one file is."""

    path: Path
    """The file on disk, or the outermost archive that holds it."""
    inside: tuple[str, ...] = ()
    """Names inside archives, outermost first; empty for a file on disk."""
    size: int = 0
    """Bytes of the file."""
    order: int = 0
    """Its rank in reading order."""
    direct: bool = True
    """Whether reading can start at it; not so in a compressed archive inside an archive."""
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    """Password of each level of `inside`; empty where there is none."""

    def __str__(self) -> str:
        return " > ".join((self.path.name, *self.inside))

    @property
    def name(self) -> str:
        """Name of the file without folders."""
        return base_name(self.inside[-1]) if self.inside else self.path.name

    @property
    def container(self) -> tuple[Path, tuple[str, ...]]:
        """What has to be open to read it: the archive, or the folder."""
        return (self.path, self.inside[:-1]) if self.inside else (self.path.parent, ())


def read(places: Iterable[Place]) -> Iterator[tuple[Place, bytes | str]]:
    """Read files one after the other; archives are opened once for neighbours.

    Yields
    ------
    place
        As given.
    content
        The file, or a sentence about why it cannot be read.
    """
    with ExitStack() as stack:
        container: tuple[Path, tuple[str, ...]] | None = None
        archive: zipfile.ZipFile | None = None
        for place in places:
            try:
                if place.inside and (archive is None or place.container != container):
                    stack.close()
                    archive, container = None, place.container
                    archive = _open(place, stack)
                yield place, _content(place, archive)
            except UNREADABLE as error:
                yield place, reason_of(error)


def read_one(place: Place) -> bytes | str:
    """Read one file, or say why it cannot be read."""
    return next(content for _, content in read([place]))


def _content(place: Place, archive: zipfile.ZipFile | None) -> bytes:
    if archive is not None and place.inside:
        return archive.read(place.inside[-1], pwd=place.keys[-1] or None)
    content = place.path.read_bytes()
    if len(content) != place.size:
        raise OSError("it changed while it was read")
    return content


def _open(place: Place, stack: ExitStack) -> zipfile.ZipFile:
    """Open the archive that holds a file, through the archives around it."""
    opened = stack.enter_context(zipfile.ZipFile(place.path))
    for name, key in zip(place.inside[:-1], place.keys[:-1], strict=True):
        inner = stack.enter_context(open_member(opened, opened.getinfo(name), key))
        opened = stack.enter_context(zipfile.ZipFile(inner))
    return opened


class Window(io.RawIOBase):
    """A stretch of a file as a file of its own."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__()
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("expected a place inside the file, found one before its start")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Read into a buffer."""
        self._file.seek(self._start + self._at)
        piece = self._file.read(min(len(buffer), max(0, self._size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def open_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, key: bytes) -> IO[bytes]:
    """Open a member, where it lies if it is stored as it is: zipfile would read all that stands before."""
    file = opened.fp
    if not is_stored(info) or file is None:
        return opened.open(info, pwd=key or None)
    file.seek(info.header_offset)
    magic, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if magic != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member is not where the list says")
    start = info.header_offset + _LOCAL_HEADER.size + name + extra
    return cast(IO[bytes], io.BufferedReader(Window(file, start, info.file_size)))


def is_stored(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member lies in its archive as it is."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & ENCRYPTED


def base_name(name: str) -> str:
    """Give the last part of a name in an archive."""
    return PurePosixPath(name.replace("\\", "/")).name


def reason_of(error: Exception) -> str:
    """Say in short why something cannot be read."""
    return f"{type(error).__name__}: {error}"[:200]
