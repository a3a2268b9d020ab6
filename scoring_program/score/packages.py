"""Provide a program's packages: those of the image, or the locked set, installed into a scratch folder for this run.

Both programs contain an identical copy of this file, because each is unpacked alone. It needs only
Python and pip.
"""

import atexit
import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

LOCK = "requirements.lock"
WHEELS = "wheels"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install")
# Only locked packages with matching hashes, and no package that would run its own code to be built.
EXACTLY = ("--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:")
# Compiling thousands of modules that are never imported takes longer than copying them.
PLACED = ("--no-compile", "--root-user-action", "ignore")
PIPS_LAST_LINES = 6


class PackagesMissing(Exception):
    """The program cannot run in this image; the message tells the organiser why and what to do."""


def provide(program: Path, modules: Sequence[str]) -> Path | None:
    """Make modules importable.

    Parameters
    ----------
    program
        The folder with `requirements.lock` and, if the bundle includes its packages, `wheels/`.
    modules
        Names to import. If the image has them all, in any version, nothing is installed.

    Returns
    -------
    Path or None
        The folder of the packages, now first on `sys.path`; None if the image has them.

    Raises
    ------
    PackagesMissing
        When they cannot be installed.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    wheels = program / WHEELS
    source = [f"--find-links={wheels}", "--no-index"] if wheels.is_dir() else []
    where = "the wheels in the bundle" if source else "the package index"
    _say(f"this image has no {', '.join(missing)}; installing the locked packages from {where}")
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="packages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [*PIP, *EXACTLY, *PLACED, *source, f"--target={folder}", f"--requirement={program / LOCK}"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - no shell
    if done.returncode == 0:
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        # Only to the log: the advice may appear in a public report, and pip's output names servers.
        for line in (done.stderr or done.stdout).strip().splitlines()[-PIPS_LAST_LINES:]:
            _say(f"pip: {line}")
        raise PackagesMissing(_advice(missing, where))
    _say(f"installed in {time.monotonic() - started:.0f} s")
    return folder


def _advice(missing: list[str], where: str) -> str:
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return (
        "For the organisers: the programs need packages that are not installed. "
        f"The image has {version} without {', '.join(missing)}, and {where} did not provide them. "
        "Do one of three things: name an image that contains them (`bundle build --image NAME`); "
        "or build the bundle with its packages, for Python 3.11 on x86-64 Linux (`bundle build --wheels`); "
        "or let the containers reach the package index."
    )


def _say(text: str) -> None:
    print(f"[packages] {text}", flush=True)  # noqa: T201 - the log of the platform is what is printed
