"""The Python of one program: with only the packages of its own lock, as in its own container.

This environment holds the packages of both programs and of the tools, so a program that imports what its lock lacks
would work here and nowhere else.
"""

import compileall
import contextlib
import hashlib
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path
from py_compile import PycInvalidationMode

from bundle_tools.codabench.archive import extract, write_deterministic
from bundle_tools.codabench.worker import CannotStart
from bundle_tools.errors import BundleError

LOCK = "requirements.lock"
PACKAGE = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==[^\s;]+[ \t]*(;)?", re.MULTILINE)
ALWAYS = ("pip", "")
"""A package of the official images besides Python, without a marker."""
KEPT_PROGRAMS = 8
"""Of how many programs the compiled files are kept."""


def python_for(program: Path) -> Path:
    """Return a Python with exactly the packages of a program's lock; without a lock or a virtual environment, this one.

    It is made once, from links to the files of this environment, and kept in it. Raises CannotStart when a package of
    the lock is not installed here.
    """
    lock = program / LOCK
    if sys.prefix == sys.base_prefix or not lock.is_file():
        return Path(sys.executable)
    installed, missing = {}, []
    for name, marker in (ALWAYS, *PACKAGE.findall(lock.read_text("utf-8"))):
        try:
            installed[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if not marker and name != ALWAYS[0]:  # a package with a marker may be for another system
                missing.append(name)
    if missing:
        raise CannotStart(
            f"{program.name}/{LOCK} lists packages that are not installed here: {', '.join(missing)}; "
            f"install them: {sys.executable} -m pip install {' '.join(missing)}"
        )
    versions = sorted((name, package.version) for name, package in installed.items())
    key = hashlib.sha256(repr((sys.version, versions)).encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / "programs" / key
    if not folder.exists():
        _make(folder, installed.values())
    return folder / "bin" / "python3"


def _make(folder: Path, packages: Iterable[importlib.metadata.Distribution]) -> None:
    """Make the environment elsewhere and move it into place, because two runs may start at the same moment."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        venv.EnvBuilder(symlinks=True).create(made)
        site = next(made.glob("lib/python*/site-packages"))
        for package in packages:
            for file in package.files or ():
                source, target = Path(str(package.locate_file(file))), site / file
                if ".." in file.parts or file.is_absolute() or not source.is_file():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(source, target)
                except OSError:  # another file system, or one without links
                    shutil.copy2(source, target)
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def own_folder(name: str) -> Path | None:
    """Return a folder of this virtual environment for what is compiled once; None if there is none to write to."""
    if sys.prefix == sys.base_prefix or not os.access(sys.prefix, os.W_OK):
        return None
    folder = Path(sys.prefix) / "programs" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def add_compiled(program: Path) -> None:
    """Put compiled files beside the sources of a program; they are kept in this environment for its next copy.

    Python checks each against the hash of its source.
    """
    sources = sorted((path.relative_to(program).as_posix(), path) for path in program.rglob("*.py") if path.is_file())
    hashes = [(name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in sources]
    key = hashlib.sha256(repr((sys.version, hashes)).encode()).hexdigest()[:12]
    folder = own_folder("compiled")
    if folder is None:
        return
    kept = folder / f"{key}.zip"
    with contextlib.suppress(BundleError):
        extract(kept, program)
        return
    compileall.compile_dir(program, quiet=2, force=True, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    with contextlib.suppress(OSError):  # an environment that cannot be written to
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / kept.name
            write_deterministic(made, [(path.relative_to(program).as_posix(), path) for path in program.rglob("*.pyc")])
            made.replace(kept)
        for old in sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime)[:-KEPT_PROGRAMS]:
            old.unlink(missing_ok=True)
