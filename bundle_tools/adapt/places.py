"""Files where an organiser has them: in folders, in zip archives, and in archives inside archives.

Nothing is unpacked to disk and no name in an archive becomes a path, so an archive can neither write outside a folder
nor fill the disk. An archive that is stored in another one is read where it lies; a compressed one is read from its
start to its end, in the order of its members.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, cast

from bundle_tools.adapt.problems import Problems
from bundle_tools.archive import UNREADABLE
from bundle_tools.console import Progress

DEEPEST = 4
LARGEST_FILE = 1 << 30
LARGEST_ARCHIVE = 1 << 40
MOST_FILES = 1_000_000
AES = 99
ENCRYPTED = 1
JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_BEGINNINGS = {".zip": (0, b"PK"), ".mp4": (4, b"ftyp")}
"""Where and how files begin that are large: Python decrypts only a few megabytes a second."""
FOREIGN = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
_END = struct.Struct("<4s12xI2x")
"""The record that ends an archive, before its comment: a mark, and where the list of members begins."""
_IN_ZIP64 = 0xFFFFFFFF
"""The list begins where another record says, in an archive of more than 4 GB."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")

READ_AGAIN = "Download or copy it again."


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
        return _base(self.inside[-1]) if self.inside else self.path.name

    @property
    def container(self) -> tuple[Path, tuple[str, ...]]:
        """What has to be open to read it: the archive, or the folder."""
        return (self.path, self.inside[:-1]) if self.inside else (self.path.parent, ())


class Readable(Protocol):
    """A file that is read into memory that is there already."""

    def seek(self, offset: int, /) -> int:
        """Go to a place in it."""
        ...

    def readinto(self, buffer: memoryview, /) -> int:
        """Read into a buffer."""
        ...


class Window(io.RawIOBase):
    """A stretch of a file as a file of its own."""

    def __init__(self, file: Readable, start: int, size: int) -> None:
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
        wanted = memoryview(buffer)[: max(0, self._size - self._at)]
        length = self._file.readinto(wanted)
        self._at += length
        return length


def scan(
    root: Path, *, passwords: Sequence[bytes] = (), problems: Problems, progress: Progress | None = None
) -> list[Place]:
    """List every file below a folder, those in archives too, in reading order.

    Parameters
    ----------
    root
        The folder, or a single file.
    passwords
        To try on encrypted archives.
    problems
        Receives what cannot be read.
    progress
        Told of every file on disk.
    """
    search = _Search(tuple(passwords), problems)
    paths = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
    for done, path in enumerate(paths, 1):
        search.look_at(path)
        if progress is not None:
            progress(done, len(paths))
    return search.found


class _Search:
    """One search for files."""

    def __init__(self, passwords: tuple[bytes, ...], problems: Problems) -> None:
        self.found: list[Place] = []
        self._passwords, self._problems = passwords, problems

    def look_at(self, path: Path) -> None:
        """List a file on disk, or what it holds."""
        name = path.name
        if _is_junk(name):
            return
        if name.lower().endswith(".zip"):
            with path.open("rb") as file:
                self._look_inside(file, Place(path, size=path.stat().st_size))
        elif name.lower().endswith(FOREIGN):
            self._problems.add("archives of another kind than zip", name, "Unpack them into the folder first.")
        else:
            self._add(Place(path, size=path.stat().st_size))

    def _add(self, place: Place) -> None:
        if place.size > LARGEST_FILE:
            self._problems.add("files of more than 1 GB", str(place), "Cut the clips first.")
        elif len(self.found) < MOST_FILES:
            self.found.append(replace(place, order=len(self.found)))

    def _look_inside(self, file: IO[bytes] | io.BufferedIOBase, archive: Place) -> None:
        try:
            with zipfile.ZipFile(cast(IO[bytes], file)) as opened:
                _check_whole(file, opened)
                members = [info for info in opened.infolist() if not info.is_dir() and not _is_junk(info.filename)]
                key = self._key(opened, members, archive)
                if key is None or not self._is_sane(members, archive):
                    return
                for info in sorted(members, key=lambda info: info.header_offset):
                    self._look_at_member(opened, info, archive, key)
        except UNREADABLE as error:
            found = "is no zip archive, or breaks off" if isinstance(error, zipfile.BadZipFile) else _reason(error)
            self._problems.add(f"archives that cannot be read ({found})", str(archive), READ_AGAIN)

    def _look_at_member(self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: Place, key: bytes) -> None:
        name = info.filename
        is_archive = name.lower().endswith(".zip")
        place = Place(
            archive.path,
            (*archive.inside, name),
            size=info.file_size,
            direct=archive.direct and (not is_archive or _is_stored(info)),
            keys=(*archive.keys, key),
        )
        if not is_archive:
            self._add(place)
        elif len(place.inside) >= DEEPEST:
            self._problems.add("archives inside too many others", str(place), "Unpack the outer ones first.")
        else:
            with _inner(opened, info, key) as inner:
                self._look_inside(inner, place)

    def _is_sane(self, members: Sequence[zipfile.ZipInfo], archive: Place) -> bool:
        unsafe = [info.filename for info in members if _is_unsafe(info.filename)]
        self._problems.add_all(
            "names in archives that lead out of the folder",
            [f"{archive} > {name}" for name in unsafe],
            "This archive was made to do harm, or by mistake: get it from its makers again.",
        )
        if sum(info.file_size for info in members) > LARGEST_ARCHIVE or len(members) > MOST_FILES:
            self._problems.add("archives that unpack to more than a disk holds", str(archive), READ_AGAIN)
            return False
        return not unsafe

    def _key(self, opened: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], archive: Place) -> bytes | None:
        """Return the password of an archive: empty where none is needed, None where none fits."""
        encrypted = [info for info in members if info.flag_bits & ENCRYPTED]
        if not encrypted:
            return b""
        if any(info.compress_type == AES for info in encrypted):
            fix = "Unpack them with 7-Zip into the folder: `7z x -pPASSWORD ARCHIVE`."
            self._problems.add("archives with AES encryption, which Python cannot read", str(archive), fix)
            return None
        smallest = min(encrypted, key=lambda info: info.file_size)
        for password in self._passwords:
            if _fits(opened, smallest, password):
                return password
        fix = (
            "None of the given passwords fits: the makers of the data give them on its page."
            if self._passwords
            else "Write their passwords, one a line, into a file and name it with --passwords."
        )
        self._problems.add("encrypted archives", str(archive), fix)
        return None


def read(places: Iterable[Place]) -> Iterator[tuple[Place, memoryview | str]]:
    """Read files one after the other; archives are opened once for neighbours.

    Yields
    ------
    place
        As given.
    content
        The file, which may be changed and is gone when the next one is asked for: all are read into the same memory.
        Or a sentence about why it cannot be read.
    """
    memory = bytearray()
    with ExitStack() as stack:
        container: tuple[Path, tuple[str, ...]] | None = None
        archive: zipfile.ZipFile | None = None
        for place in places:
            if len(memory) < place.size:
                memory = bytearray(place.size)
            try:
                if place.inside and place.container != container:
                    stack.close()
                    archive, container = None, place.container
                    archive = _open(place, stack)
                content = memoryview(memory)[: place.size]
                _read_one(place, archive, content)
                yield place, content
            except UNREADABLE as error:
                yield place, _reason(error)


def read_one(place: Place) -> bytes | str:
    """Read one file, or say why it cannot be read."""
    content = next(content for _, content in read([place]))
    return content if isinstance(content, str) else bytes(content)


def _read_one(place: Place, archive: zipfile.ZipFile | None, content: memoryview) -> None:
    if not place.inside:
        with place.path.open("rb") as file:
            if file.readinto(content) != place.size or file.read(1):
                raise OSError("it changed while it was read")
        return
    if archive is None:
        raise zipfile.BadZipFile("the archive cannot be opened")
    info = archive.getinfo(place.inside[-1])
    with _inner(archive, info, place.keys[-1]) as member:
        # zipfile checks what it unpacks; what is stored is read past it, without its copies.
        if member.readinto(content) != place.size or (_is_stored(info) and zlib.crc32(content) != info.CRC):
            raise zipfile.BadZipFile("bad CRC, or fewer bytes than the list says")


def _open(place: Place, stack: ExitStack) -> zipfile.ZipFile:
    """Open the archive that holds a file, through the archives around it."""
    opened = stack.enter_context(zipfile.ZipFile(place.path))
    for name, key in zip(place.inside[:-1], place.keys[:-1], strict=True):
        inner = stack.enter_context(_inner(opened, opened.getinfo(name), key))
        opened = stack.enter_context(zipfile.ZipFile(cast(IO[bytes], inner)))
    return opened


def _check_whole(file: IO[bytes] | io.BufferedIOBase, opened: zipfile.ZipFile) -> None:
    """Refuse an archive with something before or behind it.

    What breaks off may end in a whole archive that it holds, and zipfile would take that for all of it.
    """
    file.seek(-_END.size - len(opened.comment), io.SEEK_END)
    magic, directory = _END.unpack(file.read(_END.size))
    if magic != b"PK\x05\x06" or directory not in (opened.start_dir, _IN_ZIP64):
        raise zipfile.BadZipFile("it does not fill its file")


def _inner(opened: zipfile.ZipFile, info: zipfile.ZipInfo, key: bytes) -> io.BufferedIOBase:
    """Open a member, where it lies if it is stored as it is."""
    file = opened.fp
    if not _is_stored(info) or file is None:
        return cast(io.BufferedIOBase, opened.open(info, pwd=key or None))
    file.seek(info.header_offset)
    magic, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if magic != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member is not where the list says")
    start = info.header_offset + _LOCAL_HEADER.size + name + extra
    return io.BufferedReader(Window(cast(Readable, file), start, info.file_size))


def _fits(opened: zipfile.ZipFile, info: zipfile.ZipInfo, password: bytes) -> bool:
    """Tell whether a password opens a member: by how its kind of file begins, else by its checksum at the end."""
    start, beginning = _BEGINNINGS.get(PurePosixPath(info.filename).suffix.lower(), (0, b""))
    try:
        with opened.open(info, pwd=password) as member:
            if beginning:
                return member.read(start + len(beginning))[start:] == beginning
            while member.read(1 << 20):
                pass
    except UNREADABLE:
        return False
    return True


def _is_stored(info: zipfile.ZipInfo) -> bool:
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & ENCRYPTED


def _is_junk(name: str) -> bool:
    return name.startswith(JUNK) or _base(name).startswith(("._", *JUNK))


def _is_unsafe(name: str) -> bool:
    plain = name.replace("\\", "/")
    return plain.startswith("/") or ".." in PurePosixPath(plain).parts or plain[1:2] == ":"


def _base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
