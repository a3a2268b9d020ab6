"""What of ``res/`` is believed: the regular files that ``manifest.json`` lists, with their sizes and hashes.

A submission's own files may lie beside them (the platform copies a submission into the output folder before ingestion
runs), so everything else is named and otherwise ignored, whatever it is called (score.read.output.planted).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score.errors import NotGradableError, OrganiserError, Problem
from score.read.output.planted import NONE_PLANTED, Planted, find_planted
from score.read.output.seal import is_sealed
from score.read.strict_json import StrictJsonError, parse_object

MEBIBYTE = 2**20
MANIFEST = "manifest.json"
FORMAT_VERSION = 1
WORKER_METADATA = "metadata"  # the worker writes it after ingestion has ended, so no manifest can list it
_SAFE_PATH = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,63}/)?[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.[a-z0-9]{1,8}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LARGEST = {
    "predictions.csv": 256 * MEBIBYTE,
    "explanations.jsonl": 2048 * MEBIBYTE,
    "clips.jsonl": 1024 * MEBIBYTE,
    "probes.jsonl": 1024 * MEBIBYTE,
}
_LARGEST_IMAGE = MEBIBYTE
_LARGEST_OTHER = 64 * MEBIBYTE
_MOST_FILES = 200_000

NOTHING_LEFT = "The prediction step left no results."


@dataclass(frozen=True)
class ResultsFolder:
    """A folder whose listed files have been checked."""

    root: Path
    """The folder ``input/res``."""
    sizes: dict[str, int]
    """Bytes of each listed file, by its path relative to the root."""
    hashes: dict[str, str]
    """SHA-256 of each listed file."""
    sealed: bool
    """Whether the manifest carries a seal that was checked. Without a key there is nothing to check it with."""
    planted: Planted = NONE_PLANTED
    """All other files; they are ignored."""

    def read(self, name: str) -> bytes:
        """Read one listed file, and check once more that it is the one that was listed.

        Raises
        ------
        NotGradableError
            If the file is not listed or has changed.
        """
        if name not in self.sizes:
            raise NotGradableError(
                "The results are incomplete.", [_damage(name, "not in the manifest", "a listed file")]
            )
        data = (self.root / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.hashes[name]:
            raise NotGradableError("The results are damaged.", [_damage(name, "another content", "the listed SHA-256")])
        return data


def open_results(root: Path, key: bytes | None) -> ResultsFolder:
    """Read the manifest of a results folder, check its seal and every file that it lists.

    Parameters
    ----------
    root
        The folder ``input/res``.
    key
        The bundle's key; with it, only results that carry its seal are believed.

    Raises
    ------
    NotGradableError
        If nothing is there, or with every listed file that is missing, a link, oversized or changed.
    OrganiserError
        If the manifest is of another version than this program reads.
    """
    _refuse_nothing(root)
    problems: list[Problem] = []
    entries = _manifest(root, key, problems)
    sizes: dict[str, int] = {}
    hashes: dict[str, str] = {}
    for name, entry in entries.items():
        found = _mismatch(root, name, entry)
        if found:
            problems.append(_damage(name[:140], found, "a regular file with the listed size and SHA-256"))
        else:
            sizes[name], hashes[name] = entry["bytes"], entry["sha256"]
    if problems:
        raise NotGradableError("The results are damaged.", problems)
    return ResultsFolder(root, sizes, hashes, key is not None, find_planted(root, {MANIFEST, WORKER_METADATA, *sizes}))


def _damage(where: str, found: str, expected: str) -> Problem:
    fix = "submit again; if it happens again, tell the organisers"
    return Problem("results_damaged", "run", where, found, expected, fix)


def _refuse_nothing(root: Path) -> None:
    present = {entry.name for entry in os.scandir(root)} if root.is_dir() else set()
    if MANIFEST in present:
        return
    found = "no file" if present <= {WORKER_METADATA} else "files, but no manifest.json"
    raise NotGradableError(
        NOTHING_LEFT,
        [
            Problem(
                code="results_missing",
                stage="run",
                where="the results folder",
                found=found,
                expected="manifest.json, which ingestion writes last",
                fix="submit again, or ask for a re-run; if it happens again, tell the organisers",
            ),
            *find_planted(root, {WORKER_METADATA}).problems(),
        ],
    )


def _manifest(root: Path, key: bytes | None, problems: list[Problem]) -> dict[str, dict[str, Any]]:
    path = root / MANIFEST
    if not is_regular(root, MANIFEST):
        problems.append(_damage(MANIFEST, "a link or a special file", "a regular file"))
        return {}
    try:
        with path.open("rb") as stream:
            manifest = parse_object(stream.read(_LARGEST_OTHER + 1), _LARGEST_OTHER)
    except StrictJsonError as error:
        problems.append(_damage(MANIFEST, str(error), "JSON as in docs/output_format.md"))
        return {}
    if key is not None and not is_sealed(manifest, key):
        problems.append(_unsealed())
        return {}
    version, files = manifest.get("format_version"), manifest.get("files")
    if type(version) is not int or not isinstance(files, dict) or len(files) > _MOST_FILES:
        problems.append(_damage(MANIFEST, "another format", "a format_version and a mapping of files"))
        return {}
    check_format(MANIFEST, version)
    good = {name: entry for name, entry in files.items() if _SAFE_PATH.fullmatch(name) and _is_entry(entry)}
    for name in sorted(files.keys() - good.keys()):
        problems.append(_damage(f"{MANIFEST}, {name[:140]}", "an unsafe path or a broken entry", "bytes and sha256"))
    return good


def check_format(where: str, version: int) -> None:
    """Refuse another version of docs/output_format.md than the one that this program reads.

    Raises
    ------
    OrganiserError
        Two programs of one bundle that do not understand each other are no participant's fault.
    """
    if version == FORMAT_VERSION:
        return
    found = str(version) if abs(version) < 10**6 else "a number that is far too large"
    fix = "upload the ingestion and the scoring program of one release"
    problem = Problem("format_differs", "run", f"{where}, format_version", found, str(FORMAT_VERSION), fix)
    raise OrganiserError("The two programs of this bundle do not belong together.", [problem])


def _unsealed() -> Problem:
    expected = "the seal of this bundle's ingestion program"
    fix = "submit again; organisers: both programs must come from one build of the bundle"
    return Problem("results_unsealed", "run", MANIFEST, "no seal or another one", expected, fix)


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    size, digest = entry.get("bytes"), entry.get("sha256")
    return type(size) is int and size >= 0 and isinstance(digest, str) and bool(_SHA256.fullmatch(digest))


def is_regular(root: Path, name: str) -> bool:
    """Whether a file below the root is a regular file reached without following any link."""
    path = root
    parts = name.split("/")
    for depth, part in enumerate(parts, 1):
        path = path / part
        try:
            mode = path.lstat().st_mode
        except OSError:
            return False
        if not (stat.S_ISREG(mode) if depth == len(parts) else stat.S_ISDIR(mode)):
            return False
    return True


def why_unread(root: Path, name: str) -> str:
    """Say why a file of the results is not read, whoever names it; an empty text when it may be."""
    if not _SAFE_PATH.fullmatch(name):
        return "an unsafe path"
    if not is_regular(root, name):
        return "no regular file"
    limit = _LARGEST_IMAGE if name.startswith("images/") else _LARGEST.get(name, _LARGEST_OTHER)
    size = (root / name).stat().st_size
    return f"{size} bytes, more than {limit}" if size > limit else ""


def _mismatch(root: Path, name: str, entry: dict[str, Any]) -> str:
    """Say what is wrong with a listed file; an empty text when nothing is."""
    if found := why_unread(root, name):
        return found
    path = root / name
    size = path.stat().st_size
    if size != entry["bytes"]:
        return f"{size} bytes instead of {entry['bytes']}"
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return "" if digest == entry["sha256"] else "another content than listed"
