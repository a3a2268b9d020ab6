"""The Python of one program: with only the packages of its own lock, as in its own container.

This environment holds the packages of both programs and of the tools, so a program that imports what its lock lacks
would work here and nowhere else.
"""

import hashlib
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from bundle_tools.codabench.worker import CannotStart

LOCK = "requirements.lock"
_PACKAGE = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==[^\s;]+[ \t]*(;)?", re.MULTILINE)
# Packages of the official images besides Python.
_ALWAYS = ("pip",)


def python_for(program: Path) -> Path:
    """Return a Python with exactly the packages of the program's lock.

    It is made once, from links to the files of this environment, and kept in it.

    Parameters
    ----------
    program
        The program's folder. Without a lock, or outside a virtual environment, the current Python is returned.

    Raises
    ------
    CannotStart
        When a package of the lock is not installed here.
    """
    lock = program / LOCK
    if sys.prefix == sys.base_prefix or not lock.is_file():
        return Path(sys.executable)
    versions, missing = {name: version for name in _ALWAYS if (version := _version(name))}, []
    for name, marker in _PACKAGE.findall(lock.read_text("utf-8")):
        if version := _version(name):
            versions[name] = version
        elif not marker:  # a package with a marker may be for another system
            missing.append(name)
    if missing:
        raise CannotStart(
            f"{program.name}/{LOCK} lists packages that are not installed here: {', '.join(missing)}; "
            f"install them: {sys.executable} -m pip install {' '.join(missing)}"
        )
    key = hashlib.sha256(repr((sys.version, sorted(versions.items()))).encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / "programs" / key
    if not folder.exists():
        _make(folder, list(versions))
    return folder / "bin" / "python3"


def _version(name: str) -> str | None:
    """Return the version of a package that is installed here, else None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _make(folder: Path, names: list[str]) -> None:
    """Make the environment elsewhere and move it into place, because two runs may start at the same moment."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        made = Path(beside) / "made"
        venv.EnvBuilder(symlinks=True).create(made)
        packages = next(made.glob("lib/python*/site-packages"))
        for source, name in (pair for package in names for pair in _files(package)):
            target = packages / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(source, target)
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def _files(package: str) -> Iterator[tuple[Path, str]]:
    """List the files of a package below the folder of packages, and their names there."""
    distribution = importlib.metadata.distribution(package)
    for file in distribution.files or ():
        source = Path(str(distribution.locate_file(file)))
        if ".." not in file.parts and not file.is_absolute() and source.is_file():
            yield source, file.as_posix()


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
