"""Locate and read an organiser's files in folders, zip archives, and archives inside archives.

No name in an archive becomes a path, so an archive cannot write outside a folder. A nested archive is copied to memory
or a temporary file while its members are read.
"""

import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from bundle_tools.codabench.archive import UNREADABLE

IN_MEMORY = 1 << 28
"""Largest copy of an archive that is kept in memory, bytes."""


@dataclass(frozen=True)
class Place:
    """Where one file is."""

    path: Path
    """The file on disk, or the outermost archive that holds it."""
    inside: tuple[str, ...] = ()
    """Names inside archives, outermost first; empty for a file on disk."""
    size: int = 0
    """Size of the file, bytes."""
    order: int = 0
    """Its rank in reading order."""
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    """Password of each level of `inside`; empty for levels without one."""

    def __str__(self) -> str:
        return " > ".join((self.path.name, *self.inside))

    @property
    def name(self) -> str:
        """Name of the file without folders."""
        return base_name(self.inside[-1]) if self.inside else self.path.name

    @property
    def is_nested(self) -> bool:
        """Whether its archive is inside another one and must be copied out first."""
        return len(self.inside) > 1

    @property
    def container(self) -> tuple[Path, tuple[str, ...]]:
        """The archive or folder that must be open to read it."""
        return (self.path, self.inside[:-1]) if self.inside else (self.path.parent, ())


def read(places: Iterable[Place]) -> Iterator[tuple[Place, bytes | str]]:
    """Read files in turn; consecutive files in one archive share an open archive.

    Yields the file, or a sentence about why it cannot be read.
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
    return place.path.read_bytes()


def _open(place: Place, stack: ExitStack) -> zipfile.ZipFile:
    """Open the archive that holds a file, through the archives around it."""
    opened = stack.enter_context(zipfile.ZipFile(place.path))
    for name, key in zip(place.inside[:-1], place.keys[:-1], strict=True):
        inner = stack.enter_context(copied_out(opened, opened.getinfo(name), key))
        opened = stack.enter_context(zipfile.ZipFile(inner))
    return opened


@contextmanager
def copied_out(opened: zipfile.ZipFile, info: zipfile.ZipInfo, key: bytes) -> Iterator[IO[bytes]]:
    """Copy a nested archive, since inside the outer one it could only be read sequentially."""
    with SpooledTemporaryFile(IN_MEMORY) as copy:
        with opened.open(info, pwd=key or None) as member:
            shutil.copyfileobj(member, copy)
        yield cast(IO[bytes], copy)


def base_name(name: str) -> str:
    """Return the last part of a name in an archive."""
    return PurePosixPath(name.replace("\\", "/")).name


def reason_of(error: Exception) -> str:
    """Say briefly why something cannot be read."""
    return f"{type(error).__name__}: {error}"[:200]
