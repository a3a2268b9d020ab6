"""Find the files of a folder, wherever they lie; their problems are reported together."""

import io
import shutil
import struct
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import START, placeholder

MOST_NAMED = 5
LONGEST_TOLD = 240


class Problems:
    """Problems found, grouped by kind, in the order in which each kind first occurred.

    Thousands of clips may have the same problem, so problems of one kind are reported together. In contrast, a rule of
    `bundle check` has a code, an effect and one place.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, *places: str, fix: str) -> None:
        """Note one kind of problem.

        `what`: the kind, such as "labels without a clip"; problems of one kind and fix are reported together. `places`:
        files, lines or clips; without any, nothing is noted.
        """
        if places:
            self._places.setdefault((what, fix), []).extend(map(_printable, places))

    def __bool__(self) -> bool:
        return bool(self._places)

    def lines(self) -> Iterator[str]:
        """Yield one line per kind: the number, the first few places, and the fix."""
        for (what, fix), places in self._places.items():
            named = "; ".join(places[:MOST_NAMED]) + ("; ..." if len(places) > MOST_NAMED else "")
            yield f"{what} ({len(places)}): {named}. {fix}"

    def stop(self, subject: str, outcome: str = "Nothing was written.") -> None:
        """Raise an error with all problems, if there are any.

        Raises BundleError with one line per kind.
        """
        if self:
            lines = "".join(f"\n  - {line}" for line in self.lines())
            raise BundleError(f"{subject}: {outcome} Please correct:{lines}")


def _printable(text: str) -> str:
    """Return a name as one short line: names come from untrusted archives."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return shown if len(shown) <= LONGEST_TOLD else shown[:LONGEST_TOLD] + "..."


IN_MEMORY = 1 << 28
"""Largest copy of an archive that is kept in memory, bytes."""


@dataclass(frozen=True)
class FileLocation:
    """Where one file is."""

    path: Path
    """The file on disk, or the outermost archive that holds it."""
    inside: tuple[str, ...] = ()
    """Names inside archives, outermost first; empty for a file on disk."""
    size: int = 0
    order: int = 0
    """Its rank in reading order."""
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    """Password of each level of `inside`; empty for levels without one."""

    def __str__(self) -> str:
        return " > ".join((self.path.name, *self.inside))

    @property
    def name(self) -> str:
        """Name of the file without folders, in the form of `plain`."""
        if not self.inside:
            return plain(self.path.name)
        name = base_name(self.inside[-1])
        with suppress(UnicodeError):  # macOS writes UTF-8 into archives without saying so, which reads as code page 437
            name = name.encode("cp437").decode()
        return plain(name)

    @property
    def is_nested(self) -> bool:
        """Whether its archive is inside another one and must be copied out first."""
        return len(self.inside) > 1

    @property
    def container(self) -> tuple[Path, tuple[str, ...]]:
        """The archive or folder that must be open to read it."""
        return (self.path, self.inside[:-1]) if self.inside else (self.path.parent, ())


def read(places: Iterable[FileLocation], most: int = -1) -> Iterator[tuple[FileLocation, bytes | str]]:
    """Read files in turn; consecutive files in one archive share an open archive.

    `most`: bytes to read of each; -1 for all. Yields the file, or a sentence about why it cannot be read.
    """
    with ExitStack() as stack:
        container: tuple[Path, tuple[str, ...]] | None = None
        archive: zipfile.ZipFile | None = None
        for file in places:
            try:
                if file.inside and (archive is None or file.container != container):
                    stack.close()
                    archive, container = None, file.container
                    archive = _open(file, stack)
                yield file, _content(file, archive, most)
            except UNREADABLE as error:
                yield file, reason_of(error)


def read_one(file: FileLocation) -> bytes | str:
    """Read one file, or say why it cannot be read."""
    return next(content for _, content in read([file]))


def _content(listed: FileLocation, archive: zipfile.ZipFile | None, most: int) -> bytes:
    if archive is not None and listed.inside:
        with archive.open(listed.inside[-1], pwd=listed.keys[-1] or None) as member:
            return member.read(most)
    with listed.path.open("rb") as file:
        return file.read(most)


def check_placeholders(places: Iterable[FileLocation], problems: Problems) -> None:
    """Report files that only stand for others; what lies in archives inside archives is not looked at."""
    for file, start in read((file for file in places if not file.is_nested), START):
        kind = placeholder(file.name, start) if isinstance(start, bytes) else None
        if kind is not None:
            problems.add(f"files that only stand for others: {kind[0]}", str(file), fix=f"{kind[1].capitalize()}.")


def _open(listed: FileLocation, stack: ExitStack) -> zipfile.ZipFile:
    """Open the archive that holds a file, through the archives around it."""
    opened = stack.enter_context(zipfile.ZipFile(listed.path))
    for name, key in zip(listed.inside[:-1], listed.keys[:-1], strict=True):
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


WHITESPACE = " \t\r\n\v\f\u00a0\u200b\u202f\ufeff"
"""What nobody sees at the ends of a text: blanks, also those that do not break or have no width."""


def plain(text: str) -> str:
    """Return a text as names are compared: in Unicode's composed form (NFC), which macOS does not use, and stripped."""
    return unicodedata.normalize("NFC", text).strip(WHITESPACE)


def base_name(name: str) -> str:
    """Return the last part of a name in an archive."""
    return PurePosixPath(name.replace("\\", "/")).name


def reason_of(error: Exception) -> str:
    """Say briefly why something cannot be read."""
    return f"{type(error).__name__}: {error}"[:200]


DEEPEST = 4
LARGEST_FILE = 1 << 30
LARGEST_RATIO = 100
"""Largest ratio of unpacked to packed size: clips and archives of clips hardly shrink. Small files are exempt."""
ENCRYPTED = 1
"""The flag of an encrypted member."""
AES = 99
"""The compression method that marks AES encryption."""
JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")
FOREIGN = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
READ_AGAIN = "Download or copy it again."
_END = struct.Struct("<16xI2x")
"""The end-of-archive record, before its comment; it gives the offset of the list of members."""
_IN_ZIP64 = 0xFFFFFFFF
"""The offset in archives of more than 4 GB: the real one is in another record."""


def scan(
    root: Path, *, passwords: Sequence[bytes] = (), problems: Problems, progress: Progress | None = None
) -> list[FileLocation]:
    """List every file below a folder, including those in archives, in reading order."""
    paths = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
    search = _Scan(passwords, problems, progress, len(paths))
    for path in paths:
        search.look_at(path)
    return search.files


def by_name(places: Iterable[FileLocation], what: str, problems: Problems, *, fix: str) -> dict[str, FileLocation]:
    """Return files by name; a duplicate name is a problem."""
    files: dict[str, FileLocation] = {}
    for file in places:
        if file.name in files:
            problems.add(what, f"{files[file.name]} and {file}", fix=fix)
        files.setdefault(file.name, file)
    return files


class _Scan:
    """One search for files."""

    def __init__(self, passwords: Sequence[bytes], problems: Problems, progress: Progress | None, total: int) -> None:
        self.files: list[FileLocation] = []
        self._passwords, self._problems = passwords, problems
        self._progress, self._done, self._total = progress, 0, total

    def look_at(self, path: Path) -> None:
        """List a file on disk, or an archive's members."""
        try:
            listed = FileLocation(path, size=path.stat().st_size)
            if _is_junk(path.name):
                pass
            elif _is_archive(path.name):
                with path.open("rb") as file:
                    self._look_inside(file, listed)
            elif path.name.lower().endswith(FOREIGN):
                fix = "Unpack them into the folder first."
                self._problems.add("archives that are not zip", path.name, fix=fix)
            else:
                self._add(listed)
        except OSError as error:
            self._problems.add(f"files that cannot be opened ({error.strerror})", path.name, fix=READ_AGAIN)
        self._count()

    def _count(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _add(self, file: FileLocation) -> None:
        if file.size > LARGEST_FILE:
            self._problems.add("files of more than 1 GB", str(file), fix="Cut the clips first.")
        else:
            self.files.append(replace(file, order=len(self.files)))

    def _look_inside(self, file: IO[bytes], archive: FileLocation) -> None:
        try:
            with zipfile.ZipFile(file) as opened:
                _check_whole(file, opened)
                members = [info for info in opened.infolist() if not info.is_dir() and not _is_junk(info.filename)]
                key = self._key(opened, members, archive)
                if key is None or not self._is_sane(members, archive):
                    return
                self._total += sum(_is_archive(info.filename) for info in members)
                for info in sorted(members, key=lambda info: info.header_offset):
                    self._look_at_member(opened, info, archive, key)
        except UNREADABLE as error:
            reason = (
                "is not a zip archive, or is cut off" if isinstance(error, zipfile.BadZipFile) else reason_of(error)
            )
            self._problems.add(f"archives that cannot be read ({reason})", str(archive), fix=READ_AGAIN)

    def _look_at_member(
        self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: FileLocation, key: bytes
    ) -> None:
        holds_more = _is_archive(info.filename)
        file = FileLocation(
            archive.path, (*archive.inside, info.filename), size=info.file_size, keys=(*archive.keys, key)
        )
        if not holds_more:
            self._add(file)
            return
        if len(file.inside) >= DEEPEST:
            self._problems.add("archives inside too many others", str(file), fix="Unpack the outer ones first.")
        else:
            with copied_out(opened, info, key) as inner:
                self._look_inside(inner, file)
        self._count()

    def _is_sane(self, members: Sequence[zipfile.ZipInfo], archive: FileLocation) -> bool:
        unsafe = [f"{archive} > {info.filename}" for info in members if _is_unsafe(info.filename)]
        made_to_harm = "This archive is harmful or damaged: get it again from its authors."
        self._problems.add("names in archives that lead outside the folder", *unsafe, fix=made_to_harm)
        bombs = [
            f"{archive} > {info.filename}"
            for info in members
            if info.file_size > LARGEST_RATIO * max(info.compress_size, 1 << 20)
        ]
        self._problems.add("files in archives that unpack to far more than clips would", *bombs, fix=READ_AGAIN)
        return not unsafe and not bombs

    def _key(self, opened: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], archive: FileLocation) -> bytes | None:
        """Return the password of an archive: empty if none is needed, None if none fits."""
        encrypted = [info for info in members if info.flag_bits & ENCRYPTED]
        if not encrypted:
            return b""
        if any(info.compress_type == AES for info in encrypted):
            fix = "Unpack them with 7-Zip into the folder: `7z x -pPASSWORD ARCHIVE`."
            self._problems.add("archives with AES encryption, which Python cannot read", str(archive), fix=fix)
            return None
        smallest = min(encrypted, key=lambda info: info.file_size)
        for password in self._passwords:
            if _fits(opened, smallest, password):
                return password
        fix = (
            "None of the given passwords fits. The data set's page has the right ones."
            if self._passwords
            else "Write their passwords into a file, one per line, and name it with --passwords."
        )
        self._problems.add("encrypted archives", str(archive), fix=fix)
        return None


def _is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


def _check_whole(file: IO[bytes], opened: zipfile.ZipFile) -> None:
    """Refuse an archive with extra data before or after it.

    A truncated archive may end with a complete nested one, which zipfile would mistake for the whole.
    """
    file.seek(-_END.size - len(opened.comment), io.SEEK_END)
    (directory,) = _END.unpack(file.read(_END.size))
    if directory not in (opened.start_dir, _IN_ZIP64):
        raise zipfile.BadZipFile("the archive does not fill its file")


def _fits(opened: zipfile.ZipFile, info: zipfile.ZipInfo, password: bytes) -> bool:
    """Return whether a password opens a member: most wrong ones fail at once, others at the checksum."""
    try:
        with opened.open(info, pwd=password) as member:
            while member.read(1 << 20):
                pass
    except UNREADABLE:
        return False
    return True


def _is_junk(name: str) -> bool:
    """Return whether a file is a leftover of an operating system."""
    return name.startswith(JUNK) or base_name(name).startswith(("._", *JUNK))


def _is_unsafe(name: str) -> bool:
    plain = name.replace("\\", "/")
    return plain.startswith("/") or ".." in PurePosixPath(plain).parts or plain[1:2] == ":"
