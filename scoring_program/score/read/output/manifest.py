"""The trusted part of ``res/``: regular files listed in ``manifest.json`` with their sizes and hashes.

A submission's own files may lie beside them (the platform copies a submission into the output folder before ingestion
runs), so everything else is reported and otherwise ignored, whatever its name (score.read.output.planted).
"""

import hashlib
import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score.errors import NotGradableError, OrganiserError, Problem, wrong
from score.read.output.planted import NONE_PLANTED, Planted, find_planted
from score.read.output.seal import is_sealed
from score.read.strict_json import StrictJsonError, is_sha256, parse_object, whole_number

MEBIBYTE = 2**20
MANIFEST = "manifest.json"
FORMAT_VERSION = 2
WORKER_METADATA = "metadata"  # the worker writes it after ingestion has ended, so no manifest can list it
_SAFE_PATH = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,63}/)?[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.[a-z0-9]{1,8}")
_LARGEST = {
    "predictions.csv": 256 * MEBIBYTE,
    "explanations.jsonl": 2048 * MEBIBYTE,
    "clips.jsonl": 1024 * MEBIBYTE,
    "probes.jsonl": 1024 * MEBIBYTE,
    "repeats.jsonl": 1024 * MEBIBYTE,
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
    hashes: dict[str, str]
    """SHA-256 of each listed file, by its path relative to the root."""
    sealed: bool
    """Whether the manifest has a valid seal; False without a key, because it cannot be checked."""
    planted: Planted = NONE_PLANTED
    """All other files; they are ignored."""

    def read(self, name: str) -> bytes:
        """Read one listed file, and check again that it is unchanged.

        Raises NotGradableError if the file is not listed or has changed.
        """
        if name not in self.hashes:
            problem = wrong("results_damaged", name, "a file that the manifest lacks", "a listed file")
            raise NotGradableError("The results are incomplete.", [problem])
        data = (self.root / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.hashes[name]:
            problem = wrong("results_damaged", name, "different content", "the listed SHA-256")
            raise NotGradableError("The results are damaged.", [problem])
        return data


def open_results(root: Path, key: bytes | None) -> ResultsFolder:
    """Read the manifest of a results folder, check its seal and every file that it lists.

    `key`: the bundle's key; with it, only sealed results are accepted. Raises NotGradableError if there are no results,
    or with every listed file that is missing, a link, oversized or changed. Raises OrganiserError if the manifest's
    version is not the one that this program reads.
    """
    _refuse_nothing(root)
    problems: list[Problem] = []
    entries = _manifest(root, key, problems)
    hashes: dict[str, str] = {}
    for name, entry in entries.items():
        if found := _mismatch(root, name, entry):
            expected = "a regular file with the listed size and SHA-256"
            problems.append(wrong("results_damaged", name[:140], found, expected))
        else:
            hashes[name] = entry["sha256"]
    if problems:
        raise NotGradableError("The results are damaged.", problems)
    return ResultsFolder(root, hashes, key is not None, find_planted(root, {MANIFEST, WORKER_METADATA, *hashes}))


def _refuse_nothing(root: Path) -> None:
    present = {entry.name for entry in os.scandir(root)} if root.is_dir() else set()
    if MANIFEST in present:
        return
    found = "no file" if present <= {WORKER_METADATA} else "files but no manifest.json"
    expected = "manifest.json, which ingestion writes last"
    problem = wrong("results_missing", "the results folder", found, expected)
    raise NotGradableError(NOTHING_LEFT, [problem, *find_planted(root, {WORKER_METADATA}).problems()])


def _manifest(root: Path, key: bytes | None, problems: list[Problem]) -> dict[str, dict[str, Any]]:
    def damaged(found: str, expected: str) -> dict[str, dict[str, Any]]:
        problems.append(wrong("results_damaged", MANIFEST, found, expected))
        return {}

    if not is_regular(root, MANIFEST):
        return damaged("a link or a special file", "a regular file")
    try:
        with (root / MANIFEST).open("rb") as stream:
            manifest = parse_object(stream.read(_LARGEST_OTHER + 1), _LARGEST_OTHER)
    except StrictJsonError as error:
        return damaged(str(error), "JSON as in docs/output_format.md")
    if key is not None and not is_sealed(manifest, key):
        expected = "the seal of this bundle's ingestion program"
        problems.append(wrong("results_unsealed", MANIFEST, "no seal, or a wrong one", expected))
        return {}
    version, files = manifest.get("format_version"), manifest.get("files")
    if type(version) is not int or not isinstance(files, dict) or len(files) > _MOST_FILES:
        return damaged("a different format", "a format_version and a mapping of files")
    check_format(MANIFEST, version)
    good = {name: entry for name, entry in files.items() if _SAFE_PATH.fullmatch(name) and _is_entry(entry)}
    for name in sorted(files.keys() - good.keys()):
        where = f"{MANIFEST}, {name[:140]}"
        problems.append(wrong("results_damaged", where, "an unsafe path or a broken entry", "bytes and sha256"))
    return good


def check_format(where: str, version: int) -> None:
    """Refuse any version of docs/output_format.md other than this program's.

    Raises OrganiserError, since a mismatch between two programs of one bundle is not the participant's fault.
    """
    if version == FORMAT_VERSION:
        return
    found = str(version) if abs(version) < 10**6 else "a number that is too large"
    problem = wrong("format_differs", f"{where}, format_version", found, str(FORMAT_VERSION))
    raise OrganiserError("The two programs of this bundle do not belong together.", [problem])


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return whole_number(entry.get("bytes"), 0, sys.maxsize) is not None and is_sha256(entry.get("sha256"))


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


def _why_unread(root: Path, name: str) -> str:
    """Say why a file of the results is not read; an empty text if it may be."""
    if not _SAFE_PATH.fullmatch(name):
        return "an unsafe path"
    if not is_regular(root, name):
        return "no regular file"
    limit = _LARGEST_IMAGE if name.startswith("images/") else _LARGEST.get(name, _LARGEST_OTHER)
    size = (root / name).stat().st_size
    return f"{size} bytes, more than {limit}" if size > limit else ""


def _mismatch(root: Path, name: str, entry: dict[str, Any]) -> str:
    """Say what is wrong with a listed file; an empty text when nothing is."""
    if found := _why_unread(root, name):
        return found
    path = root / name
    size = path.stat().st_size
    if size != entry["bytes"]:
        return f"{size} bytes instead of {entry['bytes']}"
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return "" if digest == entry["sha256"] else "content that differs from the list"
