"""A program or data set of a bundle, with one interface for folders and zips."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from bundle_tools.codabench.archive import leads_out
from bundle_tools.codabench.keys import FILES_OF_TASK, KeyPath, is_key
from bundle_tools.codabench.rules.archive import JUNK, check_zip
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import CRASHES, FAILS_LATER, REFUSED, Finding, shown


@dataclass(frozen=True)
class DataFiles:
    """The files that Codabench would hand to a program or a participant."""

    path: Path
    """Folder or zip."""
    root: Path | None = None
    """The bundle's folder: links to folders inside it are followed, as most zip programs do; None follows none."""

    @cached_property
    def _archive(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.path)

    @cached_property
    def _all_names(self) -> list[str]:
        if self.path.is_dir():
            return sorted(_walk(self.path, self.root))
        return sorted(member.filename for member in self._archive.infolist() if not member.is_dir())

    @cached_property
    def _names(self) -> list[str]:
        return [name for name in self._all_names if JUNK.isdisjoint(name.split("/"))]

    def names(self, *, junk: bool = False) -> list[str]:
        """Return the files' names relative to the root, sorted; on demand with junk, which Codabench keeps."""
        return list(self._all_names if junk else self._names)

    def size(self, name: str) -> int:
        """Return the bytes of one file."""
        return (self.path / name).stat().st_size if self.path.is_dir() else self._archive.getinfo(name).file_size

    def read(self, name: str, most: int = -1) -> bytes:
        """Return the content of one file, or its first `most` bytes."""
        with (self.path / name).open("rb") if self.path.is_dir() else self._archive.open(name) as file:
            return file.read(most)

    def text(self, name: str) -> str:
        """Return the content of one file as UTF-8 text; invalid bytes are replaced."""
        return self.read(name).decode("utf-8-sig", "replace")


def check_path(bundle: ParsedBundle, path: KeyPath, value: object) -> Iterator[Finding]:
    """Find what is wrong with the path of a program or data set; missing keys are ignored here."""
    where, name = bundle.at(*path), str(path[-1])
    if not isinstance(value, str):
        if value is not None:
            what = f"{name}: expected a path; found {shown(value)}."
            yield Finding("path-type", "error", where, what, CRASHES, "Write a folder with a trailing slash.")
        return
    if not value.strip():
        what = f"{name}: expected a path; found an empty one."
        effect = "Codabench packs the whole bundle, labels included, as this data set."
        yield Finding("path-empty", "error", where, what, effect, "Name a folder, or leave the key out.")
        return
    if is_key(value):
        return
    if value.startswith("/") or "\\" in value or ".." in PurePosixPath(value).parts:
        what = f"{name}: expected a path inside the bundle; found {shown(value)}."
        yield Finding(
            "path-outside", "error", where, what, "It may exist here but not on the server.", "Use a relative path."
        )
        return
    target = bundle.inside(value)
    if target is None and os.path.islink(bundle.root / value):  # noqa: PTH114 - no path is too long or odd for it
        what = f"{name}: expected a folder or a zip of the bundle; found {shown(value)}, a link out of it."
        yield Finding("path-outside", "error", where, what, REFUSED, "Replace the link with what it names.")
    elif target is None:
        what = f"{name}: expected an existing folder or zip, or a data set's key; found {shown(value)}."
        yield Finding("path-missing", "error", where, what, REFUSED, "Correct the path.")
    elif target.is_dir():
        yield from _check_folder(bundle, where, name, value)
    elif not target.is_file() or not _is_sound_zip(target):
        what = f"{name}: expected a folder or a valid zip; found {shown(value)}."
        yield Finding("path-zip", "error", where, what, FAILS_LATER, "Name a folder with a trailing slash.")


def _check_folder(bundle: ParsedBundle, where: str, name: str, value: str) -> Iterator[Finding]:
    if not value.endswith("/"):
        what = f"{name}: expected a trailing slash; found {shown(value)}."
        # A path of one name is zipped beside the uploads of others; a longer one stays in the upload's own folder.
        shared = "/" not in value
        effect = "Codabench zips it into a temporary folder that all uploads share." if shared else "It works."
        yield Finding("path-slash", "warning" if shared else "note", where, what, effect, f"Write {value}/.")
    folder = bundle.root / value
    if folder.resolve() == bundle.root.resolve():
        what = f"{name}: names the bundle itself."
        effect = "Codabench packs the whole bundle, labels included, as this data set."
        yield Finding("path-empty", "error", where, what, effect, "Name a folder, or leave the key out.")
    elif folder.with_name(folder.name + ".zip").exists():
        what = f"{name}: both {folder.name}/ and {folder.name}.zip exist."
        yield Finding("path-twins", "error", where, what, "Codabench overwrites the zip.", "Delete or rename one.")
    elif not any(folder.iterdir()):
        what = f"{name}: {value} is empty."
        yield Finding("path-hollow", "warning", where, what, FAILS_LATER, "Put the files there.")


def find(bundle: ParsedBundle, value: object) -> DataFiles | None:
    """Open a path of the bundle; None if there is nothing to open, which `check_path` reports."""
    if not isinstance(value, str):
        return None
    if value not in bundle.opened:
        bundle.opened[value] = _open(bundle, value)
    dataset: DataFiles | None = bundle.opened[value]
    return dataset


def uses_of(bundle: ParsedBundle, *keys: str) -> list[tuple[KeyPath, str]]:
    """Yield every use of a program or data set with its place in the file; with keys, only uses under them."""
    known = bundle.keys
    sections = (
        *((task, FILES_OF_TASK) for task in known.tasks),
        *((solution, ("path",)) for solution in known.solutions or ()),
        *((phase, ("starting_kit", "public_data")) for phase in known.phases),
    )
    return [
        ((*section.key_path, key), value)
        for section, its_keys in sections
        for key in its_keys
        if key in (keys or its_keys) and isinstance(value := getattr(section, key), str) and value.strip()
    ]


def opened(bundle: ParsedBundle, *keys: str) -> dict[str, DataFiles]:
    """Open the values of some keys of tasks, solutions and phases: path -> its files, each path once."""
    return {value: data for _, value in uses_of(bundle, *keys) if (data := find(bundle, value)) is not None}


def _open(bundle: ParsedBundle, value: str) -> DataFiles | None:
    path = None if is_key(value) else bundle.inside(value)
    if path is None or path.resolve() == bundle.root.resolve():
        return None
    return DataFiles(path, bundle.root) if path.is_dir() or (path.is_file() and _is_sound_zip(path)) else None


def _is_sound_zip(path: Path) -> bool:
    state = path.stat()
    return _is_sound_file(path, state.st_mtime_ns, state.st_size)


# Every rule opens the same few zips, and listing a large one takes seconds.
@lru_cache(maxsize=64)
def _is_sound_file(path: Path, _changed_ns: int, _size: int) -> bool:
    return not any(finding.severity == "error" for finding in check_zip(path))


def _walk(folder: Path, root: Path | None) -> Iterator[str]:
    """Yield all files below a folder; a linked folder once: links can form circles. No link leads out of the bundle."""
    seen = {folder.resolve()}
    around = root or folder
    for parent, folders, files in os.walk(folder, followlinks=root is not None):
        for name in list(folders):
            path = Path(parent, name)
            if path.is_symlink():
                target = path.resolve()
                if root is None or target in seen or root.resolve() not in target.parents:
                    folders.remove(name)
                seen.add(target)
        # Plain text, because a Path for each of many thousand files takes seconds.
        below = "" if parent == str(folder) else os.path.relpath(parent, folder) + "/"
        for name in files:
            file = f"{parent}/{name}"
            if os.path.isfile(file) and not (os.path.islink(file) and leads_out(Path(file), around)):  # noqa: PTH113, PTH114
                yield below + name
