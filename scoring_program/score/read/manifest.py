"""The seal of a manifest: proof that this bundle's ingestion program wrote it; see docs/output_format.md."""

import hashlib
import hmac
import json
import os
import re
import stat
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from score.errors import NotGradableError, OrganiserError, Problem, wrong
from score.read.tables import StrictJsonError, is_sha256, parse_object, whole_number
from score.visible import one_line

KEY_FILE = "seal.key"
_KEY = re.compile(r"[0-9a-f]{64}")


def read_key(program: Path) -> bytes | None:
    """Read the key from the program's folder: 32 bytes, or None if the bundle has none.

    Raises OrganiserError if the file holds no valid key.
    """
    path = program / KEY_FILE
    if not path.exists():
        return None
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not _KEY.fullmatch(text):
        problem = wrong("seal_key_broken", KEY_FILE, "different content", "64 hexadecimal digits")
        raise OrganiserError("The bundle's key is damaged.", [problem])
    return bytes.fromhex(text)


def is_sealed(manifest: dict[str, Any], key: bytes) -> bool:
    """Whether the manifest's seal is the HMAC-SHA256 of its other content under this key."""
    rest = {name: value for name, value in manifest.items() if name != "seal"}
    message = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    expected = hmac.new(key, message.encode("ascii"), hashlib.sha256).hexdigest()
    seal = manifest.get("seal")
    return isinstance(seal, str) and hmac.compare_digest(seal.encode("utf-8", "replace"), expected.encode())


_MOST_COUNTED = 10_000
_MOST_ENTRIES = 50_000
_MOST_NAMED = 10
_LONGEST_NAME = 60
_LONGEST_RECORDED = 64
_LIKE_RESULTS = ("scores.json", "scores.txt", "predictions.csv", "manifest.json", "run.json", "labels.csv")
_LIKE_RESULTS_ENDINGS = (".html", ".pkl", ".csv", ".jsonl")


@dataclass(frozen=True)
class UnexpectedFiles:
    """Other files beside the results."""

    count: int = 0
    """Number of files, links and special files, counted up to 10,000."""
    names: tuple[str, ...] = ()
    """At most ten of their paths, escaped and cut, those that look like results first."""

    def problems(self) -> tuple[Problem, ...]:
        """Return a warning that they were ignored; nothing if there are none."""
        if not self.count:
            return ()
        more = f" and {self.count - len(self.names)} more" if self.count > len(self.names) else ""
        found = f"{self.count} files not written by ingestion: {', '.join(self.names)}{more}"
        return (wrong("files_ignored", "the results folder", found, "only files written by ingestion"),)


def find_unexpected(root: Path, own: Collection[str], recorded: Collection[str] = ()) -> UnexpectedFiles:
    """Look for files below ``root`` that are not in ``own`` (paths relative to it), following no link.

    `recorded`: as for `foreign_files`; the submission's own files are no surprise where the server puts them there.
    """
    others = (name for name in _files(root) if name not in own and _recorded(root, name, recorded) is not True)
    names = list(islice(others, _MOST_COUNTED))

    def innocent(name: str) -> bool:
        last = name.rpartition("/")[2].lower()
        return last not in _LIKE_RESULTS and not last.endswith(_LIKE_RESULTS_ENDINGS)

    names.sort(key=lambda name: (innocent(name), name))
    return UnexpectedFiles(len(names), tuple(one_line(name, _LONGEST_NAME) for name in names[:_MOST_NAMED]))


def foreign_files(root: Path, own: Collection[str], recorded: Collection[str]) -> tuple[str, ...]:
    """Look for files that do not belong to the recorded submission.

    Newer releases of Codabench put the submission's files beside the results. A file whose name was recorded, but whose
    content differs from every recorded file of that name, belongs to another submission.

    `recorded`: one entry for each file of the submission: 16 digits of the SHA-256, a space, and the name without
    folders.
    """
    paths = (path for path in islice(_files(root), _MOST_COUNTED) if path not in own)
    foreign = sorted(path for path in paths if _recorded(root, path, recorded) is False)
    return tuple(one_line(name, _LONGEST_NAME) for name in foreign[:_MOST_NAMED])


def _recorded(root: Path, path: str, recorded: Collection[str]) -> bool | None:
    """Return whether a file's content is that of a recorded file of its name; None if no such name was recorded."""
    name = path.rpartition("/")[2][:_LONGEST_RECORDED].encode("utf-8", "backslashreplace").decode()
    if not any(entry.partition(" ")[2] == name for entry in recorded):
        return None
    if not stat.S_ISREG((root / path).lstat().st_mode):
        return False
    with (root / path).open("rb") as stream:
        return f"{hashlib.file_digest(stream, 'sha256').hexdigest()[:16]} {name}" in recorded


def _files(root: Path) -> Iterator[str]:
    """Yield everything but directories. It does not use `os.walk`, which recurses: a deep tree would end the run."""
    waiting = [""]
    seen = 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = sorted(islice(listing, _MOST_ENTRIES), key=lambda entry: entry.name)
        except OSError:  # the path is too deep, or has vanished
            continue
        for entry in entries:
            seen += 1
            if seen > _MOST_ENTRIES:
                return
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(name)
            else:
                yield name


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
    unexpected: UnexpectedFiles = UnexpectedFiles()
    """All other files but those of the submission; they are ignored."""

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
        if mismatch := _mismatch(root, name, entry):
            expected = "a regular file with the listed size and SHA-256"
            problems.append(wrong("results_damaged", name[:140], mismatch, expected))
        else:
            hashes[name] = entry["sha256"]
    if problems:
        raise NotGradableError("The results are damaged.", problems)
    return ResultsFolder(root, hashes, key is not None)


def _refuse_nothing(root: Path) -> None:
    present = {entry.name for entry in os.scandir(root)} if root.is_dir() else set()
    if MANIFEST in present:
        return
    found = "no file" if present <= {WORKER_METADATA} else "files but no manifest.json"
    expected = "manifest.json, which ingestion writes last"
    problem = wrong("results_missing", "the results folder", found, expected)
    raise NotGradableError(NOTHING_LEFT, [problem, *find_unexpected(root, {WORKER_METADATA}).problems()])


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
    good = {
        name: entry
        for name, entry in files.items()
        if _SAFE_PATH.fullmatch(name) and isinstance(entry, dict) and is_sha256(entry.get("sha256"))
        if whole_number(entry.get("bytes"), 0, sys.maxsize) is not None
    }
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
    if reason := _why_unread(root, name):
        return reason
    path = root / name
    size = path.stat().st_size
    if size != entry["bytes"]:
        return f"{size} bytes instead of {entry['bytes']}"
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return "" if digest == entry["sha256"] else "content that differs from the list"
