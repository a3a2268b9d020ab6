"""The Python of an image, from its name, and whether a program's wheels fit it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

OFFICIAL_TAG = re.compile(r"(?P<major>3)\.(?P<minor>\d{1,2})(?![\d])")
LEGACY_TAG = re.compile(r"py(?P<major>3)(?P<minor>\d{1,2})")
COMPILED = re.compile(r"(?:cp|py)3(?P<minor>\d{1,2})")


@dataclass(frozen=True)
class Interpreter:
    """The Python of an image."""

    minor: int
    """The second number of its version: 11 for Python 3.11."""
    musl: bool
    """Whether the image is Alpine, which has another C library."""

    def __str__(self) -> str:
        """Return the usual name."""
        return f"Python 3.{self.minor}{' on Alpine' if self.musl else ''}"


def interpreter_of(tag: str) -> Interpreter | None:
    """Return the Python of an official image or of CodaLab's, from its tag; None if the tag does not say."""
    found = OFFICIAL_TAG.match(tag) or LEGACY_TAG.match(tag)
    return Interpreter(int(found["minor"]), "alpine" in tag) if found else None


def unfit(names: Iterable[str], python: Interpreter) -> list[str]:
    """Return the packages that have wheels among these files, but none for this Python on x86-64 Linux.

    The tags of a wheel's name are those of the standard for binary distributions: name-version-python-abi-platform.
    """
    fits: dict[str, bool] = {}
    for name in names:
        parts = PurePosixPath(name).name.removesuffix(".whl").split("-")
        if name.endswith(".whl") and len(parts) >= 5:
            pythons, abis, platforms = (set(part.split(".")) for part in parts[-3:])
            fits[parts[0]] = fits.get(parts[0], False) or _fits(pythons, abis, platforms, python)
    return sorted(package for package, good in fits.items() if not good)


def _fits(pythons: set[str], abis: set[str], platforms: set[str], python: Interpreter) -> bool:
    stable = "abi3" in abis or "none" in abis
    right = "py3" in pythons or any(
        (minor := int(found["minor"])) == python.minor or (stable and minor < python.minor)
        for found in map(COMPILED.fullmatch, pythons)
        if found
    )
    libc = "musllinux" if python.musl else "manylinux"
    return right and any(
        platform == "any" or (platform.startswith((libc, "linux")) and platform.endswith("x86_64"))
        for platform in platforms
    )
