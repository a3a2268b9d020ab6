"""The locked packages of both programs as wheels, for a platform whose containers have no network."""

import contextlib
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from bundle_tools.console import say
from bundle_tools.errors import BundleError

PROGRAMS = ("ingestion_program", "scoring_program")
LOCK = "requirements.lock"
# The platform's workers: x86-64 Linux, with the Python of the image that competition.yaml names.
PYTHON = "3.11"
ABIS = ("cp311", "abi3", "none")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
PIPS_LAST_LINES = 3


def wheel_entries(root: Path) -> list[tuple[str, Path]]:
    """Return the wheels of both programs; fetched once for each lock and kept in build/.

    Raises BundleError when they cannot be fetched.
    """
    found = []
    for program in PROGRAMS:
        folder = _fetch(root, program)
        found += [(f"{program}/wheels/{path.name}", path) for path in sorted(folder.glob("*.whl"))]
    return found


def _fetch(root: Path, program: str) -> Path:
    lock = root / program / LOCK
    if not lock.is_file():
        raise BundleError(f"--wheels: expected {program}/{LOCK}, found none. Lock its packages: `make lock`.")
    folder = root / "build" / "wheels" / f"{program}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    say(f"Fetching the packages of {program} (kept in {folder.relative_to(root)}).")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=folder.parent) as own:
        unfinished = Path(own) / folder.name
        _download(lock, unfinished)
        # Another build may have been faster.
        with contextlib.suppress(OSError):
            unfinished.rename(folder)
    return folder


def _download(lock: Path, folder: Path) -> None:
    folder.mkdir()
    target = [f"--python-version={PYTHON}", "--implementation=cp"]
    target += [*(f"--abi={abi}" for abi in ABIS), *(f"--platform={platform}" for platform in PLATFORMS)]
    exactly = ["--no-deps", "--require-hashes", "--only-binary=:all:", f"--requirement={lock}", f"--dest={folder}"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    done = subprocess.run([*pip, *target, *exactly], capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if done.returncode != 0:
        last = " ".join(done.stderr.strip().splitlines()[-PIPS_LAST_LINES:])
        raise BundleError(
            f"--wheels: the packages of {lock} cannot be fetched: {last} Check the network and try again."
        )
