"""Find files in a folder and in all archives below it, and report everything wrong with those archives."""

import io
import struct
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.console import Progress
from bundle_tools.own_clips.files.places import Place, base_name, copied_out, reason_of
from bundle_tools.own_clips.problems import Problems

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
) -> list[Place]:
    """List every file below a folder, including those in archives, in reading order."""
    paths = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
    search = _Search(passwords, problems, progress, len(paths))
    for path in paths:
        search.look_at(path)
    return search.found


def by_name(places: Iterable[Place], what: str, problems: Problems, *, fix: str) -> dict[str, Place]:
    """Return files by name; a duplicate name is a problem."""
    found: dict[str, Place] = {}
    for place in places:
        if place.name in found:
            problems.add(what, f"{found[place.name]} and {place}", fix=fix)
        found.setdefault(place.name, place)
    return found


class _Search:
    """One search for files."""

    def __init__(self, passwords: Sequence[bytes], problems: Problems, progress: Progress | None, total: int) -> None:
        self.found: list[Place] = []
        self._passwords, self._problems = passwords, problems
        self._progress, self._done, self._total = progress, 0, total

    def look_at(self, path: Path) -> None:
        """List a file on disk, or an archive's members."""
        try:
            place = Place(path, size=path.stat().st_size)
            if _is_junk(path.name):
                pass
            elif _is_archive(path.name):
                with path.open("rb") as file:
                    self._look_inside(file, place)
            elif path.name.lower().endswith(FOREIGN):
                fix = "Unpack them into the folder first."
                self._problems.add("archives that are not zip", path.name, fix=fix)
            else:
                self._add(place)
        except OSError as error:
            self._problems.add(f"files that cannot be opened ({error.strerror})", path.name, fix=READ_AGAIN)
        self._count()

    def _count(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _add(self, place: Place) -> None:
        if place.size > LARGEST_FILE:
            self._problems.add("files of more than 1 GB", str(place), fix="Cut the clips first.")
        else:
            self.found.append(replace(place, order=len(self.found)))

    def _look_inside(self, file: IO[bytes], archive: Place) -> None:
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
            found = "is not a zip archive, or is cut off" if isinstance(error, zipfile.BadZipFile) else reason_of(error)
            self._problems.add(f"archives that cannot be read ({found})", str(archive), fix=READ_AGAIN)

    def _look_at_member(self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: Place, key: bytes) -> None:
        holds_more = _is_archive(info.filename)
        place = Place(
            archive.path,
            (*archive.inside, info.filename),
            size=info.file_size,
            keys=(*archive.keys, key),
        )
        if not holds_more:
            self._add(place)
            return
        if len(place.inside) >= DEEPEST:
            self._problems.add("archives inside too many others", str(place), fix="Unpack the outer ones first.")
        else:
            with copied_out(opened, info, key) as inner:
                self._look_inside(inner, place)
        self._count()

    def _is_sane(self, members: Sequence[zipfile.ZipInfo], archive: Place) -> bool:
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

    def _key(self, opened: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], archive: Place) -> bytes | None:
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
