"""Files beside the results that ingestion did not write: named and hashed, otherwise ignored.

The platform copies a submission into the output folder before ingestion runs, and a container of the
prediction step may put more there. Names are text from a participant, and the count is bounded.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from score.errors import Problem, wrong
from score.visible import one_line

_MOST_COUNTED = 10_000
_MOST_ENTRIES = 50_000
_MOST_NAMED = 10
_LONGEST_NAME = 60
_LONGEST_RECORDED = 64
_LIKE_RESULTS = ("scores.json", "scores.txt", "predictions.csv", "manifest.json", "run.json", "labels.csv")
_LIKE_RESULTS_ENDINGS = (".html", ".pkl", ".csv", ".jsonl")


@dataclass(frozen=True)
class Planted:
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


NONE_PLANTED = Planted()


def find_planted(root: Path, own: Collection[str]) -> Planted:
    """Look for files below ``root`` that are not in ``own`` (paths relative to it), following no link."""
    names = list(islice((name for name in _files(root) if name not in own), _MOST_COUNTED))
    names.sort(key=lambda name: (not _looks_like_results(name), name))
    return Planted(len(names), tuple(one_line(name, _LONGEST_NAME) for name in names[:_MOST_NAMED]))


def foreign_files(root: Path, own: Collection[str], recorded: Collection[str]) -> tuple[str, ...]:
    """Look for files that do not belong to the recorded submission.

    Newer releases of Codabench put the submission's files beside the results. A file whose name was recorded, but whose
    content differs from every recorded file of that name, belongs to another submission.

    `recorded`: one entry for each file of the submission: 16 digits of the SHA-256, a space, and the name without
    folders.
    """
    names = {one.partition(" ")[2] for one in recorded}
    foreign = []
    for path in islice(_files(root), _MOST_COUNTED):
        name = path.rpartition("/")[2][:_LONGEST_RECORDED].encode("utf-8", "backslashreplace").decode()
        if path not in own and name in names and f"{_digest(root / path)} {name}" not in recorded:
            foreign.append(path)
    return tuple(one_line(name, _LONGEST_NAME) for name in sorted(foreign)[:_MOST_NAMED])


def _digest(path: Path) -> str:
    if not stat.S_ISREG(path.lstat().st_mode):
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def _looks_like_results(name: str) -> bool:
    last = name.rsplit("/", 1)[-1].lower()
    return last in _LIKE_RESULTS or last.endswith(_LIKE_RESULTS_ENDINGS)


def _files(root: Path) -> Iterator[str]:
    """Yield everything but directories. It does not use `os.walk`, which recurses: a deep tree would end the run."""
    waiting = [""]
    seen = 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(islice(found, _MOST_ENTRIES), key=lambda entry: entry.name)
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
