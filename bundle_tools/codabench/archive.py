"""Zip files: folders zipped as Codabench does it, and reproducible zips."""

import os
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePath

from bundle_tools.atomic import replaced
from bundle_tools.errors import BundleError

Entry = tuple[str, Path | bytes]
"""Name in a zip, and content."""

# The earliest time that a zip can store; any fixed time makes the zip reproducible.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
# Already compressed; deflating them again costs time and saves nothing.
STORED_SUFFIXES = frozenset({".whl", ".mp4", ".webm", ".mkv", ".jpg", ".jpeg", ".png", ".zip", ".npz"})
LONGEST_REASON = 200
CHECKOUT = Path(__file__).resolve().parents[2]
"""Folder of this installation."""
OWN_PROGRAMS = tuple(CHECKOUT / name for name in ("ingestion_program", "scoring_program"))
MOST_MEMBERS = 200_000
"""Most files and folders in a zip: unpacking more takes minutes, however small they are."""
# All errors that reading an untrusted zip can raise.
UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError, ValueError)


def zip_folder(folder: Path, target: Path, *, links_out: bool = True, small: bool = True) -> None:
    """Zip the contents of `folder` without the folder itself, including dot-files and empty folders.

    Links are followed, as the platform follows them; `links_out`: also those that lead out of the folder. `small`:
    whether to compress, which takes longer.

    Raises BundleError when the name of a file is not UTF-8: a zip cannot hold it.
    """
    paths = sorted(folder.rglob("*"))
    for path in paths:
        name = path.relative_to(folder)
        if printable(name) != name.as_posix():
            raise BundleError(f"{folder.name}: expected file names in UTF-8, found {printable(name)!r}. Rename it.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for path in paths:
            if not path.is_file() and not path.is_dir():
                # A dangling link or a pipe: there is nothing to read, or reading would never end.
                continue
            if not links_out and path.is_symlink() and leads_out(path, folder):
                continue
            method = _method(path.name) if small else zipfile.ZIP_STORED
            archive.write(path, path.relative_to(folder).as_posix(), compress_type=method)


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path leads out of a folder, by its name or by links, and not to this installation's programs."""
    target = Path(os.path.realpath(path))  # `resolve` raises an error about links in circles
    return not target.is_relative_to(folder.resolve()) and target not in OWN_PROGRAMS


def printable(name: PurePath) -> str:
    """Return a name as printable text, whatever its bytes."""
    return name.as_posix().encode("utf-8", "backslashreplace").decode("utf-8")


def extract(archive: Path, folder: Path, most_bytes: int | None = None, most_members: int = MOST_MEMBERS) -> None:
    """Extract as the platform does: plain files without execute bits, never a link.

    `most_bytes`: most bytes, unpacked; None for no limit. `most_members`: most files and folders. Raises BundleError
    when the file is not a readable zip, or exceeds a limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            if len(members) > most_members:
                raise BundleError(f"{archive}: expected at most {most_members} files, found {len(members)}.")
            size = sum(info.file_size for info in members)
            if most_bytes is not None and size > most_bytes:
                raise BundleError(f"{archive}: {size / 1e9:.1f} GB unpacked, more than {most_bytes / 1e9:.1f} GB.")
            # extractall drops absolute names, "..", links and modes.
            opened.extractall(folder)
    except UNREADABLE as error:
        # The reason may quote a broken name of any length.
        reason = str(error)[:LONGEST_REASON]
        raise BundleError(f"{archive}: expected a readable zip file, found: {reason}. Zip the files again.") from error


def copy_zipped(source: Path, folder: Path, scratch: Path) -> None:
    """Copy a folder or a zip into `folder` through a zip, as the platform does; links out of it are left behind."""
    if source.is_dir():
        zip_folder(source, scratch, links_out=False, small=False)
        source = scratch
    extract(source, folder)


def write_deterministic(target: Path, entries: Iterable[Entry]) -> None:
    """Write a zip whose bytes depend on names and contents alone (sorted, fixed time, fixed mode).

    `entries`: name inside the zip, and the file to read or the content itself.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with replaced(target) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, content in sorted(entries, key=lambda entry: entry[0]):
            info = zipfile.ZipInfo(name, FIXED_TIME)
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            info.compress_type = _method(name)
            data = content if isinstance(content, bytes) else content.read_bytes()
            archive.writestr(info, data)


def zip_folders(folders: list[str], loose: list[Entry], scratch: Path) -> tuple[dict[str, str], list[Entry]]:
    """Replace each folder by a zip.

    `folders`: their names in `competition.yaml`.
    Returns `zipped`: name of the folder in `competition.yaml` -> name of its zip.
    Returns `packed`: all files, with these folders replaced by zips.
    """
    zipped, packed = {}, list(loose)
    for folder in folders:
        prefix = folder.rstrip("/") + "/"
        inside = [(name.removeprefix(prefix), content) for name, content in packed if name.startswith(prefix)]
        if not inside:
            # Not a folder of this bundle, but a zip or the key of a data set on the server.
            continue
        zipped[folder] = prefix[:-1] + ".zip"
        archive = scratch / zipped[folder]
        write_deterministic(archive, inside)
        packed = [entry for entry in packed if not entry[0].startswith(prefix)]
        packed.append((zipped[folder], archive))
    return zipped, packed


def _method(name: str) -> int:
    return zipfile.ZIP_STORED if Path(name).suffix.lower() in STORED_SUFFIXES else zipfile.ZIP_DEFLATED
